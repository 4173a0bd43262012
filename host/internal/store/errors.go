package store

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/thresh-dev/thresh/internal/failure"
)

var (
	// ErrExists: a session or an access token has this name already.
	ErrExists = errors.New("exists already")
	// ErrNotFound: no session or access token has this name.
	ErrNotFound = errors.New("not found")
	// ErrID: no session can have this key.
	ErrID = failure.New(failure.Session, "a session cannot be called this")
	// ErrClosed: the store was closed.
	ErrClosed = failure.New(failure.Store, "the session store is closed")
)

// ConflictError is returned by an append whose writer has not seen the session's present state. Nothing was written.
type ConflictError struct {
	Key
	// At is what the writer has seen, Now the present state.
	At  Position
	Now Head
}

func (e *ConflictError) Error() string {
	what := fmt.Sprintf("it is at revision %d, not %d", e.Now.Revision, e.At.Revision)
	if e.Now.Revision == e.At.Revision {
		what = "another host has taken its lease"
		if e.Now.Fence == e.At.Fence {
			what = "the lease ended before the write"
		}
	}
	return fmt.Sprintf("session %q was changed by another host: %s", e.ID, what)
}

// LeasedError is returned while another holder has the lease of a session.
type LeasedError struct {
	Key
	Holder string
	// Left is how long the lease lasts unless it is extended.
	Left time.Duration
}

func (e *LeasedError) Error() string {
	return fmt.Sprintf("host %s is at work on session %q for up to %v", e.Holder, e.ID, e.Left.Round(time.Millisecond))
}

// CallTimeout bounds each call of a store except Open, Check and Watch, and each page of calls that read many.
// A database can restart within it, and a turn fails instead of hanging.
const CallTimeout = 10 * time.Second

// ErrSlow is the cause of a context that [Within] has ended.
var ErrSlow = fmt.Errorf("no answer within %v", CallTimeout)

// Within bounds a call, or several that belong together.
func Within(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, CallTimeout, ErrSlow)
}

// Doubt remembers that a write failed in a way that reads do not show. The zero value has none.
type Doubt struct{ there atomic.Bool }

// Note takes the error of a call.
func (d *Doubt) Note(err error) {
	if IsCause(err, Full) || IsCause(err, Denied) || IsCause(err, Slow) {
		d.there.Store(true)
	}
}

// Ready tries a write while there is a doubt.
func (d *Doubt) Ready(ctx context.Context, in Accesses) error {
	if !d.there.Load() {
		return nil
	}
	// A day before all that anyone asks for.
	_, err := in.Account(ctx, "", "0000-00-00", Used{Requests: 1})
	if err == nil {
		d.there.Store(false)
	}
	return err
}

// Cause is why a store cannot do its work.
type Cause string

const (
	// Full: no space is left, or a file size limit was reached.
	Full Cause = "full"
	// Gone: the database cannot be reached.
	Gone Cause = "gone"
	// Slow: no answer came within [CallTimeout].
	Slow Cause = "slow"
	// Displaced: the file was deleted, renamed or replaced while it was in use.
	Displaced Cause = "displaced"
	// Corrupt: what was read differs from what was written.
	Corrupt Cause = "corrupt"
	// Locked: another process holds a lock longer than a call waits.
	Locked Cause = "locked"
	// Denied: permissions do not allow it, or the store is read-only.
	Denied Cause = "denied"
	// Newer: a later version of the program has written the store.
	Newer Cause = "newer"
	// Unreleased: a version of the program from before its first release has written the store.
	Unreleased Cause = "unreleased"
	// Foreign: the file belongs to another program.
	Foreign Cause = "foreign"
	// Broken: anything else.
	Broken Cause = "broken"
)

// Fault is the error of a store that cannot do its work. The same call succeeds once the cause is gone, without
// reopening the store.
type Fault struct {
	Cause Cause
	// Store names the file or the database, without a password.
	Store string
	// Unknown is set if the call may have taken effect anyway, such as when a connection breaks after a commit was
	// sent. Only the causes Gone, Slow and Displaced can have it.
	Unknown bool
	Err     error
}

// advice says what to do about each cause.
var advice = map[Cause]string{
	Full:      "has no space left: free space or raise the limit, then try again",
	Gone:      "cannot be reached: start the database or correct sessions.store",
	Slow:      "does not answer: look at its disk, its network and what else it is doing, then try again",
	Displaced: "is not where it was, and nothing more is written",
	Corrupt:   "is damaged: stop thresh and restore a backup; 'thresh doctor' lists what is wrong",
	Locked:    "is locked by another process: end it, or let it finish, and try again",
	Denied:    "cannot be used: give the user that runs thresh, or that sessions.store names, read and write access",
	Newer:     "was written by a newer version of thresh: run that version",
	Unreleased: "was written by a version of thresh from before its first release, and is left as it is: run that " +
		"version, or name another file or database in sessions.store",
	Foreign: "is the database of another program: name another file in sessions.store",
	Broken:  "failed",
}

func (f *Fault) Error() string {
	return fmt.Sprintf("the session store %s %s (%v)", f.Store, advice[f.Cause], f.Err)
}

// Public returns the text of an error for someone who must not learn where the store is: a [Fault] without the file,
// the database and the error underneath.
func Public(err error) string {
	if fault, ok := errors.AsType[*Fault](err); ok {
		return "the session store " + advice[fault.Cause]
	}
	return err.Error()
}

func (f *Fault) Unwrap() error { return f.Err }

func (f *Fault) Describe() failure.Description {
	return failure.Description{Kind: failure.Store, Retryable: f.Retryable(), MaybeApplied: f.Unknown}
}

// Retryable says whether the same call may succeed without anyone's help.
func (f *Fault) Retryable() bool {
	return f.Cause == Gone || f.Cause == Slow || f.Cause == Locked || f.Cause == Full
}

// IsCause says whether err is a [Fault] of this cause.
func IsCause(err error, cause Cause) bool {
	var fault *Fault
	return errors.As(err, &fault) && fault.Cause == cause
}

// NotFound names the id and not the owner, who is the one that asks.
func NotFound(key Key) error { return fmt.Errorf("session %q: %w", key.ID, ErrNotFound) }

// IsRefusal says whether err is the answer to a call and not a failure of the store.
func IsRefusal(err error) bool {
	_, conflict := errors.AsType[*ConflictError](err)
	_, leased := errors.AsType[*LeasedError](err)
	return conflict || leased || errors.Is(err, ErrExists) || errors.Is(err, ErrNotFound)
}
