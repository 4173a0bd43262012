package jsonrpc

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/thresh-dev/thresh/sdk/content/rawjson"
)

// Request is a JSON-RPC 2.0 request, or a notification if ID is nil. Params stay raw until the method that they are for
// is known.
type Request struct {
	Version string `json:"jsonrpc"`
	// ID stays as it was written: 1 and "1" are two ids, and an answer must have the same.
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
}

// ReplyID is the id of a reply that must be sent even if the request had none.
func (r Request) ReplyID() json.RawMessage {
	if r.ID == nil {
		return json.RawMessage("null")
	}
	return r.ID
}

// Response answers a request. Exactly one of Result and Error is set, as JSON-RPC demands.
type Response struct {
	Version string `json:"jsonrpc"`
	// ID is that of the request, null if it could not be read.
	ID     json.RawMessage `json:"id"`
	Result any             `json:"result,omitempty"`
	Error  *Error          `json:"error,omitempty"`
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
	Code    int    `json:"code"`
	Message string `json:"message"`
	Data    any    `json:"data,omitempty"`
}

// Error returns the message alone: the code is for programs.
func (e *Error) Error() string { return e.Message }

// Parse reads one message. If that fails, the request holds the id as far as it could be read. Batches are refused,
// although JSON-RPC has them.
func Parse(line []byte) (Request, *Error) {
	var r Request
	// A batch would have to be answered in one message, which holds its first reply until the last is ready.
	if len(line) > 0 && line[0] == '[' {
		return r, &Error{Code: CodeInvalid, Message: "batches are not supported: send one request a line"}
	}
	if err := json.Unmarshal(line, &r); err != nil {
		if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
			return r, &Error{Code: CodeParse, Message: fmt.Sprintf("not JSON at byte %d: %v", syntax.Offset, err)}
		}
		return r, &Error{Code: CodeInvalid, Message: "not a request: " + err.Error()}
	}
	if !ValidID(r.ID) {
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

// ValidID reports whether an id is absent, null, text or a number. The JSON is valid here, so that its first character
// tells the type. Objects, lists and truth values are refused.
func ValidID(id json.RawMessage) bool {
	return len(id) == 0 || !strings.ContainsRune("{[tf", rune(id[0]))
}

// Encode returns a response as a line. The error of a result that has no JSON form is returned as the answer, because
// a request without a reply would wait for ever.
func Encode(r Response) []byte {
	r.Version = "2.0"
	text, err := rawjson.Encode(r)
	if err != nil {
		text, _ = rawjson.Encode(Response{Version: "2.0", ID: r.ID,
			Error: &Error{Code: CodeFailed, Message: "cannot encode the result: " + err.Error()}})
	}
	return text
}
