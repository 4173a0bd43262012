package client

import (
	"context"
	"encoding/json"
)

// CompressOptions are what [Client.Compress] goes by; the zero value is the host's settings.
type CompressOptions struct {
	// Model is whose window, tokenizer and prices count. Format is the form of the messages: "anthropic", "openai-chat" or
	// "openai-responses"; "" is recognised. Strategy is one that calls no model.
	Model, Format, Strategy string
	// ContextLimit is in tokens; 0 is the model's.
	ContextLimit int
	// NoRecall says that the model cannot ask for a removed result: then no id stands in its place.
	NoRecall bool
}

// Compressed are messages to send as they are. Unchanged says why nothing was tried; "" if something was.
type Compressed struct {
	Messages     []json.RawMessage `json:"messages"`
	Format       string            `json:"format"`
	TokensBefore int               `json:"tokensBefore"`
	TokensAfter  int               `json:"tokensAfter"`
	Removed      []Removed         `json:"removed"`
	Unchanged    string            `json:"unchanged"`
}

// Removed is a part that is not sent as it came: of the message at a position. ID is for [Client.Retrieve]; "" for
// attachments and reasoning. Tool is that of a call or a result.
type Removed struct {
	ID      string `json:"id"`
	Message int    `json:"message"`
	Kind    string `json:"kind"`
	Tool    string `json:"tool"`
}

// Compress makes a whole conversation small, without a session: as the caller holds it, not what an earlier call
// returned. It is recognised by its content, so that what was sent before is sent again, and the provider's prompt cache
// is read.
func (c *Client) Compress(ctx context.Context, messages []json.RawMessage, o CompressOptions) (Compressed, error) {
	return call[Compressed](ctx, c, "messages.compress", members{"messages": messages, "model": o.Model,
		"format": o.Format, "strategy": o.Strategy, "contextLimit": o.ContextLimit, "recall": !o.NoRecall})
}

// Retrieve returns the text of a removed part.
func (c *Client) Retrieve(ctx context.Context, id string) (string, error) {
	part, err := call[struct{ Content string }](ctx, c, "messages.retrieve", members{"id": id})
	return part.Content, err
}
