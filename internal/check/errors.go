package check

import (
	"errors"
	"fmt"
)

var (
	// ErrConflict: removals and replacements must not overlap.
	ErrConflict = errors.New("an entry is both removed and replaced, or named twice")
	// ErrOutOfBounds: indexes count from 0 in the history that the strategy was given, and block
	// positions in the entry.
	ErrOutOfBounds = errors.New("an index is out of bounds")
	// An answer shortens a conversation and never reorders it.
	ErrOutOfOrder = errors.New("kept parts are out of order or kept twice")
	// A provider refuses a response whose call is not in the message before it.
	ErrOrphaned = errors.New("a tool response lost its call")
	// A provider refuses a call without a response, unless it is in the last message.
	ErrUnanswered = errors.New("a tool call lost its response")
	// Histories with repeated ids exist. If one of two calls with one id is removed, the response of the other may seem
	// to answer it, and no provider would notice.
	ErrMismatched = errors.New("ids repeat, and a response now seems to answer another call")
	// The tool is still running, and its response will need the call.
	ErrPendingRemoved = errors.New("a tool call that still waits for its response was removed")
	// For an Optimize, and for edits that leave nothing of a person's entry.
	ErrHumanLost = errors.New("what a person said vanished")
	// For an Optimize: see human.go for what an edit may do.
	ErrHumanChanged = errors.New("an edit changes what a person said beyond taking lines out of it")
	// See model.go.
	ErrCallChanged    = errors.New("a tool call was changed or made up: its name and parameters are the model's")
	ErrResultChanged  = errors.New("a tool's result was changed or made up: an edit may take lines out of it")
	ErrOutcomeChanged = errors.New("a failed tool call was made to look successful, or the reverse")
	ErrWordsAdded     = errors.New("an edit adds words to those of the AI: it may take lines out, and put marks in " +
		"square brackets in their place")
	// Providers check these proofs, and refuse a request in which one does not fit.
	ErrSigned = errors.New("signed thinking was changed, or went without its entry")
	ErrPinned = errors.New("a pinned entry was removed or changed")
	// What it means to the agent or the provider is not known here, so only the agent may drop it.
	ErrOpaqueChanged = errors.New("a block of unknown kind was changed")
	// Error.Detail says what [Content] found.
	ErrInvalidEntry = errors.New("an entry is not valid")
	ErrEmptied      = errors.New("the whole history vanished")
)

type Error struct {
	// Index is a position in the history that the strategy was given or, if New, in its answer; -1 for the whole
	// answer. It counts from 0, as authors do.
	Index int
	New   bool
	// Detail is for people: the ids, counts or positions that Err leaves open; "" if there are none.
	Detail string
	// Err is one of the errors above.
	Err error
}

func (e *Error) Error() string {
	where := ""
	switch {
	case e.Index >= 0 && e.New:
		where = fmt.Sprintf("entry %d of the answer: ", e.Index)
	case e.Index >= 0:
		where = fmt.Sprintf("entry %d: ", e.Index)
	}
	text := where + e.Err.Error()
	if e.Detail != "" {
		text += " (" + e.Detail + ")"
	}
	if errors.Is(e.Err, ErrOrphaned) || errors.Is(e.Err, ErrUnanswered) || errors.Is(e.Err, ErrMismatched) {
		text += "; a call and its responses stay or go together: in Go, package turns helps"
	}
	return text
}

func (e *Error) Unwrap() error { return e.Err }

func wrong(index int, err error, format string, args ...any) *Error {
	return &Error{Index: index, Err: err, Detail: fmt.Sprintf(format, args...)}
}
