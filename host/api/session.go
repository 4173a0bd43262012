package api

import (
	"context"
	"encoding/json"

	"github.com/thresh-dev/thresh/sdk"
	"github.com/thresh-dev/thresh/sdk/content"
)

// Session is one conversation. It owns the history: do not change what was added, or slices that it returns. It is safe
// for concurrent use. Every error is an [*Error].
type Session interface {
	ID() string
	// State returns the system prompt and the size of the history, with what other hosts of the same store have added.
	State(context.Context) (StateAnswer, error)
	// Add appends entries or messages, all or none. It never waits for a Prepare.
	Add(context.Context, AddRequest) (AddAnswer, error)
	// Prepare makes the history fit the model and returns it. Call it before every model call. After an error the history
	// is valid, and the answer beside the error has it as it is; it is the zero value if the session is closed, cannot be
	// read, or the request is wrong.
	Prepare(context.Context, PrepareRequest) (PrepareAnswer, error)
	// Compress compresses the history now, regardless of the threshold. The outcome says why nothing was done.
	Compress(context.Context) (CompressAnswer, error)
	// SetSystem replaces the system prompt. No strategy sees it and nothing removes it. It counts with the pending tokens
	// of every request.
	SetSystem(context.Context, SystemRequest) (SystemAnswer, error)
	// Set overrides one setting for this session, from the next Prepare on.
	Set(context.Context, SetRequest) error
	// SetTodos replaces the agent's task list. Strategies that summarise are told the unfinished tasks. Until it is
	// called, the session reads the list from calls of known tools.
	SetTodos(context.Context, TodosRequest) error
	// ReportUsage takes what the provider counted for the last prepared request. Later threshold checks go by it.
	ReportUsage(context.Context, UsageRequest) error
	// History returns the owned history, including what is not sent to a model.
	History(context.Context) (HistoryAnswer, error)
	// Recorded returns entries as they were added, before any strategy changed them.
	Recorded(context.Context, RecordedRequest) (RecordedAnswer, error)
	// Search finds passages by words in everything that was added and that the last prepared history does not have as it
	// was added, the best first; or reads lines. Nothing found is no error.
	Search(context.Context, SearchRequest) (SearchAnswer, error)
	// Explain returns what became of entries, and why, in the order in which it was done.
	Explain(context.Context, ExplainRequest) (ExplainAnswer, error)
	// Close closes the session; what is stored stays. If its transcript cannot be written, it stays open: make room and
	// call Close again.
	Close(context.Context) error
}

// Empty is the parameters or the result of a method that has none.
type Empty struct{}

// Of is embedded by the requests about a session. The methods of a [Session] ignore it: they are about that one.
type Of struct {
	// Owner is whom the session belongs to, in a program that serves several: ids of different owners are separate. "" is
	// the user who runs the host. A host that is served sets it.
	Owner   string `json:"-"`
	Session string `json:"session" jsonschema:"the session's id"`
}

// About is the id of the session.
func (o Of) About() string { return o.Session }

// StateAnswer is what an agent needs to continue a session; the counts are in tokens.
type StateAnswer struct {
	Session      string            `json:"session"`
	System       []json.RawMessage `json:"system" jsonschema:"text blocks"`
	SystemTokens int               `json:"systemTokens"`
	Entries      int               `json:"entries"`
	Tokens       int               `json:"tokens"`
	Revision     uint64            `json:"revision"`
}

// SystemRequest has the prompt as a text or a list of text parts, in the native form or a provider's. Null and ""
// remove it. [Prompt] makes one.
type SystemRequest struct {
	Of
	System json.RawMessage `json:"system,omitempty" jsonschema:"absent, null or empty removes it"`
}

// SystemAnswer has the tokens of the prompt.
type SystemAnswer struct {
	Tokens int `json:"tokens"`
}

// Prompt makes a system prompt of blocks of text, for [SystemRequest] and [OpenRequest]; nil of none.
func Prompt(parts ...content.Block) json.RawMessage {
	if len(parts) == 0 {
		return nil
	}
	out := []byte{'['}
	for i, p := range parts {
		if i > 0 {
			out = append(out, ',')
		}
		out = content.AppendBlock(out, p)
	}
	return append(out, ']')
}

// SetRequest has any JSON as the value, or a value of the setting's type; null removes the override.
type SetRequest struct {
	Of
	Key   string `json:"key" jsonschema:"of those with session in the last column of configuration.md"`
	Value any    `json:"value,omitempty" jsonschema:"the value, or the value as text; null removes the override"`
}

// TodosRequest has the whole list; an empty one removes all todos.
type TodosRequest struct {
	Of
	Todos []sdk.Todo `json:"todos" jsonschema:"the whole list"`
}

// UsageRequest has the provider's own count of the last request, including what it read from its cache.
type UsageRequest struct {
	Of
	PromptTokens int `json:"promptTokens" jsonschema:"above 0; cached ones are included"`
}
