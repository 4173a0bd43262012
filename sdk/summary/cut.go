package summary

import (
	"github.com/thresh-dev/thresh/sdk"
	"github.com/thresh-dev/thresh/sdk/turns"
)

// Fewest is the number of entries from which on a summary is worth a model call. A summary itself is two entries.
const Fewest = 4

// Cut moves the end of a range to a safe place, as [turns.CutForward] does, but never past a call that still waits for
// its response: the host refuses a history that has lost such a call, because its result would arrive without it. The
// result may therefore be smaller than at.
func Cut(history []sdk.Content, at int) int {
	at = turns.CutForward(history, at)
	last := len(history) - 1 // the last entry that is not a tool's: calls before it were abandoned
	for last >= 0 && history[last].Speaker == sdk.Tool {
		last--
	}
	for _, call := range turns.Pair(history).Pending() {
		if call.Entry >= last && call.Entry < at {
			return turns.CutBackward(history, call.Entry)
		}
	}
	return at
}

// IsSummary reports whether an entry is a summary of earlier conversation: its metadata says so, or names the strategy
// that made it. A message that reads
// like one, whose text may come from a file or a tool, is none.
func IsSummary(entry sdk.Content) bool {
	_, ok := priorText(entry)
	return ok
}

// LastMessage returns the position of the last entry of a person; -1 if there is none. Summaries have the human speaker
// too, but do not count.
func LastMessage(history []sdk.Content) int {
	for i := len(history) - 1; i >= 0; i-- {
		if history[i].Speaker == sdk.Human && !IsSummary(history[i]) {
			return i
		}
	}
	return -1
}
