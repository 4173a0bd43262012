package host

import (
	"errors"

	"github.com/thresh-dev/thresh/host/api"
	"github.com/thresh-dev/thresh/host/config"
	"github.com/thresh-dev/thresh/host/internal/journal"
	"github.com/thresh-dev/thresh/host/internal/plugins"
	"github.com/thresh-dev/thresh/host/internal/prepare"
	"github.com/thresh-dev/thresh/host/internal/provider/messages"
	"github.com/thresh-dev/thresh/host/internal/search"
	"github.com/thresh-dev/thresh/host/internal/window"
	"github.com/thresh-dev/thresh/internal/failure"
	"github.com/thresh-dev/thresh/sdk/content"
)

// Causes of errors, for [errors.Is].
var (
	// ErrClosed: the session or the host was closed, before the call or during it.
	ErrClosed = journal.ErrClosed
	// ErrSessionExists: a session with this id is open.
	ErrSessionExists = journal.ErrSessionExists
	// ErrDeleted: the session was deleted from the store, by another host or a command.
	ErrDeleted = journal.ErrDeleted
	// ErrNoSession: no session is kept under the id.
	ErrNoSession = journal.ErrNoSession
	// ErrInvalidEntry: an entry is not well formed.
	ErrInvalidEntry = window.ErrInvalidEntry
	// ErrFixed: the setting cannot be changed for one session, or not any more.
	ErrFixed = window.ErrFixed
	// ErrKeyReused: other entries were added under the key.
	ErrKeyReused = journal.ErrKeyReused
	// ErrNotRecorded: nothing was added under the id.
	ErrNotRecorded = journal.ErrNotRecorded
	// ErrQuery: a query cannot be searched for.
	ErrQuery = search.ErrQuery
	// ErrUnknownStrategy: no plugin was found for the strategy.
	ErrUnknownStrategy = plugins.ErrUnknownStrategy
	// ErrNoLLM: the strategy needs a model and none is configured. The error says what to configure.
	ErrNoLLM = prepare.ErrNoLLM
)

// ErrorOf tells what an error is about: one of this package's methods, which is an [*api.Error] already, or one of a door
// that uses the runtime itself. It is nil for nil.
func ErrorOf(err error) *api.Error {
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*api.Error](err); ok {
		if error(e) == err {
			return e
		}
		outer := *e
		outer.Message, outer.Err = err.Error(), err
		return &outer
	}
	d := failure.Of(err)
	e := &api.Error{Message: err.Error(), Kind: api.Kind(d.Kind), Retryable: d.Retryable, MaybeApplied: d.MaybeApplied,
		Plugin: d.Plugin, Err: err}
	if overflow, ok := errors.AsType[*prepare.ContextOverflowError](err); ok && e.Kind == api.KindOverflow {
		e.MissingTokens, e.Largest = overflow.Missing(), overflow.Largest
	}
	if e.Kind != api.KindEntry {
		return e
	}
	if bad, ok := errors.AsType[*content.PathError](err); ok {
		e.Field = bad.Path
	}
	if bad, ok := errors.AsType[*window.EntryError](err); ok {
		e.Entry = &bad.Index
	}
	if bad, ok := errors.AsType[*messages.Error](err); ok {
		if e.Entry, e.Field = &bad.Message, bad.Path(); bad.Part >= 0 {
			e.Part = &bad.Part
		}
	}
	return e
}

// failed is what a method returns: ErrorOf, which is no error for nil.
func failed(err error) error {
	if err == nil {
		return nil
	}
	return ErrorOf(err)
}

// at says which member of a request an error is about.
func at(field string, err error) error {
	e := *ErrorOf(err)
	e.Field = field
	return &e
}

// in says which part of a request is refused: of an element of a list, or of another value of several parts.
func in(list, value string, err error) error {
	switch e := ErrorOf(err); {
	case e == nil:
		return nil
	case e.Kind != api.KindEntry:
		return e
	case e.Entry != nil:
		return at(api.Path(list, *e.Entry, e.Field), e)
	case e.Field != "" || list == "":
		return at(value+e.Field, e)
	default:
		return e
	}
}

// inSettings names the refused one of a request's settings.
func inSettings(settings map[string]any, err error) error {
	if wrong, ok := errors.AsType[*config.Error](err); ok {
		if _, set := settings[wrong.Key]; set {
			return at("settings."+wrong.Key, err)
		}
	}
	return failed(err)
}

// inSetting tells a wrong value from a wrong key.
func inSetting(err error) error {
	wrong, ok := errors.AsType[*config.Error](err)
	switch {
	case !ok:
		return failed(err)
	case wrong.Value == "":
		return at("key", err)
	}
	return at("value", err)
}

// inQuery names the member of a query that an error is about.
func inQuery(err error) error {
	if errors.Is(err, ErrQuery) {
		return at("query", err)
	}
	return failed(err)
}
