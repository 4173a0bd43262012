package api

import (
	"encoding/json"

	"github.com/thresh-dev/thresh/host/outcome"
	"github.com/thresh-dev/thresh/sdk/content"
)

// AddRequest has entries in the native form or, with a Format, messages in a provider's.
type AddRequest struct {
	Of
	// Entries are counted once each, in 10 to 120 ms per megabyte. One that is not well formed is refused, and so is one
	// with a block of unknown kind: it is usually misspelt or a provider's own form.
	Entries []content.Content `json:"entries,omitempty" jsonschema:"in the entry format"`
	// Opaque takes blocks of unknown types as they are; they are then never pruned.
	Opaque bool `json:"opaque,omitempty" jsonschema:"accepts blocks of unknown types and carries them as they are"`
	// Lenient refuses nothing, to continue a stored conversation: entries that cannot be sent to a model are kept in the
	// history, withheld by Prepare, and named in its outcome. A host that is served does not have it.
	Lenient bool `json:"-"`
	// Format is the form of Messages. System and Instructions are the same, as different providers name it.
	//
	// Messages of the system or the developer that come before all others become part of the system prompt; later ones
	// are pinned. Unknown parts and fields are carried.
	Format       Form              `json:"format,omitempty" jsonschema:"of messages"`
	Messages     []json.RawMessage `json:"messages,omitempty" jsonschema:"in place of entries"`
	System       json.RawMessage   `json:"system,omitempty" jsonschema:"with format: replaces the system prompt"`
	Instructions json.RawMessage   `json:"instructions,omitempty" jsonschema:"the same as system"`
	// Key makes the same request again take place once, also after a restart or on another host of the store; "" is none.
	// The last 128 keys of a session are remembered. A client makes one up, which is [Error.Key].
	Key string `json:"key,omitempty" jsonschema:"makes the addition safe to repeat"`
}

// Entries is the request to add entries.
func Entries(entries ...content.Content) AddRequest { return AddRequest{Entries: entries} }

// AddAnswer has the revision and the tokens of the history after the addition.
type AddAnswer struct {
	Revision uint64 `json:"revision" jsonschema:"the number of changes to the history"`
	Tokens   int    `json:"tokens" jsonschema:"of the whole history, by the host's count"`
}

// HistoryAnswer is the owned history. History is never null.
type HistoryAnswer struct {
	History  []content.Content `json:"history"`
	Tokens   int               `json:"tokens"`
	Revision uint64            `json:"revision"`
}

// RecordedRequest has the id of an entry (e12), of a mark ([thresh_recall: ID]) or of a tool call.
type RecordedRequest struct {
	Of
	ID string `json:"id" jsonschema:"of an entry (e17), of a mark, or of a tool call, which returns the call and its responses"`
}

// RecordedAnswer has the entries as they were added; the id of a call finds the call and its responses.
type RecordedAnswer struct {
	Entries []content.Content `json:"entries"`
}

// ExplainRequest has the id of an entry (e12) or of a tool call; "" is all entries.
type ExplainRequest struct {
	Of
	ID string `json:"id,omitempty" jsonschema:"of an entry (e17) or of a tool call; absent for all entries"`
}

// ExplainAnswer has changes in the order in which they were made; it is never null.
type ExplainAnswer struct {
	Changes []outcome.Logged `json:"changes" jsonschema:"as changes in an outcome, with strategy and the log's revision"`
}

// SearchRequest has words to search for, or the place of lines to read. Passages with more of the words, and with rarer
// ones, come first; a word counts half for what is found after a passage with it. Names are also found by their parts. In
// quotes, a quote is written \", a backslash before one \\. Thinking and media are not searched.
type SearchRequest struct {
	Of
	Query string `json:"query,omitempty" jsonschema:"words, names, paths; a text in quotes must occur exactly so"`
	// Limit and Tokens are 0 for the defaults.
	Limit  int `json:"limit,omitempty" jsonschema:"most passages; 3 if absent, at most 100"`
	Tokens int `json:"tokens,omitempty" jsonschema:"of all passages; 500 if absent, 150 for each above three; at most 100,000"`
	// Place is nil for a search. It may reach beyond the block's lines: the passage has those that exist.
	Place *outcome.Place `json:"place,omitempty" jsonschema:"instead: the lines to read, such as more around a passage"`
}

// SearchAnswer has the best passage first. Passages is never null.
type SearchAnswer struct {
	outcome.Found
}
