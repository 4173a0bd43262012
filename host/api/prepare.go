package api

import (
	"encoding/json"
	"time"

	"github.com/thresh-dev/thresh/host/outcome"
	"github.com/thresh-dev/thresh/sdk/content"
)

// PrepareRequest is about the request that the agent is about to make. The zero value is one of the history alone.
type PrepareRequest struct {
	Of
	// PendingTokens is what the request holds besides the history and the system prompt; 0 if nothing.
	PendingTokens int `json:"pendingTokens,omitempty" jsonschema:"of the rest of the request, such as tool schemas"`
	// Recall says that the model has the tool: shortened results then have ids, which [Session.Recorded] takes. The setting
	// compression.recall says it of every request.
	Recall bool `json:"recall,omitempty" jsonschema:"the model has the tool thresh_recall: shortened results have an id for it"`
	// Format is the form of the answer; "" is the native one.
	Format Form `json:"format,omitempty" jsonschema:"return messages in this form"`
	// Since is the revision of a prepared history that the agent still has; nil if it has none. A client has its own, and
	// returns the whole all the same.
	Since *uint64 `json:"since,omitempty" jsonschema:"the last result's revision: return only what has changed"`
	// At is when the request is sent; zero is now. The cadence "priced" uses it to tell whether the prompt cache has
	// expired. A host that is served does not have it.
	At time.Time `json:"-"`
}

// PrepareAnswer is a history that is safe to send: every tool response follows its call, and nothing in it is refused by
// providers. It has entries, or messages in the requested form. It must not be changed.
type PrepareAnswer struct {
	// Keep is, with Since, how many of the entries or messages of that history come before those of the answer.
	Keep *int `json:"keep,omitempty" jsonschema:"with since"`
	// System is the system prompt, a list of text parts, and Instructions the same for the Responses API. With OpenAIChat
	// it is among the messages.
	System       json.RawMessage   `json:"system,omitempty"`
	Instructions json.RawMessage   `json:"instructions,omitempty" jsonschema:"with openai-responses"`
	History      []content.Content `json:"history,omitzero" jsonschema:"what to send"`
	Messages     []json.RawMessage `json:"messages,omitzero" jsonschema:"with format"`
	Notes        []string          `json:"notes,omitempty" jsonschema:"what the form cannot hold, and how many messages went"`
	Tokens       int               `json:"tokens"`
	SystemTokens int               `json:"systemTokens,omitempty"`
	Revision     uint64            `json:"revision"`
	Outcome      outcome.Outcome   `json:"outcome"`
}

// CompressAnswer has the size after the compress. The outcome says why, if nothing was compressed.
type CompressAnswer struct {
	Tokens   int             `json:"tokens"`
	Revision uint64          `json:"revision"`
	Outcome  outcome.Outcome `json:"outcome"`
}
