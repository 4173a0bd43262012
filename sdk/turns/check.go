package turns

import (
	"fmt"

	"github.com/thresh-dev/thresh/sdk/content"
)

// ProblemKind says what is wrong with the pairing of a history.
type ProblemKind string

const (
	// Orphaned is a response whose call is nowhere before it.
	Orphaned ProblemKind = "orphaned"
	// Duplicate is a response to a call that another response has answered.
	Duplicate ProblemKind = "duplicate"
	// Unanswered is a call without a response although the conversation continued. Calls at the very end are pending,
	// which is no problem.
	Unanswered ProblemKind = "unanswered"
)

// Problem is one thing that a model may refuse.
type Problem struct {
	Kind ProblemKind
	// At is the place of the response or call.
	At At
	// ID is the call's.
	ID string
}

func (p Problem) String() string {
	at := fmt.Sprintf("entry %d, block %d: ", p.At.Entry, p.At.Block)
	switch p.Kind {
	case Duplicate:
		return at + fmt.Sprintf("the call %q has been answered already", p.ID)
	case Unanswered:
		return at + fmt.Sprintf("the call %q has no response", p.ID)
	default:
		return at + fmt.Sprintf("the response to %q has no call before it", p.ID)
	}
}

// Check returns what is wrong with the pairing of a history, in its order. To see whether a rewrite made it worse,
// compare the results for both: a call that was pending before may be so after.
func Check(history []content.Content) []Problem {
	pairs := Pair(history)
	end := lastSpoken(history)
	var out []Problem
	called := make(map[string]struct{})
	orphans, pending := pairs.orphans, pairs.pending
	for i := range history {
		for j, b := range history[i].Blocks {
			at := At{i, j}
			if call, ok := b.(content.ToolCall); ok && history[i].Speaker == content.AI {
				called[call.ID] = struct{}{}
				if len(pending) > 0 && pending[0] == at {
					pending = pending[1:]
					if i < end {
						out = append(out, Problem{Unanswered, at, call.ID})
					}
				}
			}
			if len(orphans) == 0 || orphans[0] != at {
				continue
			}
			orphans = orphans[1:]
			id := b.(content.ToolResponse).CallID // only responses are orphans
			kind := Orphaned
			if _, ok := called[id]; ok {
				kind = Duplicate
			}
			out = append(out, Problem{kind, at, id})
		}
	}
	return out
}

// lastSpoken returns the position of the last entry that is not a tool's: calls made there or later are pending.
func lastSpoken(history []content.Content) int {
	for i := len(history) - 1; i >= 0; i-- {
		if history[i].Speaker != content.Tool {
			return i
		}
	}
	return -1
}
