package client

import (
	"context"
	"errors"
	"fmt"

	"google.golang.org/grpc/status"

	"github.com/thresh-dev/thresh/proto/thresh/v1/sessionv1"
)

// Error is what every method returns when it fails.
type Error struct {
	// Kind says what it is about, as in docs/service.md: "entry", "setting", "session", "limit", …; "connection" if
	// the host could not be reached or did not answer.
	Kind string
	// Retryable is set if the same call may succeed later.
	Retryable bool
	// MaybeApplied is set if the call may have taken effect all the same. With a Key, make it again.
	MaybeApplied bool
	// Key is the failed addition's, for [Session.AddOnce] and [Session.AddMessagesOnce].
	Key string
	// Plugin is the strategy that failed; "" if none did.
	Plugin string
	// MissingTokens is by how many tokens the request is too large, with kind "overflow".
	MissingTokens int
	// Entry is the position of the first refused entry; nil if the error is not about one.
	Entry *int
	// Limit is the limit that was reached, with kind "limit".
	Limit string
	Err   error
}

func (e *Error) Error() string { return e.Err.Error() }

func (e *Error) Unwrap() error { return e.Err }

// failed is failure for an error that may be nil.
func failed(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	return failure(ctx, err)
}

// failure makes a call's error an [*Error]. ctx is the call's: a call that its own side gave up had no broken
// connection.
func failure(ctx context.Context, err error) *Error {
	state := status.Convert(err)
	for _, d := range state.Details() {
		if detail, ok := d.(*sessionv1.ErrorDetail); ok {
			return ofDetail(detail, errors.New(state.Message()))
		}
	}
	switch err := ctx.Err(); {
	case errors.Is(err, context.DeadlineExceeded):
		return &Error{Kind: "deadline", Retryable: true, MaybeApplied: true, Err: err}
	case err != nil:
		return &Error{Kind: "canceled", MaybeApplied: true, Err: err}
	}
	return &Error{Kind: "connection", Retryable: true, MaybeApplied: true, Err: errors.New(state.Message())}
}

func unreadable(err error) *Error {
	return &Error{Kind: "internal", Err: fmt.Errorf("the host's answer cannot be read: %w", err)}
}

func ofDetail(d *sessionv1.ErrorDetail, err error) *Error {
	e := &Error{
		Kind: d.GetKind(), Retryable: d.GetRetryable(), MaybeApplied: d.GetMaybeApplied(), Plugin: d.GetPlugin(), MissingTokens: int(d.GetMissingTokens()),
		Limit: d.GetLimit(), Err: err,
	}
	if d.Entry != nil {
		e.Entry = new(int(d.GetEntry()))
	}
	return e
}
