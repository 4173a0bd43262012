// Package middleout is the strategy middle-out: an LLM summarises the middle of a history, while its beginning (the
// task) and its end (the current work) stay.
//
// All of it is [Strategy.Compress]: middle chooses the range, and package sdk/summary does the rest, from the prompt to
// the check of the summary.
package middleout
