package summary

import (
	"github.com/thresh-dev/thresh/sdk"
	"github.com/thresh-dev/thresh/sdk/turns"
)

// Fewest is the number of entries from which on a summary is worth a model call.
const Fewest = 4

// Cut moves the end of a range to a safe place, as [turns.CutForward] does, but never past a call that still waits for
// its response: the host refuses a history that lost it.
func Cut(history []sdk.Content, at int) int {
	at = turns.CutForward(history, at)
	last := len(history) - 1 // the last entry that is not a tool's: calls from there on are being run
	for last >= 0 && history[last].Speaker == sdk.Tool {
		last--
	}
	if last >= at {
		return at // what waits is behind the cut, or was abandoned long ago
	}
	for _, call := range turns.Pair(history).Pending() {
		if call.Entry >= last && call.Entry < at {
			return turns.CutBackward(history, call.Entry)
		}
	}
	return at
}

// IsSummary reports whether an entry stands for a part of the conversation: it says so in its metadata, or is a message
// that begins with a closed state snapshot, as other programs leave it. A person who quotes a snapshot is not mistaken
// for one, and a tool's output never is.
func IsSummary(entry sdk.Content) bool {
	_, ok := priorText(entry)
	return ok
}

// LastMessage returns the position of what a person said last; -1 if no person spoke. Summaries do not count.
func LastMessage(history []sdk.Content) int {
	for i := len(history) - 1; i >= 0; i-- {
		if history[i].Speaker == sdk.Human && !IsSummary(history[i]) {
			return i
		}
	}
	return -1
}
