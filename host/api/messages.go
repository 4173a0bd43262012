package api

import (
	"context"
	"encoding/json"
	"fmt"
)

// Form is a provider's form of messages.
type Form string

// The forms of messages.
const (
	// Anthropic is the form of the Messages API.
	Anthropic Form = "anthropic"
	// OpenAIChat is the form of the Chat Completions API, which many servers share.
	OpenAIChat Form = "openai-chat"
	// OpenAIResponses is the form of the items of the Responses API.
	OpenAIResponses Form = "openai-responses"
)

// Check refuses an unknown form. "" is none, which is known.
func (f Form) Check() error {
	switch f {
	case "", Anthropic, OpenAIChat, OpenAIResponses:
		return nil
	}
	return Refuse("format", `"format": %.40q: unknown form of messages; want %s, %s or %s`, string(f), Anthropic,
		OpenAIChat, OpenAIResponses)
}

// Alone makes messages small that come without a session, and gives back what it removed. A conversation is recognised
// by its content.
type Alone interface {
	// Compress makes a whole conversation small, as the caller holds it and not as an earlier call returned it, so that
	// what was sent before is sent again and the provider's prompt cache is read.
	Compress(context.Context, CompressMessages) (CompressedMessages, error)
	// Retrieve returns a removed part while the conversation is kept.
	Retrieve(context.Context, RetrieveRequest) (RetrieveAnswer, error)
}

// CompressMessages has a whole conversation in a provider's form.
type CompressMessages struct {
	Messages     []json.RawMessage `json:"messages" jsonschema:"all, but never those of an earlier answer"`
	Model        string            `json:"model,omitempty" jsonschema:"the setting if absent"`
	Format       Form              `json:"format,omitempty" jsonschema:"recognised if absent"`
	Strategy     string            `json:"strategy,omitempty" jsonschema:"one without a model; the setting if absent"`
	ContextLimit int               `json:"contextLimit,omitempty" jsonschema:"the model's if absent"`
	// Recall is true if it is nil.
	Recall *bool `json:"recall,omitempty" jsonschema:"the model can ask for a removed result by its id; true if absent"`
}

// CompressedMessages has the messages to send. Unchanged is "single-question" (no answer of the model yet), "compaction"
// (the caller asks for a summary of everything), or "open-tools" (a call has no result). Both counts are the
// host's, of the request with the messages in it. Messages and Removed are never null.
type CompressedMessages struct {
	Messages     []json.RawMessage `json:"messages"`
	Format       Form              `json:"format"`
	TokensBefore int               `json:"tokensBefore"`
	TokensAfter  int               `json:"tokensAfter"`
	Removed      []Removed         `json:"removed" jsonschema:"what they lack: id, message, kind, tool"`
	Unchanged    string            `json:"unchanged,omitempty" jsonschema:"why nothing was tried"`
}

// Removed is a part of the messages that is not sent as it came. ID is "" for one that cannot be given back: an
// attachment, or the model's reasoning.
type Removed struct {
	ID      string `json:"id,omitempty" jsonschema:"for messages.retrieve; absent for attachments and reasoning"`
	Message int    `json:"message" jsonschema:"position of the message that it was in"`
	Kind    string `json:"kind" jsonschema:"as in an entry: text, tool_call, tool_response, media, thinking"`
	Tool    string `json:"tool,omitempty" jsonschema:"of a call or a result"`
}

// RetrieveRequest names a removed part.
type RetrieveRequest struct {
	ID string `json:"id"`
}

// RetrieveAnswer has the part as it was.
type RetrieveAnswer struct {
	ID      string `json:"id"`
	Kind    string `json:"kind"`
	Tool    string `json:"tool,omitempty"`
	Content string `json:"content"`
}

// Connection is a stream of requests, one of which can cancel another.
type Connection interface {
	Cancel(context.Context, CancelRequest) (CancelAnswer, error)
}

// CancelRequest has the id of a request as it was sent: text or a number.
type CancelRequest struct {
	ID json.RawMessage `json:"id" jsonschema:"of the request: text or a number"`
}

// CancelAnswer is the answer to a cancel, which is a request like any other.
type CancelAnswer struct {
	Canceled bool `json:"canceled" jsonschema:"false if there is no such request"`
}

// Path is the path of an element of a list in a request, or of a part of it.
func Path(list string, at int, part string) string {
	path := fmt.Sprintf("%s[%d]", list, at)
	if part != "" {
		path += "." + part
	}
	return path
}
