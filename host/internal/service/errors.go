package service

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"

	"github.com/thresh-dev/thresh/host"
	"github.com/thresh-dev/thresh/host/config"
	"github.com/thresh-dev/thresh/internal/failure"
)

// Kinds of errors besides those of package host: of a door, or of a request that is wrong in itself.
const (
	KindRequest  = host.KindRequest
	KindAccess   = host.Kind(failure.Access)
	KindLimit    = host.Kind(failure.Limit)
	KindShutdown = host.Kind(failure.Shutdown)
)

// Kind is a kind of errors as agents see it: a row of the table in docs/api.md.
type Kind struct {
	Kind host.Kind
	// Status is that of HTTP. An error of status 500 has 503 if it is retryable.
	Status      int
	Meaning, Do string
}

// Kinds returns the kinds of errors, for all doors.
func Kinds() []Kind {
	return []Kind{
		{KindRequest, http.StatusBadRequest, "the request is wrong in itself", "fix the caller"},
		{host.KindEntry, http.StatusBadRequest, "an entry or a task is malformed, or nothing has that id (404)",
			"fix the caller"},
		{host.KindSetting, http.StatusBadRequest,
			"a setting or its value is refused, or what it names cannot be used", "fix the setting"},
		{host.KindSession, http.StatusNotFound, "the session is not open, already open (409), deleted, or another " +
			"token's; or cannot be called that (400)", "open it, or choose another id"},
		{host.KindStrategy, http.StatusUnprocessableEntity, "no usable plugin has that name",
			"`thresh plugins list` says what was found"},
		{host.KindPlugin, http.StatusInternalServerError, "it crashed, timed out, returned an error, or is not trusted",
			"retry if `retryable`; see [plugins](production.md#plugins)"},
		{host.KindHost, http.StatusInternalServerError,
			"the machine lacks files, space, memory, processes or a temporary directory", "remove the cause and retry"},
		{host.KindStore, http.StatusInternalServerError, "`sessions.store` cannot be read or written, or did not answer " +
			"within 10 s. Nothing answered is lost", "remove the cause and retry"},
		{host.KindAnswer, http.StatusInternalServerError, "the plugin's answer breaks the rules and was not applied",
			"tell its author"},
		{host.KindModel, http.StatusInternalServerError, "the model that a strategy called failed",
			"retry if `retryable`; `thresh llm check`"},
		{host.KindOverflow, http.StatusUnprocessableEntity, "the request does not fit, although everything was tried",
			"send `missingTokens` less"},
		{host.KindCanceled, StatusCanceled, "the request was cancelled, or the host is ending", ""},
		{host.KindDeadline, http.StatusGatewayTimeout, "the caller's deadline passed", "allow more time"},
		{KindAccess, http.StatusForbidden, "no valid token was shown (401), or it may not do this", "use a valid token"},
		{KindLimit, http.StatusTooManyRequests, "a limit of the token (413 for `requestBytes`)",
			"retry if `retryable`"},
		{KindShutdown, http.StatusServiceUnavailable, "the host is shutting down, and nothing was done",
			"retry"},
		{host.KindInternal, http.StatusInternalServerError, "anything else, such as a method that panicked",
			"report it, with the stack from the log"},
	}
}

// StatusCanceled is what servers log for a request whose client has gone. No client sees it.
const StatusCanceled = 499

// Failure is an error as agents get it: "error" of an answer over HTTP, and "data" of an error in JSON-RPC, which has
// the message beside it.
type Failure struct {
	Message string    `json:"message,omitempty"`
	Kind    host.Kind `json:"kind"`
	// Retryable says that the same call may succeed if it is made again.
	Retryable bool `json:"retryable" jsonschema:"the same call may succeed later"`
	// MaybeApplied says that the call may have taken effect all the same.
	MaybeApplied bool `json:"maybeApplied,omitempty" jsonschema:"the write was sent, and no answer came"`
	// Field is the path of the wrong member.
	Field string `json:"field,omitempty" jsonschema:"the wrong parameter, such as entries[1].speaker"`
	// Entry is the position in "entries" or "messages" of the first one that was refused. None of them was added.
	Entry *int `json:"entry,omitempty" jsonschema:"position of the first refused one; none was added"`
	// Part is the position of the part of that message that was refused.
	Part *int `json:"part,omitempty" jsonschema:"of that message"`
	// Plugin is the strategy that failed.
	Plugin string `json:"plugin,omitempty" jsonschema:"the strategy that failed"`
	// MissingTokens is how many tokens have to go after an "overflow".
	MissingTokens int `json:"missingTokens,omitempty" jsonschema:"how many are too many"`
	// Limit is the limit of the token that was reached.
	Limit string `json:"limit,omitempty"`
	// Prepared is set if window.prepare failed: the history as it is now, which is valid but was not made to fit.
	Prepared *PrepareAnswer `json:"prepared,omitempty" jsonschema:"the unchanged history"`
	// Status is that of HTTP.
	Status int `json:"-"`
}

