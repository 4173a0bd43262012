package service

import (
	"encoding/json"

	"github.com/thresh-dev/thresh/host"
	"github.com/thresh-dev/thresh/internal/failure"
)

// Messages of callers that keep no session. The doors have them done by the proxy, which recognises a conversation by
// its content.

// CompressMessages has a whole conversation in a provider's form.
type CompressMessages struct {
	Messages     []json.RawMessage `json:"messages" jsonschema:"all, but never those of an earlier answer"`
	Model        string            `json:"model,omitempty" jsonschema:"the setting if absent"`
	Format       host.Form         `json:"format,omitempty" jsonschema:"recognised if absent"`
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
	Format       host.Form         `json:"format"`
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

// ErrNoPart: nothing that was removed has an id, or it is no longer kept.
var ErrNoPart = failure.New(failure.Entry, "nothing that was removed has this id, or it is no longer kept")
