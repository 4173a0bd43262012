package api

import (
	"fmt"
	"net/http"

	"github.com/thresh-dev/thresh/host/outcome"
	"github.com/thresh-dev/thresh/internal/failure"
)

// Kind is what an error is about. [Kinds] has what each means and what to do.
type Kind string

// The kinds of errors.
const (
	KindRequest  = Kind(failure.Request)
	KindEntry    = Kind(failure.Entry)
	KindSetting  = Kind(failure.Setting)
	KindSession  = Kind(failure.Session)
	KindStrategy = Kind(failure.Strategy)
	KindPlugin   = Kind(failure.Plugin)
	KindHost     = Kind(failure.Host)
	KindAnswer   = Kind(failure.Answer)
	KindModel    = Kind(failure.Model)
	KindOverflow = Kind(failure.Overflow)
	KindCanceled = Kind(failure.Canceled)
	KindDeadline = Kind(failure.Deadline)
	KindStore    = Kind(failure.Store)
	KindInternal = Kind(failure.Internal)
	// Of a host that is served.
	KindAccess   = Kind(failure.Access)
	KindLimit    = Kind(failure.Limit)
	KindShutdown = Kind(failure.Shutdown)
	// KindConnection: the client could not reach the host, or got no answer. No host returns it.
	KindConnection = Kind("connection")
)

// Error is what every method returns when it fails.
type Error struct {
	// Message is for people. In JSON-RPC it is beside the rest.
	Message string `json:"message,omitempty"`
	Kind    Kind   `json:"kind"`
	// Retryable is set if the same call may succeed later. It can be with [KindPlugin], [KindModel], [KindHost] and
	// [KindStore], and is with [KindDeadline].
	Retryable bool `json:"retryable" jsonschema:"the same call may succeed later"`
	// MaybeApplied is set if the call may have taken effect all the same: its write was sent, and no answer came. It is
	// then retryable only if a repetition is safe, as an addition with a key ([AddRequest]) is.
	MaybeApplied bool `json:"maybeApplied,omitempty" jsonschema:"the write was sent, and no answer came"`
	// Field is the path of the wrong member of the request, by its name in JSON; "" if it is none in particular.
	Field string `json:"field,omitempty" jsonschema:"the wrong parameter, such as entries[1].speaker"`
	// Entry is the position of the first refused entry or message; nil if the error is not about one. None was added.
	Entry *int `json:"entry,omitempty" jsonschema:"position of the first refused one; none was added"`
	// Part is the position of the refused part of that message; nil if the error is not about one.
	Part *int `json:"part,omitempty" jsonschema:"of that message"`
	// Plugin is the strategy that failed; "" if none did or it is not known.
	Plugin string `json:"plugin,omitempty" jsonschema:"the strategy that failed"`
	// MissingTokens is by how many tokens the request is too large ([KindOverflow]).
	MissingTokens int `json:"missingTokens,omitempty" jsonschema:"how many are too many"`
	// Largest are the largest entries ([KindOverflow]).
	Largest []outcome.LargeEntry `json:"largest,omitempty" jsonschema:"the largest entries"`
	// Limit is the limit of the access token that was reached ([KindLimit]).
	Limit string `json:"limit,omitempty"`
	// Prepared is, in JSON, what window.prepare returned beside the error: the history as it is. In Go it is the method's
	// result.
	Prepared *PrepareAnswer `json:"prepared,omitempty" jsonschema:"the unchanged history"`
	// Key is that of the failed addition, which a client may have made up: the same call with it is safe.
	Key string `json:"-"`
	// Status is that of HTTP; 0 for the one of the kind.
	Status int `json:"-"`
	// Err is the cause, in the process of the host; nil elsewhere.
	Err error `json:"-"`
}

func (e *Error) Error() string {
	if e.Err != nil {
		return e.Err.Error()
	}
	return e.Message
}

func (e *Error) Unwrap() error { return e.Err }

// Refuse makes the error of a request that is wrong in itself, whatever the session holds: a member, or "" for none in
// particular, and why.
func Refuse(field, format string, values ...any) *Error {
	return &Error{Kind: KindRequest, Field: field, Message: fmt.Sprintf(format, values...)}
}

// NotText refuses a member that is not valid UTF-8: in JSON it would be another text.
func NotText(field string) *Error { return Refuse(field, "%q is not valid UTF-8", field) }

// KindRow is a kind of errors as agents see it: a row of the table in docs/api.md.
type KindRow struct {
	Kind Kind
	// Status is that of HTTP. An error of status 500 has 503 if it is retryable.
	Status      int
	Meaning, Do string
}

// Kinds returns the kinds of errors that hosts return.
func Kinds() []KindRow {
	return []KindRow{
		{KindRequest, http.StatusBadRequest, "the request is wrong in itself", "fix the caller"},
		{KindEntry, http.StatusBadRequest, "an entry or a task is malformed, or nothing has that id (404)",
			"fix the caller"},
		{KindSetting, http.StatusBadRequest,
			"a setting or its value is refused, or what it names cannot be used", "fix the setting"},
		{KindSession, http.StatusNotFound, "the session is not open, already open (409), deleted, or another " +
			"token's; or cannot be called that (400)", "open it, or choose another id"},
		{KindStrategy, http.StatusUnprocessableEntity, "no usable plugin has that name",
			"`thresh plugins list` says what was found"},
		{KindPlugin, http.StatusInternalServerError, "it crashed, timed out, returned an error, or is not trusted",
			"retry if `retryable`; see [plugins](production.md#plugins)"},
		{KindHost, http.StatusInternalServerError,
			"the machine lacks files, space, memory, processes or a temporary directory", "remove the cause and retry"},
		{KindStore, http.StatusInternalServerError, "`sessions.store` cannot be read or written, or did not answer " +
			"within 10 s. Nothing answered is lost", "remove the cause and retry"},
		{KindAnswer, http.StatusInternalServerError, "the plugin's answer breaks the rules and was not applied",
			"tell its author"},
		{KindModel, http.StatusInternalServerError, "the model that a strategy called failed",
			"retry if `retryable`; `thresh doctor --call`"},
		{KindOverflow, http.StatusUnprocessableEntity, "the request does not fit, although everything was tried",
			"send `missingTokens` less"},
		{KindCanceled, StatusCanceled, "the request was cancelled, or the host is ending", ""},
		{KindDeadline, http.StatusGatewayTimeout, "the caller's deadline passed", "allow more time"},
		{KindAccess, http.StatusForbidden, "no valid token was shown (401), or it may not do this", "use a valid token"},
		{KindLimit, http.StatusTooManyRequests, "a limit of the token (413 for `requestBytes`)",
			"retry if `retryable`"},
		{KindShutdown, http.StatusServiceUnavailable, "the host is shutting down, and nothing was done",
			"retry"},
		{KindInternal, http.StatusInternalServerError, "anything else, such as a method that panicked",
			"report it, with the stack from the log"},
	}
}

// StatusCanceled is what servers log for a request whose client has gone. No client sees it.
const StatusCanceled = 499
