package stdio

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/thresh-dev/thresh/host"
	"github.com/thresh-dev/thresh/host/internal/door/jsonrpc"
	"github.com/thresh-dev/thresh/host/internal/service"
)

// ErrorData is a [host.Error] as JSON: what went wrong in a method, for programs.
type ErrorData struct {
	Kind host.Kind `json:"kind"`
	// Retryable says that the same call may succeed if it is made again.
	Retryable bool `json:"retryable"`
	// MaybeApplied says that the call may have taken effect all the same.
	MaybeApplied bool `json:"maybeApplied,omitempty"`
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
func failure(err error) *jsonrpc.Error {
	if own, ok := errors.AsType[*jsonrpc.Error](err); ok {
		return own
	}
	if wrong, ok := errors.AsType[*service.RequestError](err); ok {
		return &jsonrpc.Error{Code: jsonrpc.CodeParams, Message: "params: " + wrong.Message}
	}
	// Every other error is a host.Error; the default stands for a mistake in this package.
	known := &host.Error{Kind: host.KindInternal}
	errors.As(err, &known)
	return &jsonrpc.Error{Code: jsonrpc.CodeFailed, Message: err.Error(), Data: &ErrorData{
		Kind: known.Kind, Retryable: known.Retryable, MaybeApplied: known.MaybeApplied, Plugin: known.Plugin,
		MissingTokens: known.MissingTokens, Entry: known.Entry, Part: known.Part,
	}}
}

// byName refuses parameters by position. Parameters by position would bind the order of every method's members for
// ever.
func byName(raw json.RawMessage) error {
	if len(raw) == 0 || raw[0] == '{' || string(raw) == "null" {
		return nil
	}
	return &jsonrpc.Error{Code: jsonrpc.CodeParams, Message: "params: must be an object, with parameters by name"}
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
		return &jsonrpc.Error{Code: jsonrpc.CodeParams, Message: fmt.Sprintf("params: %q must be %s, not %s",
			memberName(wrong.Field), plainType(wrong.Type), wrong.Value)}
	default:
		return &jsonrpc.Error{Code: jsonrpc.CodeParams, Message: "params: " + strings.TrimPrefix(err.Error(), "json: ")}
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
