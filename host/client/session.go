package client

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"sync"
	"time"

	"github.com/thresh-dev/thresh/host/outcome"
	"github.com/thresh-dev/thresh/sdk"
	"github.com/thresh-dev/thresh/sdk/content"
)

// Session is one conversation.
type Session struct {
	client *Client
	id     string

	// preparing lets one Prepare run at a time, as the host does. It guards what the last one answered: the next
	// transfers only what changed since.
	preparing sync.Mutex
	form      string
	revision  *uint64 // nil for none
	history   []content.Content
	messages  []json.RawMessage
}

func (s *Session) ID() string { return s.id }

// with are the parameters of a method of the session.
func (s *Session) with(p members) members {
	if p == nil {
		p = members{}
	}
	p["session"] = s.id
	return p
}

// State is the size of a history.
type State struct {
	// Revision counts changes of the history; Tokens is the whole history's, by the host's count.
	Revision uint64 `json:"revision"`
	Tokens   int    `json:"tokens"`
	// Entries is set by [Session.State] alone.
	Entries int `json:"entries"`
}

// State returns the size of the history, its entries included.
func (s *Session) State(ctx context.Context) (State, error) {
	return call[State](ctx, s.client, "session.get", s.with(nil))
}

// Add appends entries, all or none. They are stored when it returns. After a retryable error it is tried again for some
// seconds; it takes place once.
func (s *Session) Add(ctx context.Context, entries ...content.Content) (State, error) {
	return s.AddOnce(ctx, rand.Text(), entries...)
}

// AddOnce is Add with the caller's key, such as an [Error]'s: a repeated call with the same key gets the first one's
// answer and adds nothing. The host remembers the last 128 keys of a session.
func (s *Session) AddOnce(ctx context.Context, key string, entries ...content.Content) (State, error) {
	list := make([]json.RawMessage, len(entries))
	for i, e := range entries {
		text, err := e.MarshalJSON()
		if err != nil {
			return State{}, &Error{Kind: "entry", Field: fmt.Sprintf("entries[%d]", i), Entry: &i, Err: err}
		}
		list[i] = text
	}
	return call[State](ctx, s.client, "history.add", s.with(members{"entries": list, "key": key}))
}

// AddMessages appends messages in a provider's form: "anthropic", "openai-chat" or "openai-responses".
func (s *Session) AddMessages(ctx context.Context, form string, messages ...json.RawMessage) (State, error) {
	return s.AddMessagesOnce(ctx, rand.Text(), form, messages...)
}

// AddMessagesOnce is AddMessages with the caller's key, as AddOnce has one.
func (s *Session) AddMessagesOnce(ctx context.Context, key, form string, messages ...json.RawMessage) (State, error) {
	return call[State](ctx, s.client, "history.add", s.with(members{
		"format": form, "messages": append([]json.RawMessage{}, messages...), "key": key,
	}))
}

// PrepareOptions describe the request that is about to be made.
type PrepareOptions struct {
	// PendingTokens is what the request contains besides the history and the session's system prompt.
	PendingTokens int
	// Recall says that the model has the tool thresh_recall: shortened results have an id for it, which
	// [Session.Recorded] takes too.
	Recall bool
	// Form has messages returned, in the form of a provider, in place of entries.
	Form string
}

// Prepared is a history that is safe to send. It must not be changed.
type Prepared struct {
	// History is what to send; with a form, Messages is.
	History  []content.Content `json:"history"`
	Messages []json.RawMessage `json:"messages"`
	// System is the system prompt as a list of text parts; Instructions is it with "openai-responses". With
	// "openai-chat" it is among the messages.
	System       json.RawMessage `json:"system"`
	Instructions json.RawMessage `json:"instructions"`
	// Notes say what the form cannot hold, and how many messages the turn took out.
	Notes        []string        `json:"notes"`
	Tokens       int             `json:"tokens"`
	SystemTokens int             `json:"systemTokens"`
	Revision     uint64          `json:"revision"`
	Outcome      outcome.Outcome `json:"outcome"`
}

// prepared is a Prepared as the host sends it: without what it has in common with the one before.
type prepared struct {
	Prepared
	Keep int `json:"keep"`
}

// Prepare makes the history fit the model and returns it. Call it before every model call. It transfers only what
// changed since the last time, so its cost does not depend on the length of the history.
//
// If the turn fails, Prepared has the history as it is, next to the error.
func (s *Session) Prepare(ctx context.Context, o PrepareOptions) (Prepared, error) {
	s.preparing.Lock()
	defer s.preparing.Unlock()
	p := s.with(members{"pendingTokens": o.PendingTokens, "recall": o.Recall, "format": o.Form})
	if o.Form == s.form && s.revision != nil {
		p["since"] = *s.revision
	}
	got, err := call[prepared](ctx, s.client, "window.prepare", p)
	if err == nil && got.Keep > max(len(s.history), len(s.messages)) {
		err = &Error{Kind: "internal", Err: fmt.Errorf("the host's answer cannot be read: it builds on %d entries, "+
			"this client has %d", got.Keep, max(len(s.history), len(s.messages)))}
	}
	if err != nil {
		s.revision, s.history, s.messages = nil, nil, nil // the next one gets everything
		failed, ok := errors.AsType[*Error](err)
		if ok && failed.prepared != nil && json.Unmarshal(failed.prepared, &got) == nil {
			return got.Prepared, err
		}
		return Prepared{}, err
	}
	if o.Form == "" {
		s.history, s.messages = follow(s.history, got.Keep, got.History), nil
	} else {
		s.history, s.messages = nil, follow(s.messages, got.Keep, got.Messages)
	}
	s.form, s.revision = o.Form, &got.Revision
	got.History, got.Messages = slices.Clip(s.history), slices.Clip(s.messages)
	return got.Prepared, nil
}

