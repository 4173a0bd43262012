package stdio

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/thresh-dev/thresh/host/config"
	"github.com/thresh-dev/thresh/host/internal/engine"
	"github.com/thresh-dev/thresh/host/internal/history"
	"github.com/thresh-dev/thresh/host/internal/llm"
	"github.com/thresh-dev/thresh/host/internal/plugins"
	"github.com/thresh-dev/thresh/host/internal/prepare"
)

// request is a JSON-RPC 2.0 request, or a notification if ID is nil.
type request struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Method  string          `json:"method"`
	Params  json.RawMessage `json:"params"`
}

// replyID is the id of a reply that must be sent whether or not the request had one.
func (r request) replyID() json.RawMessage {
	if r.ID == nil {
		return json.RawMessage("null")
	}
	return r.ID
}

type response struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Result  any             `json:"result,omitempty"`
	Error   *Error          `json:"error,omitempty"`
}

// The codes of an [Error]: those of JSON-RPC 2.0, and one for all that goes wrong in a method.
const (
	CodeParse         = -32700
	CodeInvalid       = -32600
	CodeUnknownMethod = -32601
	CodeParams        = -32602
	CodeFailed        = -32000
)

// Error is a JSON-RPC error. Message is for people, Data for programs.
type Error struct {
	Code    int        `json:"code"`
	Message string     `json:"message"`
	Data    *ErrorData `json:"data,omitempty"`
}

func (e *Error) Error() string { return e.Message }

// ErrorData says what went wrong in a method.
type ErrorData struct {
	// Kind is "entry", "setting", "session", "strategy" (it is not there), "plugin" (it failed), "answer" (it answered what
	// cannot be applied), "model" (the model that a strategy called failed), "overflow" (the request is too large for the
	// model), "canceled" or "internal".
	Kind string `json:"kind"`
	// Retryable says that the same call may succeed if it is made again.
	Retryable bool `json:"retryable"`
	// Plugin is the strategy that failed.
	Plugin string `json:"plugin,omitempty"`
	// MissingTokens is how many tokens have to go after an "overflow".
	MissingTokens int `json:"missingTokens,omitempty"`
	// Prepared is, where window.prepare failed, the history as it is now: valid, but not made to fit.
	Prepared any `json:"prepared,omitempty"`
}

// failure turns an error of the host into what an agent gets.
func failure(err error) *Error {
	var own *Error
	if errors.As(err, &own) {
		return own
	}
	data := &ErrorData{Kind: "internal"}
	var (
		overflow *prepare.ContextOverflowError
		plugin   *plugins.Error
		answer   *history.AnswerError
		setting  *config.Error
		compress *prepare.CompressError
	)
	switch {
	case errors.As(err, &overflow):
		data.Kind, data.MissingTokens, data.Plugin = "overflow", overflow.Missing(), overflow.Strategy
	case errors.As(err, &answer):
		data.Kind = "answer"
	case errors.As(err, &setting), errors.Is(err, engine.ErrFixed), errors.Is(err, engine.ErrBadSetting),
		errors.Is(err, prepare.ErrNoLLM), errors.Is(err, llm.ErrProfile), errors.Is(err, engine.ErrNoTranscript):
		data.Kind = "setting"
	case errors.Is(err, engine.ErrInvalidEntry), errors.Is(err, engine.ErrNotRecorded):
		data.Kind = "entry"
	case errors.Is(err, plugins.ErrUnknownStrategy):
		data.Kind = "strategy"
	case errors.Is(err, engine.ErrSessionExists), errors.Is(err, engine.ErrClosed):
		data.Kind = "session"
	case errors.Is(err, context.Canceled):
		data.Kind = "canceled"
	case errors.As(err, &compress) && compress.Model != nil:
		data.Kind, data.Plugin, data.Retryable = "model", compress.Strategy, compress.Retryable
	case errors.As(err, &plugin):
		data.Kind, data.Plugin, data.Retryable = "plugin", plugin.Plugin, plugin.Retryable
	}
	return &Error{Code: CodeFailed, Message: err.Error(), Data: data}
}

// parse reads one message. On an error the id is whatever could be read of it.
func parse(line []byte) (request, *Error) {
	var r request
	if len(line) > 0 && line[0] == '[' {
		return r, &Error{Code: CodeInvalid, Message: "batches are not supported: send one request a line"}
	}
	if err := json.Unmarshal(line, &r); err != nil {
		var syntax *json.SyntaxError
		if errors.As(err, &syntax) {
			return r, &Error{Code: CodeParse, Message: fmt.Sprintf("not JSON at byte %d: %v", syntax.Offset, err)}
		}
		return r, &Error{Code: CodeInvalid, Message: "not a request: " + err.Error()}
	}
	if !validID(r.ID) {
		r.ID = nil
		return r, &Error{Code: CodeInvalid, Message: `"id" must be text or a number`}
	}
	if r.Version != "2.0" {
		return r, &Error{Code: CodeInvalid, Message: `"jsonrpc" must be "2.0"`}
	}
	if r.Method == "" {
		return r, &Error{Code: CodeInvalid, Message: `"method" is missing`}
	}
	return r, nil
}

// validID reports whether an id is absent, null, text or a number.
func validID(id json.RawMessage) bool {
	return len(id) == 0 || !strings.ContainsRune("{[tf", rune(id[0]))
}

// byName refuses parameters by position.
func byName(raw json.RawMessage) error {
	if len(raw) == 0 || raw[0] == '{' || string(raw) == "null" {
		return nil
	}
	return &Error{Code: CodeParams, Message: "params: must be an object, with parameters by name"}
}

// decodeParams reads parameters by name; an unknown name is an error.
func decodeParams(raw json.RawMessage, into any) error {
	if err := byName(raw); err != nil {
		return err
	}
	if len(raw) == 0 || string(raw) == "null" {
		raw = json.RawMessage("{}")
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.DisallowUnknownFields()
	err := dec.Decode(into)
	var wrong *json.UnmarshalTypeError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &wrong):
		return &Error{Code: CodeParams, Message: fmt.Sprintf("params: %q must be %s, not %s", wrong.Field, plainType(wrong.Type), wrong.Value)}
	default:
		return &Error{Code: CodeParams, Message: "params: " + strings.TrimPrefix(err.Error(), "json: ")}
	}
}

// plainType is what JSON calls a Go type.
func plainType(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Slice:
		return "a list"
	case reflect.Map, reflect.Struct:
		return "an object"
	case reflect.String:
		return "text"
	case reflect.Int:
		return "a whole number"
	default:
		return "a " + t.Kind().String()
	}
}
