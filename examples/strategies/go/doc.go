// Command squash-logs is a strategy for thresh, for agents that run many commands. Before each request it shortens old
// command output: of lines that look equal on a terminal, whatever their escapes and overwritten progress, it keeps the
// last, with the number of repetitions. The newest outputs stay as they came, because the agent is working on
// them. When the history is over the threshold, all outputs are squashed. If that is not enough, the oldest entries are
// removed; what the user said stays.
//
// It is an example of a strategy by a third party: a module of its own that imports nothing of thresh but its SDK.
//
// Start with [Strategy] in strategy.go, which has the two steps that the host calls. compress.go chooses which entries
// a Compress removes. squash.go shortens one text and knows nothing of histories. main.go runs the strategy as a
// plugin.
package main
