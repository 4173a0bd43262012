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
	// Retryable says that the same call may succeed if it is made again.
	Retryable bool
	// MaybeApplied says that the call may have taken effect all the same. With a Key, make it again.
	MaybeApplied bool
	// Key is that of the addition that failed, for [Session.AddOnce] and [Session.AddMessagesOnce].
	Key string
	// Plugin is the strategy that failed; "" if none did.
	Plugin string
	// MissingTokens is how many tokens are too many, with kind "overflow".
	MissingTokens int
	// Entry is the position of the first entry that was refused; nil if the error is about none.
	Entry *int
	// Limit is the limit that was reached, with kind "limit".
	Limit string
	// Err is the error itself.
	Err error
}

// Error returns the host's message, or that of the connection.
func (e *Error) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// failed is failure for an error that may be nil, which stays nil.
func failed(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	return failure(ctx, err)
}

// failure makes an error of a call an [*Error]. ctx is the call's: a call that its own side gave up is not one whose
// connection broke.
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

// unreadable is an answer in a form that this client does not know.
func unreadable(err error) *Error {
	return &Error{Kind: "internal", Err: fmt.Errorf("the host's answer cannot be read: %w", err)}
}

// ofDetail makes an [*Error] of the detail that the host attaches to every error of its own.
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
