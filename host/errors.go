package host

import (
	"errors"

	"github.com/thresh-dev/thresh/host/internal/journal"
	"github.com/thresh-dev/thresh/host/internal/plugins"
	"github.com/thresh-dev/thresh/host/internal/prepare"
	"github.com/thresh-dev/thresh/host/internal/provider/messages"
	"github.com/thresh-dev/thresh/host/internal/search"
	"github.com/thresh-dev/thresh/host/internal/window"
	"github.com/thresh-dev/thresh/host/outcome"
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
	// ErrNoTranscript: the session writes no transcript (setting transcript.dir).
	ErrNoTranscript = journal.ErrNoTranscript
	// ErrNotStored: the host keeps no sessions (setting sessions.store).
	ErrNotStored = journal.ErrNotStored
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

// Kind is what an error is about. JSON-RPC has the same values under "kind".
type Kind string

// The kinds of errors.
const (
	// KindRequest: what a call asks for is wrong in itself, such as a query without words.
	KindRequest = Kind(failure.Request)
	// KindEntry: an entry or a task is not well formed, or nothing was added under an id.
	KindEntry = Kind(failure.Entry)
	// KindSetting: a setting is wrong, is missing, or cannot be changed.
	KindSetting = Kind(failure.Setting)
	// KindSession: the session is closed, or one with the same id is open.
	KindSession = Kind(failure.Session)
	// KindStrategy: no plugin was found for the strategy.
	KindStrategy = Kind(failure.Strategy)
	// KindPlugin: the plugin failed: it did not start, crashed, ran into a timeout, or returned an error.
	KindPlugin = Kind(failure.Plugin)
	// KindHost: the machine lacks file descriptors, space, memory, processes or the run directory. So a plugin could
	// not be started, or a transcript (setting transcript.dir) could not be written; nothing is lost. The same call
	// succeeds when the cause is gone.
	KindHost = Kind(failure.Host)
	// KindAnswer: the plugin returned a result that cannot be applied to the history.
	KindAnswer = Kind(failure.Answer)
	// KindModel: the model that the strategy called failed.
	KindModel = Kind(failure.Model)
	// KindOverflow: the request is too large for the model although everything was tried.
	KindOverflow = Kind(failure.Overflow)
	// KindCanceled: the context of the call was canceled.
	KindCanceled = Kind(failure.Canceled)
	// KindDeadline: the deadline of the call's context has passed.
	KindDeadline = Kind(failure.Deadline)
	// KindStore: sessions cannot be read from their store or written to it (setting sessions.store). Nothing that was
	// acknowledged is lost, and the same call succeeds when the cause is gone.
	KindStore = Kind(failure.Store)
	// KindInternal: anything else, such as a method that panicked.
	KindInternal = Kind(failure.Internal)
)

// Error is what [ErrorOf] tells of an error.
type Error struct {
	Kind Kind
	// Retryable is set if the same call may succeed later. It can be with [KindPlugin], [KindModel], [KindHost] and
	// [KindStore], and is with [KindDeadline].
	Retryable bool
	// MaybeApplied is set if the call may have taken effect all the same: its write was sent, and no answer came. It is
	// then retryable only if a repetition is safe, as an addition with a key ([AddOptions]) is.
	MaybeApplied bool
	// Plugin is the strategy that failed; "" if none did or it is not known.
	Plugin string
	// MissingTokens is by how many tokens the request is too large ([KindOverflow]); Largest are the largest entries.
	MissingTokens int
	Largest       []outcome.LargeEntry
	// Entry is the position of the first refused entry in the call; nil if it is not about one. None was added.
	Entry *int
	// Part is the position of the refused part of a message; nil if the error is not about one.
	Part *int
	// Path is where in that entry or message, or in the list that the call is about, the fault is, such as
	// blocks[0].text; "" if it is all of it.
	Path string
	Err  error
}

func (e *Error) Error() string { return e.Err.Error() }

func (e *Error) Unwrap() error { return e.Err }

// ErrorOf tells what an error of this package is about, or one of a door that uses the runtime itself. It is nil for
// nil.
func ErrorOf(err error) *Error {
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*Error](err); ok {
		return e
	}
	d := failure.Of(err)
	e := &Error{
		Kind: Kind(d.Kind), Retryable: d.Retryable, MaybeApplied: d.MaybeApplied, Plugin: d.Plugin, Err: err,
	}
	if overflow, ok := errors.AsType[*prepare.ContextOverflowError](err); ok && e.Kind == KindOverflow {
		e.MissingTokens, e.Largest = overflow.Missing(), overflow.Largest
	}
	if e.Kind != KindEntry {
		return e
	}
	if bad, ok := errors.AsType[*content.PathError](err); ok {
		e.Path = bad.Path
	}
	if bad, ok := errors.AsType[*window.EntryError](err); ok {
		e.Entry = &bad.Index
	}
	if bad, ok := errors.AsType[*messages.Error](err); ok {
		if e.Entry, e.Path = &bad.Message, bad.Path(); bad.Part >= 0 {
			e.Part = &bad.Part
		}
	}
	return e
}
