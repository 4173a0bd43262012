package check

import (
	"fmt"
	"strings"

	"github.com/thresh-dev/thresh/internal/failure"
	"github.com/thresh-dev/thresh/internal/text"
	"github.com/thresh-dev/thresh/sdk/content"
)

// Rule is a rule that an answer broke. It is an error, so that callers ask errors.Is(err, [ErrPinned]).
type Rule struct {
	// Code names the rule in reports and on pages. It does not change.
	Code string
	// Broken says what is wrong, Do what the strategy's author should do.
	Broken, Do string
}

func (r *Rule) Error() string { return r.Broken }

const together = "a call and its responses stay or go together (in Go: package turns)"

// The rules for answers. Indexes count from 0 in the history that the strategy was given, and block positions in the
// entry.
var (
	ErrConflict    = &Rule{"conflict", "an entry is both removed and replaced, or named twice", "name it once"}
	ErrOutOfBounds = &Rule{"out-of-bounds", "an index is out of bounds",
		"count from 0 in the history that came with this call"}
	// An answer shortens a conversation and never reorders it.
	ErrOutOfOrder = &Rule{"out-of-order", "kept parts are out of order", "keep entries and blocks in their order"}
	ErrTwice      = &Rule{"twice", "an entry or a block stands twice", "keep it once"}
	// A provider refuses a response whose call is not in the message before it.
	ErrOrphaned = &Rule{"orphaned", "a tool response lost its call", together}
	// A provider refuses a call without a response, unless it is in the last message.
	ErrUnanswered = &Rule{"unanswered", "a tool call lost its response", together}
	// Histories with repeated ids exist. If one of two calls with one id is removed, the response of the other may seem
	// to answer it, and no provider would notice.
	ErrMismatched = &Rule{"mismatched", "ids repeat, and a response now seems to answer another call", together}
	// The tool is still running, and its response will need the call.
	ErrPendingRemoved = &Rule{"pending-removed", "a tool call that still waits for its response was removed",
		"keep calls without a response at the end of the history"}
	// For an Optimize, and for edits that leave nothing of a person's entry.
	ErrHumanLost = &Rule{"human-lost", "what a person said vanished",
		"an Optimize keeps every entry of a person; a Compress drops it whole and counts it"}
	// See human.go for what an edit may do.
	ErrHumanChanged = &Rule{"human-changed", "an edit changes what a person said beyond taking lines out of it",
		"take out whole lines, each run of them for a line like \"[3 lines removed]\", or leave the entry alone"}
	// A model takes it for an order of the person's.
	ErrHumanMade = &Rule{"human-made", "a strategy speaks as a person",
		"let the entry be the ai's, or a summary that begins with <state_snapshot> … </state_snapshot>"}
	// See model.go.
	ErrCallChanged = &Rule{"call-changed",
		"a tool call was changed or made up: its name and parameters are the model's", "keep it as it is, or drop it"}
	ErrResultChanged = &Rule{"result-changed", "a tool's result was changed or made up",
		"take lines out of it, with marks in square brackets in their place"}
	ErrOutcomeChanged = &Rule{"outcome-changed", "a failed tool call was made to look successful, or the reverse",
		"keep the error of a response"}
	ErrWordsAdded = &Rule{"words-added", "an edit adds words to those of the AI",
		"take lines out, with marks in square brackets in their place"}
	// Providers check these proofs, and refuse a request in which one does not fit.
	ErrSigned = &Rule{"signed", "signed thinking was changed, or went without its entry",
		"keep it byte for byte, or remove its entry"}
	ErrPinned = &Rule{"pinned", "a pinned entry was removed or changed",
		`keep entries whose metadata has "pinned": true (in Go: Pinned())`}
	// What it means to the agent or the provider is not known here, so only the agent may drop it.
	ErrOpaqueChanged = &Rule{"unknown-block", "a block of unknown kind was changed", "keep it with its entry"}
	// Error.Detail says what [Content] found.
	ErrInvalidEntry = &Rule{"invalid-entry", "an entry is not valid", "send what an agent could have added"}
	ErrEmptied      = &Rule{"emptied", "the whole history vanished", "answer a no-op with a reason"}
	ErrCounts       = &Rule{"counts", "the strategy's counts are out of bounds",
		"use few, short and printable labels"}
)

// Rules are the rules above, in their order.
func Rules() []*Rule {
	return []*Rule{ErrConflict, ErrOutOfBounds, ErrOutOfOrder, ErrTwice, ErrOrphaned, ErrUnanswered, ErrMismatched,
		ErrPendingRemoved, ErrHumanLost, ErrHumanChanged, ErrHumanMade, ErrCallChanged, ErrResultChanged,
		ErrOutcomeChanged, ErrWordsAdded, ErrSigned, ErrPinned, ErrOpaqueChanged, ErrInvalidEntry, ErrEmptied, ErrCounts}
}

// Error is one problem with an answer. Its text holds nothing of the conversation, as it is logged.
type Error struct {
	// Index is a position in the history that the strategy was given or, if New, in its answer; -1 for the whole
	// answer. It counts from 0, as authors do.
	Index int
	New   bool
	// Detail is for people: the ids, counts or positions that Err leaves open; "" if there are none.
	Detail string
	// Was and Came are the beginnings of what stood there and of what the answer has; "" if nothing did or does, or if
	// it does not matter.
	Was, Came string
	Err       *Rule
}

func (e *Error) Error() string {
	where := ""
	switch {
	case e.Index >= 0 && e.New:
		where = fmt.Sprintf("entry %d of the answer: ", e.Index)
	case e.Index >= 0:
		where = fmt.Sprintf("entry %d: ", e.Index)
	}
	text := where + e.Err.Broken
	if e.Detail != "" {
		text += " (" + e.Detail + ")"
	}
	return text + "; " + e.Err.Do + " [" + e.Err.Code + "]"
}

func (e *Error) Unwrap() error { return e.Err }

func (e *Error) Describe() failure.Description {
	return failure.Description{Kind: failure.Answer, Reason: "bad-answer"}
}

func wrong(index int, err *Rule, format string, args ...any) *Error {
	return &Error{Index: index, Err: err, Detail: fmt.Sprintf(format, args...)}
}

// quoted returns e with the beginnings of what was and what came, from the first line that differs.
func (e *Error) quoted(was, came string) *Error {
	at := 0 // behind the last line break that both have in common
	for i := 0; i < len(was) && i < len(came) && was[i] == came[i]; i++ {
		if was[i] == '\n' {
			at = i + 1
		}
	}
	e.Was, e.Came = text.OneLine(was[at:], maxQuoted), text.OneLine(came[at:], maxQuoted)
	return e
}

const maxQuoted = 100 // characters

// describe is what a reader knows blocks by: what a model reads of them, else their JSON.
func describe(blocks ...content.Block) string {
	var out []string
	for _, b := range blocks {
		before := len(out)
		p := content.Apart(b)
		for i, f := range p.Fields {
			text := p.Text(i)
			if f.Failure() && text != "" {
				text = "error: " + text
			}
			if f.Read() && text != "" {
				out = append(out, text)
			}
		}
		if len(out) == before {
			out = append(out, string(content.AppendBlock(nil, b)))
		}
	}
	return strings.Join(out, "\n")
}