// FailureOf makes what an agent gets of an error, and of the result beside it: of a failed turn, the history as it is.
func FailureOf(result any, err error) *Failure {
	known := host.ErrorOf(err)
	f := &Failure{Message: err.Error(), Kind: known.Kind, Retryable: known.Retryable, MaybeApplied: known.MaybeApplied,
		Plugin: known.Plugin, MissingTokens: known.MissingTokens, Entry: known.Entry, Part: known.Part}
	own, refused := errors.AsType[*RequestError](err)
	if refused {
		f.Field = own.Field
	} else if at, ok := errors.AsType[*fieldError](err); ok {
		f.Field = at.field
	}
	if ready, ok := result.(*PrepareAnswer); ok && ready != nil {
		f.Prepared = ready
	}
	f.Classify(f.Kind)
	switch {
	case refused && own.Status != 0:
		f.Status = own.Status
	case errors.Is(err, host.ErrSessionExists):
		f.Status = http.StatusConflict
	case errors.Is(err, ErrNoPart), errors.Is(err, host.ErrNotRecorded):
		f.Status = http.StatusNotFound
	}
	return f
}

// Classify gives a failure its kind and the status of it.
func (f *Failure) Classify(k host.Kind) {
	f.Kind, f.Status = k, http.StatusInternalServerError
	for _, row := range Kinds() {
		if row.Kind == k {
			f.Status = row.Status
		}
	}
	if f.Status == http.StatusInternalServerError && f.Retryable {
		f.Status = http.StatusServiceUnavailable
	}
}

// RequestError refuses a request that has done nothing: it is wrong in itself, whatever the session holds, or may not be
// made. All other errors are package host's.
type RequestError struct {
	// Field is the path of a wrong member; "" if it is none in particular.
	Field, Message string
	// Kind and Status are those of the request's errors, unless they are set.
	Kind   host.Kind
	Status int
}

func (e *RequestError) Error() string { return e.Message }

func (e *RequestError) Describe() failure.Description {
	kind := failure.Kind(cmp.Or(e.Kind, KindRequest))
	return failure.Description{Kind: kind, Retryable: kind == failure.Shutdown || e.Status == http.StatusServiceUnavailable}
}

func wrongRequest(field, format string, values ...any) error {
	return &RequestError{Field: field, Message: fmt.Sprintf(format, values...)}
}

// fieldError says which member of a request an error of the host is about.
type fieldError struct {
	field string
	error
}

func (e *fieldError) Unwrap() error { return e.error }

// Path is the path of an element of a list in a request, or of a part of it.
func Path(list string, at int, part string) string {
	path := fmt.Sprintf("%s[%d]", list, at)
	if part != "" {
		path += "." + part
	}
	return path
}

// in says which part of a request is refused: of an element of a list, or of another value of several parts.
func in(list, value string, err error) error {
	switch known := host.ErrorOf(err); {
	case known == nil || known.Kind != host.KindEntry:
	case known.Entry != nil:
		return &fieldError{Path(list, *known.Entry, known.Path), err}
	case known.Path != "" || list == "":
		return &fieldError{value + known.Path, err}
	}
	return err
}

// inSettings names the refused one of a request's settings.
func inSettings(settings map[string]any, err error) error {
	if wrong, ok := errors.AsType[*config.Error](err); ok {
		for key := range settings {
			if wrong.Key == key {
				return &fieldError{"settings." + key, err}
			}
		}
	}
	return err
}

// inSetting tells a wrong value from a wrong key.
func inSetting(err error) error {
	wrong, ok := errors.AsType[*config.Error](err)
	switch {
	case !ok:
		return err
	case wrong.Value == "":
		return &fieldError{"key", err}
	}
	return &fieldError{"value", err}
}

// Do calls a method for a door, under the door's name for it. A panic in it is an error of kind internal to its caller.
func Do[T any](s *Service, method string, f func() (T, error)) (answer T, err error) {
	defer s.host.Guard(method, &err)
	return f()
}

func checkForm(f host.Form) error {
	switch f {
	case "", host.Anthropic, host.OpenAIChat, host.OpenAIResponses:
		return nil
	}
	return wrongRequest("format", `"format": %.40q: %v`, string(f), host.ErrForm)
}

// inQuery names the member of a query that an error is about.
func inQuery(err error) error {
	if errors.Is(err, host.ErrQuery) {
		return &fieldError{"query", err}
	}
	return err
}
