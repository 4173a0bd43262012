package client

import (
	"context"
	"encoding/json"
	"errors"
	"net"
)

// Error is what every method returns when it fails.
type Error struct {
	// Kind says what it is about, as in docs/api.md: "entry", "setting", "session", "limit", …; "connection" if the host
	// could not be reached or did not answer.
	Kind string `json:"kind"`
	// Retryable is set if the same call may succeed later.
	Retryable bool `json:"retryable"`
	// MaybeApplied is set if the call may have taken effect all the same. With a Key, make it again.
	MaybeApplied bool `json:"maybeApplied"`
	// Field is the path of the wrong parameter, such as "entries[1].speaker"; "" if it is none in particular.
	Field string `json:"field"`
	// Key is the failed addition's, for [Session.AddOnce] and [Session.AddMessagesOnce].
	Key string `json:"-"`
	// Plugin is the strategy that failed; "" if none did.
	Plugin string `json:"plugin"`
	// MissingTokens is by how many tokens the request is too large, with kind "overflow".
	MissingTokens int `json:"missingTokens"`
	// Entry is the position of the first refused entry or message, Part that of its part; nil if it is not about one.
	Entry *int `json:"entry"`
	Part  *int `json:"part"`
	// Limit is the limit that was reached, with kind "limit".
	Limit string `json:"limit"`
	Err   error  `json:"-"`

	untaken  bool // the host did not take the request
	prepared json.RawMessage
}

func (e *Error) Error() string { return e.Err.Error() }

func (e *Error) Unwrap() error { return e.Err }

// failure is an error as the host sends it.
type failure struct {
	Error
	Message  string          `json:"message"`
	Prepared json.RawMessage `json:"prepared"`
}

func (f *failure) failed() *Error {
	f.Err, f.untaken, f.prepared = errors.New(f.Message), f.Kind == "shutdown", f.Prepared
	return &f.Error
}

// broken is the error of a request without an answer. ctx is the call's: a call that its own side gave up had no broken
// connection.
func broken(ctx context.Context, err error) *Error {
	switch ended := ctx.Err(); {
	case errors.Is(ended, context.DeadlineExceeded):
		return &Error{Kind: "deadline", Retryable: true, MaybeApplied: true, Err: ended}
	case ended != nil:
		return &Error{Kind: "canceled", MaybeApplied: true, Err: ended}
	}
	dial, ok := errors.AsType[*net.OpError](err)
	untaken := ok && dial.Op == "dial"
	return &Error{Kind: "connection", Retryable: true, MaybeApplied: !untaken, Err: err, untaken: untaken}
}
