package service

import (
	"context"
	"encoding/json"
	"time"

	"github.com/thresh-dev/thresh/host"
	"github.com/thresh-dev/thresh/sdk"
	"github.com/thresh-dev/thresh/sdk/content"
)

// Session is an open session, as doors call it.
type Session struct {
	host    *host.Session
	key     key
	service *Service
}

// OpenRequest describes a session. ID "" is a random one. Settings override the host's, by key. System is as in
// [SystemRequest]; nil keeps a reopened session's.
type OpenRequest struct {
	// Owner is the name of the access token; "" is the local user. A door sets it, not an agent.
	Owner string `json:"-"`
	// Existing opens only a session that is kept.
	Existing bool            `json:"-"`
	ID       string          `json:"id,omitempty" jsonschema:"at most 512 bytes; random if absent"`
	Settings map[string]any  `json:"settings,omitempty" jsonschema:"by key, over those of the host"`
	System   json.RawMessage `json:"system,omitempty" jsonschema:"absent leaves the one it has"`
}

// OpenAnswer has the session's id and the size of its history, which is not empty if the session was kept.
type OpenAnswer struct {
	Session  string `json:"session"`
	Revision uint64 `json:"revision"`
	Tokens   int    `json:"tokens"`
	Entries  int    `json:"entries"`
}

// Opened describes a session that was just opened.
func (s *Session) Opened() (OpenAnswer, error) {
	size, err := s.Size(nil)
	return OpenAnswer{s.ID(), size.Revision, size.Tokens, size.Entries}, err
}

// ListRequest asks for a page of the token's sessions.
type ListRequest struct {
	After string `json:"after,omitempty" jsonschema:"only ids that follow this one: the last of the page before"`
	Limit int    `json:"limit,omitempty" jsonschema:"at most this many; 100 if absent"`
}

// ListAnswer is a page, in the order of the ids. Sessions is never null.
type ListAnswer struct {
	Sessions []Listed `json:"sessions"`
	More     bool     `json:"more" jsonschema:"there is another page"`
}

// Listed is a session in a list. One that is open and not stored has no times and no bytes.
type Listed struct {
	Session string    `json:"session"`
	Entries int       `json:"entries"`
	Tokens  int       `json:"tokens"`
	Created time.Time `json:"created,omitzero"`
	Used    time.Time `json:"used,omitzero" jsonschema:"when something was last written"`
	Bytes   int64     `json:"bytes,omitempty" jsonschema:"what it takes in the store"`
}

// CancelRequest has the id of a request as it was sent: text or a number.
type CancelRequest struct {
	ID json.RawMessage `json:"id" jsonschema:"of the request: text or a number"`
}

// CancelAnswer is the answer to a cancel, which is a request like any other.
type CancelAnswer struct {
	Canceled bool `json:"canceled" jsonschema:"false if there is no such request"`
}

// Open opens a session, which must not be open; on an error there is none.
func (s *Service) Open(ctx context.Context, r OpenRequest) (*Session, error) {
	opened, err := s.host.Session(host.SessionOptions{
		Owner: r.Owner, ID: r.ID, Existing: r.Existing, Settings: r.Settings,
	})
	if err != nil {
		return nil, inSettings(r.Settings, err)
	}
	session, begun := &Session{opened, key{r.Owner, opened.ID()}, s}, false
	defer func() {
		if !begun {
			_ = opened.Close() // nothing was added
		}
	}()
	if r.System != nil {
		if err := session.setSystem(ctx, r.System); err != nil {
			return nil, err
		}
	}
	begun = true
	return session, nil
}

// Again returns a usable session: the same one, or, if that has ended without having been closed here, what is kept of
// it. The error wraps [host.ErrNoSession] if there is nothing.
func (s *Service) Again(ctx context.Context, session *Session) (*Session, error) {
	if !session.host.Closed() {
		return session, nil
	}
	return s.Open(ctx, OpenRequest{Owner: session.key.owner, ID: session.key.id, Existing: true})
}

func (s *Session) ID() string { return s.key.id }

// Close closes the session. After an error, such as a transcript that cannot be written, it is still open.
func (s *Session) Close() error { return s.host.Close() }

func (s *Session) close(context.Context, Of) (Empty, error) { return Empty{}, s.Close() }

// Mark returns the moment after everything that was added so far.
func (s *Session) Point() (host.Point, error) { return s.host.Point() }