// follow returns what was kept of a list with what is new. Callers share what is kept: nothing in it changes, new
// elements follow what any caller has.
func follow[T any](kept []T, keep int, fresh []T) []T {
	list := kept[:keep]
	if keep < len(kept) {
		list = slices.Clip(list)
	}
	return append(list, fresh...)
}

// Compress compresses now, regardless of the threshold.
func (s *Session) Compress(ctx context.Context) (outcome.Outcome, error) {
	got, err := call[struct{ Outcome outcome.Outcome }](ctx, s.client, "history.compress", s.with(nil))
	return got.Outcome, err
}

// ReportUsage takes the prompt tokens that the provider counted for the last prepared request.
func (s *Session) ReportUsage(ctx context.Context, promptTokens int) error {
	return do(ctx, s.client, "usage.report", s.with(members{"promptTokens": promptTokens}))
}

// Set overrides one setting from the next Prepare on; nil removes the override.
func (s *Session) Set(ctx context.Context, key string, value *string) error {
	return do(ctx, s.client, "session.set", s.with(members{"key": key, "value": value}))
}

// SetSystem sets the system prompt; "" removes it.
func (s *Session) SetSystem(ctx context.Context, prompt string) error {
	return do(ctx, s.client, "session.setSystem", s.with(members{"system": prompt}))
}

// SetTodos replaces the agent's task list.
func (s *Session) SetTodos(ctx context.Context, list []sdk.Todo) error {
	return do(ctx, s.client, "todos.set", s.with(members{"todos": append([]sdk.Todo{}, list...)}))
}

// Recorded returns entries as they were added, by the id of an entry or of a tool call.
func (s *Session) Recorded(ctx context.Context, id string) ([]content.Content, error) {
	got, err := call[struct{ Entries []content.Content }](ctx, s.client, "history.recorded", s.with(members{"id": id}))
	return got.Entries, err
}

// Query is what [Session.Search] looks for.
type Query struct {
	// Words are words, names and paths; what stands in "double quotes" must occur exactly so.
	Words string
	// Limit is the most passages, 0 for 3; Tokens is how many they have together at most, 0 for 2,000.
	Limit, Tokens int
}

// Search finds passages of what was removed from the session, or shortened, by words, the best first. Nothing found is
// no error.
func (s *Session) Search(ctx context.Context, q Query) ([]outcome.Passage, error) {
	return s.search(ctx, members{"query": q.Words, "limit": q.Limit, "tokens": q.Tokens})
}

// Lines returns lines of what was added, sent or not, such as more around a passage. A place may reach beyond the
// block's lines: those that exist are returned.
func (s *Session) Lines(ctx context.Context, at outcome.Place) (outcome.Passage, error) {
	found, err := s.search(ctx, members{"place": at})
	if err != nil || len(found) == 0 {
		return outcome.Passage{}, err
	}
	return found[0], nil
}

func (s *Session) search(ctx context.Context, p members) ([]outcome.Passage, error) {
	got, err := call[struct {
		Passages []outcome.Passage `json:"passages"`
	}](ctx, s.client, "history.search", s.with(p))
	return got.Passages, err
}

// Explain returns what happened to the entry with an id, or to those with the tool call of that id; "" is all entries.
func (s *Session) Explain(ctx context.Context, id string) (all []outcome.Logged, err error) {
	err = lines(ctx, s.client, "history.explain", s.with(members{"id": id}),
		func(l struct{ Changes []outcome.Logged }) error { all = append(all, l.Changes...); return nil })
	return all, err
}

// History returns the owned history, including what is not sent to a model.
func (s *Session) History(ctx context.Context) (all []content.Content, err error) {
	err = lines(ctx, s.client, "history.get", s.with(nil),
		func(l struct{ History []content.Content }) error { all = append(all, l.History...); return nil })
	return all, err
}

// Turn is what a watch reports. One without a session says that the watch has begun, or begun again after the
// connection broke: turns before it are missing.
type Turn struct {
	Session string `json:"session"`
	// Method is "prepare" or "compress".
	Method        string          `json:"method"`
	Revision      uint64          `json:"revision"`
	Tokens        int             `json:"tokens"`
	PendingTokens int             `json:"pendingTokens"`
	Outcome       outcome.Outcome `json:"outcome"`
	// Err is why the turn failed, an [*Error]; nil if it did not.
	Err error `json:"-"`
	// Missed is how many turns before this one are missing, because they were not read in time.
	Missed int `json:"missed"`
}

// errLeft ends a watch whose caller has left the loop.
var errLeft = errors.New("left")

// Watch reports the turns of a session from now on, or with "" of all that the token has, until ctx ends or the loop is
// left. If the connection breaks, it watches again for some seconds.
func (c *Client) Watch(ctx context.Context, session string) iter.Seq2[Turn, error] {
	type line struct {
		Turn
		Error *failure `json:"error"`
	}
	return func(yield func(Turn, error) bool) {
		for until := time.Now().Add(tryFor); ; {
			err := lines(ctx, c, "session.watch", members{"session": session}, func(l line) error {
				until = time.Now().Add(tryFor)
				if l.Error != nil {
					l.Err = l.Error.failed()
				}
				if !yield(l.Turn, nil) {
					return &Error{Err: errLeft}
				}
				return nil
			})
			if errors.Is(err, errLeft) {
				return
			}
			failed, ok := errors.AsType[*Error](err)
			if err != nil && (!ok || !failed.Retryable || ctx.Err() != nil || time.Now().After(until)) {
				yield(Turn{}, err)
				return
			}
		}
	}
}

// Close ends the work with the session.
func (s *Session) Close(ctx context.Context) error {
	return do(ctx, s.client, "session.close", s.with(nil))
}
