package client

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/thresh-dev/thresh/host/outcome"
	"github.com/thresh-dev/thresh/proto/thresh/v1/sessionv1"
	"github.com/thresh-dev/thresh/sdk"
	"github.com/thresh-dev/thresh/sdk/content"
)

// Session is one conversation.
type Session struct {
	rpc sessionv1.SessionServiceClient
	id  string

	// preparing lets one Prepare run at a time, as the host does. It guards kept, the last answer: the next transfers
	// only what changed since.
	preparing sync.Mutex
	kept      []content.Content
	revision  *uint64 // of kept; nil for none
}

func (s *Session) ID() string { return s.id }

// State is the size of a history.
type State struct {
	// Revision counts changes of the history; Tokens is the whole history's, by the host's count.
	Revision uint64
	Tokens   int
	// Entries is set by [Session.State] alone.
	Entries int
}

// State returns the size of the history, its entries included.
func (s *Session) State(ctx context.Context) (State, error) {
	got, err := s.rpc.Get(ctx, &sessionv1.GetRequest{Session: s.id})
	return State{got.GetRevision(), int(got.GetTokens()), int(got.GetEntries())}, failed(ctx, err)
}

// Add appends entries, all or none. They are stored when it returns. After a retryable error it is tried again for some
// seconds; it takes place once.
func (s *Session) Add(ctx context.Context, entries ...content.Content) (State, error) {
	return s.AddOnce(ctx, rand.Text(), entries...)
}

// AddOnce is Add with the caller's key, such as an [Error]'s: a repeated call with the same key gets the first one's
// answer and adds nothing. The host remembers the last 128 keys of a session.
func (s *Session) AddOnce(ctx context.Context, key string, entries ...content.Content) (State, error) {
	texts := make([]string, len(entries))
	for i, e := range entries {
		text, err := e.MarshalJSON()
		if err != nil {
			return State{}, &Error{Kind: "entry", Entry: &i, Err: err}
		}
		texts[i] = string(text)
	}
	return s.add(ctx, &sessionv1.AddRequest{Session: s.id, Entries: texts, Key: key})
}

// AddMessages appends messages in a provider's form: "anthropic", "openai-chat" or "openai-responses".
func (s *Session) AddMessages(ctx context.Context, form string, messages ...json.RawMessage) (State, error) {
	return s.AddMessagesOnce(ctx, rand.Text(), form, messages...)
}

// AddMessagesOnce is AddMessages with the caller's key, as AddOnce has one.
func (s *Session) AddMessagesOnce(ctx context.Context, key, form string, messages ...json.RawMessage) (State, error) {
	texts := make([]string, len(messages))
	for i, m := range messages {
		texts[i] = string(m)
	}
	return s.add(ctx, &sessionv1.AddRequest{Session: s.id, Format: form, Messages: texts, Key: key})
}

// An addition is tried for as long as a host takes to restart.
const (
	addFor     = 5 * time.Second
	firstPause = 50 * time.Millisecond
	mostPause  = time.Second
)

func (s *Session) add(ctx context.Context, r *sessionv1.AddRequest) (State, error) {
	until := time.Now().Add(addFor)
	for pause := firstPause; ; pause = min(2*pause, mostPause) {
		added, err := s.rpc.Add(ctx, r)
		if err == nil {
			return State{Revision: added.GetRevision(), Tokens: int(added.GetTokens())}, nil
		}
		failed := failure(ctx, err)
		failed.Key = r.GetKey()
		if !failed.Retryable || r.GetKey() == "" || time.Now().Add(pause).After(until) {
			return State{}, failed
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return State{}, failed
		}
	}
}

type PrepareOptions struct {
	// PendingTokens is what the request contains besides the history and the session's system prompt.
	PendingTokens int
}

// Prepared is a history that is safe to send. It must not be changed.
type Prepared struct {
	History  []content.Content
	Tokens   int
	Revision uint64
	Outcome  outcome.Outcome
}

// Prepare makes the history fit the model and returns it. Call it before every model call. It transfers only what
// changed since the last time, so its cost does not depend on the length of the history.
//
// If the turn fails, Prepared has the history as it is, next to the error.
func (s *Session) Prepare(ctx context.Context, o PrepareOptions) (Prepared, error) {
	s.preparing.Lock()
	defer s.preparing.Unlock()
	stream, err := s.rpc.PrepareStream(ctx, &sessionv1.PrepareRequest{
		Session: s.id, PendingTokens: int32(o.PendingTokens), Since: s.revision, Unprepared: true,
	})
	if err != nil {
		return Prepared{}, failure(ctx, err)
	}
	var (
		first  *sessionv1.PrepareResponse
		fresh  []content.Content
		broken error
	)
	for {
		part, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return Prepared{}, failure(ctx, err)
		}
		if first == nil {
			first = part
		}
		for _, text := range part.GetHistory() {
			var e content.Content
			broken = errors.Join(broken, e.UnmarshalJSON([]byte(text)))
			fresh = append(fresh, e)
		}
	}
	if first == nil {
		return Prepared{}, unreadable(io.ErrUnexpectedEOF)
	}
	ready := Prepared{Tokens: int(first.GetTokens()), Revision: first.GetRevision()}
	broken = errors.Join(broken, json.Unmarshal([]byte(first.GetOutcome()), &ready.Outcome))
	keep := int(first.GetKeep())
	if keep > len(s.kept) {
		broken = errors.Join(broken, fmt.Errorf("it builds on %d entries, this client has %d", keep, len(s.kept)))
	}
	if broken != nil {
		s.kept, s.revision = nil, nil // the next one gets everything
		return Prepared{}, unreadable(broken)
	}
	// Callers share what is kept: nothing in it changes, new entries follow what any caller has.
	kept := s.kept[:keep]
	if keep < len(s.kept) {
		kept = slices.Clip(kept)
	}
	kept = append(kept, fresh...)
	ready.History = slices.Clip(kept)
	if e := first.GetError(); e != nil {
		s.kept, s.revision = nil, nil
		return ready, ofDetail(e.GetDetail(), errors.New(e.GetMessage()))
	}
	s.kept, s.revision = kept, &ready.Revision
	return ready, nil
}

