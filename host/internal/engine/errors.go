package engine

import (
	"errors"
	"fmt"
)

// Errors of a host and its sessions, for errors.Is.
var (
	// ErrClosed: the host or the session was closed, before the call or during it.
	ErrClosed = errors.New("session closed")
	// ErrSessionExists: the id of a new session is that of an open one.
	ErrSessionExists = errors.New("a session with this id is open")
	// ErrDeleted: the session was deleted from the store, by another host or a command.
	ErrDeleted = errors.New("the session was deleted")
	// ErrNoSession: no session is kept under the id.
	ErrNoSession = errors.New("there is no such session")
	// ErrBusy: other hosts changed the session each time that this one tried to.
	ErrBusy = errors.New("other hosts change the session all the time: try again")
	// ErrMoved: another host has changed the session meanwhile, so that what was to be done with it does not fit.
	ErrMoved = errors.New("another host has changed the session")
	// ErrInvalidEntry: an entry is not well formed.
	ErrInvalidEntry = errors.New("not a valid history entry")
	// ErrFixed: the setting cannot be changed for one session, or not any more.
	ErrFixed = errors.New("cannot be changed")
	// ErrBadSetting: the setting has a value of the right type that cannot be used.
	ErrBadSetting = errors.New("the setting cannot be used")
	// ErrNoTranscript: the session writes no transcript log, so originals cannot be read back.
	ErrNoTranscript = errors.New("the session keeps no transcript (setting transcript.dir)")
	// ErrNotStored: the host has no store, so that nothing is known of a session but what it is now.
	ErrNotStored = errors.New("the host keeps no sessions (setting sessions.store)")
	// ErrNotRecorded: no entry and no tool call has the id.
	ErrNotRecorded = errors.New("nothing was added under this id")
)

// EntryError says which entry of a call of [Session.Add] was refused, and why. No entry of the call was added.
type EntryError struct {
	// Index is the position among the entries of the call.
	Index int
	// Err says what is wrong with it.
	Err error
}

func (e *EntryError) Error() string {
	return fmt.Sprintf("add entry %d: %v: %v", e.Index, ErrInvalidEntry, e.Err)
}

// Unwrap returns [ErrInvalidEntry] and the cause.
func (e *EntryError) Unwrap() []error { return []error{ErrInvalidEntry, e.Err} }
