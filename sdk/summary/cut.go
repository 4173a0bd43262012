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

// IsSummary reports whether an entry is a summary of earlier conversation: its metadata says so, or it is a message
// that begins with a closed state snapshot, as other programs write it. A user message that quotes a snapshot further
// down is not a summary, and a tool's output never is, so neither can smuggle one in.
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
