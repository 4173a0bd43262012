package client

import (
	"context"
	"errors"

	"connectrpc.com/connect"

	"github.com/thresh-dev/thresh/proto/thresh/v1/sessionv1"
)

// Error is what every method returns when it fails.
type Error struct {
	// Kind says what it is about, as in docs/service.md: "entry", "setting", "session", "limit", …; "connection" if
	// the host could not be reached or did not answer.
	Kind string
	// Retryable says that the same call may succeed if it is made again.
	Retryable bool
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

func (e *Error) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// failure makes an error of a call an [*Error]; nil stays nil.
func failure(err error) error {
	if err == nil {
		return nil
	}
	e := &Error{Kind: "connection", Retryable: true, Err: err}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		e.Kind, e.Retryable = "canceled", false
	}
	var status *connect.Error
	if !errors.As(err, &status) {
		return e
	}
	for _, d := range status.Details() {
		if value, err := d.Value(); err == nil {
			if detail, ok := value.(*sessionv1.ErrorDetail); ok {
				return ofDetail(detail, errors.New(status.Message()))
			}
		}
	}
	return e
}

func ofDetail(d *sessionv1.ErrorDetail, err error) *Error {
	e := &Error{
		Kind: d.GetKind(), Retryable: d.GetRetryable(), Plugin: d.GetPlugin(), MissingTokens: int(d.GetMissingTokens()),
		Limit: d.GetLimit(), Err: err,
	}
	if d.Entry != nil {
		e.Entry = new(int(d.GetEntry()))
	}
	return e
}