// Compress compresses now, regardless of the threshold.
func (s *Session) Compress(ctx context.Context) (outcome.Outcome, error) {
	var o outcome.Outcome
	got, err := s.rpc.CompressHistory(ctx, &sessionv1.CompressHistoryRequest{Session: s.id})
	if err != nil {
		return o, failure(ctx, err)
	}
	if err := json.Unmarshal([]byte(got.GetOutcome()), &o); err != nil {
		return o, unreadable(err)
	}
	return o, nil
}

// ReportUsage takes the prompt tokens that the provider counted for the last prepared request.
func (s *Session) ReportUsage(ctx context.Context, promptTokens int) error {
	_, err := s.rpc.ReportUsage(ctx, &sessionv1.ReportUsageRequest{Session: s.id, PromptTokens: int32(promptTokens)})
	return failed(ctx, err)
}

// Set overrides one setting from the next Prepare on; nil removes the override.
func (s *Session) Set(ctx context.Context, key string, value *string) error {
	_, err := s.rpc.Set(ctx, &sessionv1.SetRequest{Session: s.id, Key: key, Value: value})
	return failed(ctx, err)
}

// SetSystem sets the system prompt; "" removes it.
func (s *Session) SetSystem(ctx context.Context, prompt string) error {
	request := &sessionv1.SetSystemRequest{Session: s.id}
	if prompt != "" {
		request.System = &sessionv1.System{Prompt: &sessionv1.System_Text{Text: prompt}}
	}
	_, err := s.rpc.SetSystem(ctx, request)
	return failed(ctx, err)
}

// SetTodos replaces the agent's task list.
func (s *Session) SetTodos(ctx context.Context, list []sdk.Todo) error {
	_, err := s.rpc.SetTodos(ctx, &sessionv1.SetTodosRequest{Session: s.id, Todos: tasks(list)})
	return failed(ctx, err)
}

func tasks(list []sdk.Todo) []*sessionv1.Task {
	out := make([]*sessionv1.Task, len(list))
	for i, t := range list {
		out[i] = &sessionv1.Task{Id: t.ID, Content: t.Content, Status: t.Status, Subtasks: tasks(t.Subtasks)}
	}
	return out
}

// Recorded returns entries as they were added, by the id of an entry or of a tool call.
func (s *Session) Recorded(ctx context.Context, id string) ([]content.Content, error) {
	got, err := s.rpc.GetRecorded(ctx, &sessionv1.GetRecordedRequest{Session: s.id, Id: id})
	if err != nil {
		return nil, failure(ctx, err)
	}
	return entries(got.GetEntries())
}

// Explain returns what happened to the entry with an id, or to those with the tool call of that id; "" is all entries.
func (s *Session) Explain(ctx context.Context, id string) (all []outcome.Logged, err error) {
	stream, err := s.rpc.Explain(ctx, &sessionv1.ExplainRequest{Session: s.id, Id: id})
	if err != nil {
		return nil, failure(ctx, err)
	}
	for {
		part, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		if err != nil {
			return nil, failure(ctx, err)
		}
		for _, text := range part.GetChanges() {
			var c outcome.Logged
			if err := json.Unmarshal([]byte(text), &c); err != nil {
				return nil, unreadable(err)
			}
			all = append(all, c)
		}
	}
}

// History returns the owned history, including what is not sent to a model.
func (s *Session) History(ctx context.Context) ([]content.Content, error) {
	stream, err := s.rpc.GetHistory(ctx, &sessionv1.GetHistoryRequest{Session: s.id})
	if err != nil {
		return nil, failure(ctx, err)
	}
	var texts []string
	for {
		part, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return entries(texts)
		}
		if err != nil {
			return nil, failure(ctx, err)
		}
		texts = append(texts, part.GetHistory()...)
	}
}

func entries(texts []string) ([]content.Content, error) {
	list := make([]content.Content, len(texts))
	for i, text := range texts {
		if err := list[i].UnmarshalJSON([]byte(text)); err != nil {
			return nil, unreadable(err)
		}
	}
	return list, nil
}

// Close ends the work with the session.
func (s *Session) Close(ctx context.Context) error {
	_, err := s.rpc.Close(ctx, &sessionv1.CloseRequest{Session: s.id})
	return failed(ctx, err)
}
