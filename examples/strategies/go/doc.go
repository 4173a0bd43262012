// Command squash-logs is a strategy for thresh, for agents that run many commands: before each request it makes the old
// output of commands short. Terminal escapes, overwritten progress lines and trailing blanks go, and a line that is
// printed again and again stands once, with how often. The newest outputs stay as they came, since the agent is at work
// on them. When the history is over the threshold, all outputs are squashed, and if that is not enough the oldest entries
// go; what a person said stays.
//
// It is an example of a strategy by a third party: a module of its own that imports nothing of thresh but its sdk. Start
// with [Strategy]; squash.go is what it does to a text and knows nothing of histories.
package main
