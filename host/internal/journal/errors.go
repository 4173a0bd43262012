package journal

import (
	"errors"
	"fmt"

	"github.com/thresh-dev/thresh/internal/failure"
)

// Errors of a journal and its readers, for errors.Is.
var (
	// ErrClosed: the session was closed, before the call or during it.
	ErrClosed = failure.New(failure.Session, "session closed")
	// ErrSessionExists: a session with the new one's id is open, or another host began it.
	ErrSessionExists = failure.New(failure.Session, "a session with this id is open")
	// ErrDeleted: the session was deleted from the store, by another host or a command.
	ErrDeleted = failure.New(failure.Session, "the session was deleted")
	// ErrNoSession: no session is kept under the id.
	ErrNoSession = failure.New(failure.Session, "there is no such session")
	// ErrBusy: other hosts changed the session each time that this one tried to.
	ErrBusy = failure.Passing(failure.Store, "other hosts change the session all the time: try again")
	// ErrMoved: another host has changed the session, and the operation no longer fits.
	ErrMoved = errors.New("another host has changed the session")
	// ErrNoTranscript: the session writes no transcript log, so originals cannot be read back.
	ErrNoTranscript = failure.New(failure.Setting, "the session keeps no transcript (setting transcript.dir)")
	// ErrNotStored: the host has no store, and so knows only a session's present state.
	ErrNotStored = failure.New(failure.Setting, "the host keeps no sessions (setting sessions.store)")
	// ErrKeyReused: other entries were added under the key.
	ErrKeyReused = failure.New(failure.Entry, "the key was used for other entries: each addition needs a key of its own")
	// ErrNotRecorded: no entry and no tool call has the id.
	ErrNotRecorded = failure.New(failure.Entry, "nothing was added under this id")
)

// UnknownError says that a change may have been written: the store's answer was lost, and it cannot be asked.
type UnknownError struct {
	// Repeatable means that repeating the call does not repeat the change.
	Repeatable bool
	Err        error
}

func (e *UnknownError) Error() string {
	advice := "look before you do it again"
	if e.Repeatable {
		advice = "the same call can be made again, and does it once"
	}
	return fmt.Sprintf("%v (it may have been written all the same: %s)", e.Err, advice)
}

func (e *UnknownError) Unwrap() error { return e.Err }

func (e *UnknownError) Describe() failure.Description {
	d := failure.Of(e.Err)
	d.MaybeApplied, d.Retryable = true, d.Retryable && e.Repeatable
	return d
}
