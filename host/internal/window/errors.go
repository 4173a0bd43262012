package window

import (
	"fmt"

	"github.com/thresh-dev/thresh/host/config"
	"github.com/thresh-dev/thresh/internal/failure"
)

// Errors of a host and its sessions, for errors.Is, besides those of package journal.
var (
	// ErrInvalidEntry: an entry is not well formed.
	ErrInvalidEntry = failure.New(failure.Entry, "not a valid history entry")
	// ErrFixed: the setting cannot be changed for one session, or not any more.
	ErrFixed = config.ErrFixed
	// ErrBadSetting: the setting has a value of the right type that cannot be used.
	ErrBadSetting = failure.New(failure.Setting, "the setting cannot be used")
)

// EntryError says which entry of a call of [Session.Add] was refused, and why. No entry of the call was added.
type EntryError struct {
	Index int
	Err   error
}

func (e *EntryError) Error() string {
	return fmt.Sprintf("add entry %d: %v: %v", e.Index, ErrInvalidEntry, e.Err)
}

func (e *EntryError) Unwrap() []error { return []error{ErrInvalidEntry, e.Err} }
