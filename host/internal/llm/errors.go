package llm

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/thresh-dev/thresh/host/config"
	"github.com/thresh-dev/thresh/internal/failure"
	"github.com/thresh-dev/thresh/internal/text"
)

// Causes of an [*Error], for [errors.Is]; also [context.Canceled] (by the caller) and [context.DeadlineExceeded].
var (
	// ErrProfile: the profile has a wrong setting or no key.
	ErrProfile = failure.New(failure.Setting, "the profile cannot be used")
	// ErrRequest: no provider would accept the request; it was not sent.
	ErrRequest         = errors.New("the request is not valid")
	ErrContextExceeded = errors.New("the request is larger than the model's context window")
	ErrTooLarge        = errors.New("the request has more bytes than the server takes")
	ErrUnauthorized    = errors.New("the provider does not accept the key")
	ErrModelNotFound   = errors.New("the provider does not know the model")
	ErrRateLimited     = errors.New("the provider limits the rate of requests")
	ErrUnreachable     = errors.New("the server cannot be reached")
	ErrIncomplete      = errors.New("the answer broke off before its end")
	ErrProtocol        = errors.New("the answer cannot be understood")
	ErrTooLong         = errors.New("the answer does not end")
)

// Error is a failed completion, or a profile that cannot be used. It never contains a key.
type Error struct {
	Profile string
	// Kind is the provider's kind: openai or anthropic.
	Kind, Model string
	// Status is the HTTP status; 0 if there was no answer.
	Status int
	// Code is the provider's error code, such as "rate_limit_exceeded"; "" if it gave none.
	Code string
	// Message is what the provider said, clipped, or what happened.
	Message string
	// Hint says what to do about it; "" for nothing.
	Hint string
	// Retryable is set if the same call may succeed later. RetryAfter is the wait that the provider asks for.
	Retryable  bool
	RetryAfter time.Duration
	// Attempts is the number of requests sent.
	Attempts int
	Err      error
}

// Error returns one line: profile, cause, HTTP status, message, hint and attempts, as far as known.
func (e *Error) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "profile %s (%s, model %s): ", clip(e.Profile), clip(e.Kind), clip(e.Model))
	if e.Err != nil && !errors.Is(e.Err, ErrProfile) && !errors.Is(e.Err, ErrRequest) {
		b.WriteString(e.Err.Error() + ": ")
	}
	if e.Status != 0 {
		b.WriteString(strings.TrimSpace(fmt.Sprintf("%d %s", e.Status, http.StatusText(e.Status))))
		if e.Code != "" {
			b.WriteString(" (" + e.Code + ")")
		}
		b.WriteString(": ")
	}
	b.WriteString(e.Message)
	if e.Hint != "" {
		b.WriteString("; " + e.Hint)
	}
	if e.Attempts > 1 {
		fmt.Fprintf(&b, "; tried %d times", e.Attempts)
	}
	return b.String()
}

func (e *Error) Unwrap() error { return e.Err }

func (p Profile) failf(err error, format string, args ...any) *Error {
	return &Error{Profile: p.Name, Kind: p.Kind, Model: p.Model, Message: fmt.Sprintf(format, args...), Err: err}
}

// hint returns what a user can do; "" if nothing. It names settings and variables, never their values.
func (p Profile) hint(e *Error) string {
	switch {
	case errors.Is(e.Err, ErrUnauthorized) && p.KeyEnv != "":
		return "check the key in the environment variable " + p.KeyEnv + " and what it may do"
	case errors.Is(e.Err, ErrUnauthorized) && p.KeyFile != "":
		return "check the key in the file " + p.KeyFile + " and what it may do"
	case errors.Is(e.Err, ErrUnauthorized):
		return "set " + p.setting("keyEnv") + " or keyFile"
	case errors.Is(e.Err, ErrModelNotFound):
		return "check " + p.setting("model")
	case errors.Is(e.Err, ErrContextExceeded):
		return "set " + p.setting("contextLimit") + " to what the model has"
	case errors.Is(e.Err, ErrUnreachable),
		errors.Is(e.Err, ErrProtocol),
		e.Status == http.StatusNotFound,
		e.Status == http.StatusMethodNotAllowed,
		e.Status >= 300 && e.Status < 400:
		hint := "check " + p.setting("baseURL") + ", which is " + p.server()
		if p.Kind == config.KindOpenAI {
			return hint + " (compatible servers mostly want /v1 at its end)"
		}
		return hint + " (without /v1 at its end)"
	}
	return ""
}

const maxShown = 400

// clip shortens foreign text to one printable line. Redact keys first: half a key would not be recognised.
func clip(s string) string { return text.OneLine(s, maxShown) }