// Size returns the size of the history without what was added after a point; nil is now.
func (s *Session) Size(upTo *host.Point) (host.Size, error) { return s.host.Size(upTo) }

// StateAnswer is what an agent needs to continue a session; the counts are in tokens.
type StateAnswer struct {
	Session      string            `json:"session"`
	System       []json.RawMessage `json:"system" jsonschema:"text blocks"`
	SystemTokens int               `json:"systemTokens"`
	Entries      int               `json:"entries"`
	Tokens       int               `json:"tokens"`
	Revision     uint64            `json:"revision"`
}

// State returns no entries, so it is cheap however long the history is. It sees what other hosts of the same store have
// added.
func (s *Session) State(ctx context.Context, r Moment) (StateAnswer, error) {
	upTo, err := s.host.Refresh(ctx, r.UpTo)
	if err != nil {
		return StateAnswer{}, err
	}
	h, err := s.host.Size(upTo)
	if err != nil {
		return StateAnswer{}, err
	}
	system, err := s.host.System()
	if err != nil {
		return StateAnswer{}, err
	}
	return StateAnswer{
		Session: s.host.ID(), System: systemBlocks(system), SystemTokens: s.host.SystemTokens(),
		Entries: h.Entries, Tokens: h.Tokens, Revision: h.Revision,
	}, nil
}

// SystemRequest has the prompt as a text or a list of text parts, in the native form or a provider's. Null and ""
// remove it.
type SystemRequest struct {
	Of
	System json.RawMessage `json:"system,omitempty" jsonschema:"absent, null or empty removes it"`
}

type SystemAnswer struct {
	Tokens int `json:"tokens"`
}

// SetSystem sets the system prompt.
func (s *Session) SetSystem(ctx context.Context, r SystemRequest) (SystemAnswer, error) {
	if err := s.setSystem(ctx, r.System); err != nil {
		return SystemAnswer{}, err
	}
	return SystemAnswer{s.host.SystemTokens()}, nil
}

func (s *Session) setSystem(ctx context.Context, raw json.RawMessage) error {
	// Null and "" are what libraries send for "none".
	var blocks []content.Block
	if text := string(raw); text != "" && text != "null" && text != `""` {
		var err error
		if blocks, err = host.ParseSystem(raw); err != nil {
			return in("", "system", err)
		}
	}
	return s.host.SetSystem(ctx, blocks...)
}

// SetRequest has any JSON as the value; null removes the override.
type SetRequest struct {
	Of
	Key   string `json:"key" jsonschema:"of those with session in the last column of configuration.md"`
	Value any    `json:"value,omitempty" jsonschema:"the value, or the value as text; null removes the override"`
}

// Set returns the error of the settings, which names the key, the value and what is allowed.
func (s *Session) Set(ctx context.Context, r SetRequest) (Empty, error) {
	if r.Key == "" {
		return Empty{}, wrongRequest("key", `"key" is missing`)
	}
	return Empty{}, inSetting(s.host.Set(ctx, r.Key, r.Value))
}

// TodosRequest has the whole list; an empty one removes all todos.
type TodosRequest struct {
	Of
	Todos []sdk.Todo `json:"todos" jsonschema:"the whole list"`
}

// SetTodos replaces the list; the next Compress is told of it.
func (s *Session) SetTodos(ctx context.Context, r TodosRequest) (Empty, error) {
	return Empty{}, in("", "todos", s.host.SetTodos(ctx, r.Todos))
}

// UsageRequest has the provider's own count of the last request, including what it read from its cache.
type UsageRequest struct {
	Of
	PromptTokens int `json:"promptTokens" jsonschema:"above 0; cached ones are included"`
}

// ReportUsage calibrates the session's counts by the last Prepare.
func (s *Session) ReportUsage(ctx context.Context, r UsageRequest) (Empty, error) {
	// Agents that do not know send 0. Calibrating by it would make all later counts too small.
	if r.PromptTokens <= 0 {
		return Empty{}, wrongRequest("promptTokens", `"promptTokens" must be above 0`)
	}
	return Empty{}, s.host.ReportUsage(ctx, r.PromptTokens)
}

// systemBlocks returns an empty list, never null, for no blocks.
func systemBlocks(blocks []content.Block) []json.RawMessage {
	out := make([]json.RawMessage, len(blocks))
	for i, b := range blocks {
		out[i] = content.AppendBlock(nil, b)
	}
	return out
}
