// Package oneshot is the strategy one-shot: an LLM summarises all but the end of a history.
//
// All of it is [Strategy.Compress], which chooses the range; package sdk/summary does the rest, from the prompt to the
// check of the summary.
package oneshot
