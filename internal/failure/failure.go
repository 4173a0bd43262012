// Package failure describes errors where they are made: what they are about, and whether the same call may succeed
// later. It is for every room that makes errors which agents and metrics tell apart; package host, the doors and
// metrics read the description. Start at [New] and [Of].
package failure

import (
	"context"
	"errors"
)

// Kind is what an error is about, in the words of docs/api.md. Package host says what each means.
type Kind string

const (
	Request  Kind = "request"
	Entry    Kind = "entry"
	Setting  Kind = "setting"
	Session  Kind = "session"
	Strategy Kind = "strategy"
	Plugin   Kind = "plugin"
	Host     Kind = "host"
	Answer   Kind = "answer"
	Model    Kind = "model"
	Overflow Kind = "overflow"
	Canceled Kind = "canceled"
	Deadline Kind = "deadline"
	Store    Kind = "store"
	Internal Kind = "internal"
	// Of the doors.
	Access   Kind = "access"
	Limit    Kind = "limit"
	Shutdown Kind = "shutdown"
)

type Description struct {
	Kind Kind
	// Retryable: the same call may succeed later. MaybeApplied: it may have taken effect all the same.
	Retryable, MaybeApplied bool
	// Plugin is the strategy that failed; "" for none.
	Plugin string
	// Reason is what went wrong with a plugin, in a word for metrics; "" if nothing did. Call is what it was asked; ""
	// if its answer was refused.
	Call, Reason string
}

// Described is an error that describes itself.
type Described interface {
	error
	Describe() Description
}

// Of returns the description of an error, by the first in its chain that describes itself; otherwise it is [Internal],
// unless a context ended. Who wraps an error that describes itself and is about something else describes itself, too.
func Of(err error) Description {
	if d, ok := errors.AsType[Described](err); ok {
		return d.Describe()
	}
	return Ended(err, Internal)
}

// Ended is the description of an error that may be a context's; otherwise it has the given kind.
func Ended(err error, otherwise Kind) Description {
	switch {
	case errors.Is(err, context.Canceled):
		return Description{Kind: Canceled}
	case errors.Is(err, context.DeadlineExceeded):
		return Description{Kind: Deadline, Retryable: true}
	}
	return Description{Kind: otherwise}
}

type sentinel struct {
	text      string
	kind      Kind
	retryable bool
}

func (s *sentinel) Error() string { return s.text }

func (s *sentinel) Describe() Description { return Description{Kind: s.kind, Retryable: s.retryable} }

// New returns an error that errors wrap, for [errors.Is].
func New(kind Kind, text string) error { return &sentinel{text: text, kind: kind} }

// Passing is New for a cause that goes away by itself.
func Passing(kind Kind, text string) error { return &sentinel{text, kind, true} }
