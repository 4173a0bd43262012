package stdio

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/thresh-dev/thresh/host"
	"github.com/thresh-dev/thresh/host/internal/service"
)

// request is a JSON-RPC 2.0 request, or a notification if ID is nil. Params stay raw until the method that they are for
// is known.
type request struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Method  string          `json:"method"`
	Params  json.RawMessage `json:"params"`
}

// replyID is the id of a reply that must be sent even if the request had none.
func (r request) replyID() json.RawMessage {
	if r.ID == nil {
		return json.RawMessage("null")
	}
	return r.ID
}

// Exactly one of Result and Error is set, as JSON-RPC demands.
type response struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Result  any             `json:"result,omitempty"`
	Error   *Error          `json:"error,omitempty"`
}

// The codes of an [Error]: those of JSON-RPC 2.0, and CodeFailed for everything that goes wrong inside a method.
const (
	CodeParse         = -32700
	CodeInvalid       = -32600
	CodeUnknownMethod = -32601
	CodeParams        = -32602
	CodeFailed        = -32000
)

// Error is a JSON-RPC error. Message is for people, Data for programs. The message may quote what the agent sent, but
// never a provider's key.
type Error struct {
	Code    int        `json:"code"`
	Message string     `json:"message"`
	Data    *ErrorData `json:"data,omitempty"`
}

func (e *Error) Error() string { return e.Message }

// ErrorData is a [host.Error] as JSON: what went wrong in a method, for programs.
type ErrorData struct {
	Kind host.Kind `json:"kind"`
	// Retryable says that the same call may succeed if it is made again.
	Retryable bool `json:"retryable"`
	// Plugin is the strategy that failed.
	Plugin string `json:"plugin,omitempty"`
	// MissingTokens is how many tokens have to go after an "overflow".
	MissingTokens int `json:"missingTokens,omitempty"`
	// Entry is the position in "entries" or "messages" of the first one that was refused. None of them was added.
	Entry *int `json:"entry,omitempty"`
	// Part is the position of the part of that message that was refused.
	Part *int `json:"part,omitempty"`
	// Prepared is set if window.prepare failed: the history as it is now, which is valid but was not made to fit.
	Prepared *service.PrepareAnswer `json:"prepared,omitempty"`
}

// failure turns an error into what an agent gets. The host has classified its errors already.
func failure(err error) *Error {
	var own *Error
	if errors.As(err, &own) {
		return own
	}
	var wrong *service.RequestError
	if errors.As(err, &wrong) {
		return &Error{Code: CodeParams, Message: "params: " + wrong.Message}
	}
	// Every other error is a host.Error; the default stands for a mistake in this package.
	known := &host.Error{Kind: host.KindInternal}
	errors.As(err, &known)
	return &Error{Code: CodeFailed, Message: err.Error(), Data: &ErrorData{
		Kind: known.Kind, Retryable: known.Retryable, Plugin: known.Plugin, MissingTokens: known.MissingTokens,
		Entry: known.Entry, Part: known.Part,
	}}
}

// parse reads one message. If that fails, the request holds the id as far as it could be read.
func parse(line []byte) (request, *Error) {
	var r request
	// A batch would have to be answered in one message, which holds its first reply until the last is ready.
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

// validID reports whether an id is absent, null, text or a number. The JSON is valid here, so that its first character
// tells the type. Objects, lists and truth values are refused.
func validID(id json.RawMessage) bool {
	return len(id) == 0 || !strings.ContainsRune("{[tf", rune(id[0]))
}

// byName refuses parameters by position. Parameters by position would bind the order of every method's members for
// ever.
func byName(raw json.RawMessage) error {
	if len(raw) == 0 || raw[0] == '{' || string(raw) == "null" {
		return nil
	}
	return &Error{Code: CodeParams, Message: "params: must be an object, with parameters by name"}
}

// decodeParams reads parameters by name; an unknown name is an error. An unknown name is most likely misspelt, and
// ignoring it would do something else than the agent meant.
func decodeParams(raw json.RawMessage, into any) error {
	if err := byName(raw); err != nil {
		return err
	}
	// Absent parameters are an empty object: required members are then reported as missing.
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
	// encoding/json names Go types, which mean nothing to an author in another language.
	case errors.As(err, &wrong):
		return &Error{Code: CodeParams, Message: fmt.Sprintf("params: %q must be %s, not %s",
			memberName(wrong.Field), plainType(wrong.Type), wrong.Value)}
	default:
		return &Error{Code: CodeParams, Message: "params: " + strings.TrimPrefix(err.Error(), "json: ")}
	}
}

// memberName is the path of a member without the names of embedded Go types, which package json puts before it. They
// alone begin with a capital.
func memberName(path string) string {
	for {
		first, rest, more := strings.Cut(path, ".")
		if !more || first == "" || first[0] < 'A' || first[0] > 'Z' {
			return path
		}
		path = rest
	}
}

// plainType names a Go type in the words of JSON.
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
	case reflect.Uint64:
		return "a whole number of at least 0"
	default:
		return "a " + t.Kind().String()
	}
}
