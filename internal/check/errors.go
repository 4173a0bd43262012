package check

import (
	"errors"
	"fmt"
)

// What can be wrong with an answer. An [Error] wraps one of these.
var (
	// ErrConflict: removals and replacements must not overlap (REQ-HD-001.6).
	ErrConflict = errors.New("an entry is both removed and replaced, or named twice")
	// ErrOutOfBounds: indexes count from 0 in the history that the strategy was given (REQ-HD-001.7).
	ErrOutOfBounds    = errors.New("an index is out of bounds")
	ErrOutOfOrder     = errors.New("kept parts are out of order or kept twice")
	ErrOrphaned       = errors.New("a tool response lost its call")
	ErrUnanswered     = errors.New("a tool call lost its response")
	ErrMismatched     = errors.New("ids repeat, and a response now seems to answer another call")
	ErrPendingRemoved = errors.New("a tool call that still waits for its response was removed")
	ErrHumanLost      = errors.New("what a person said vanished")
	ErrHumanChanged   = errors.New("an edit changes what a person said beyond taking lines out of it")
	ErrPinned         = errors.New("a pinned entry was removed or changed")
	ErrOpaqueChanged  = errors.New("a block of unknown kind was changed")
	ErrInvalidEntry   = errors.New("an entry is not valid")
	ErrEmptied        = errors.New("the whole history vanished")
)

// Error is one thing wrong with an answer.
type Error struct {
	// Index is an entry of the history that the strategy was given or, if New, of the history that it made; -1 if it is
	// about the whole answer.
	Index  int
	New    bool
	Detail string
	Err    error
}

// Error is a sentence for the author of the strategy, with the entry in front.
func (e *Error) Error() string {
	where := ""
	switch {
	case e.Index >= 0 && e.New:
		where = fmt.Sprintf("entry %d of the answer: ", e.Index)
	case e.Index >= 0:
		where = fmt.Sprintf("entry %d: ", e.Index)
	}
	if e.Detail == "" {
		return where + e.Err.Error()
	}
	return where + e.Err.Error() + " (" + e.Detail + ")"
}

// Unwrap returns the kind of fault, one of this package's errors.
func (e *Error) Unwrap() error { return e.Err }

// wrong makes an Error about an entry of the history that the strategy was given.
func wrong(index int, err error, format string, args ...any) *Error {
	return &Error{Index: index, Err: err, Detail: fmt.Sprintf(format, args...)}
}
