package client

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/thresh-dev/thresh/host/api"
)

// Session is one conversation.
type Session struct {
	client *Client
	of     api.Of

	// preparing lets one Prepare run at a time, as the host does. It guards what the last one answered: the next
	// transfers only what changed since.
	preparing sync.Mutex
	form      api.Form
	last      *api.PrepareAnswer // nil for none
}

func (s *Session) ID() string { return s.of.Session }

// State returns the system prompt, and the size of the history.
func (s *Session) State(ctx context.Context) (api.StateAnswer, error) {
	return call[api.StateAnswer](ctx, s.client, "session.get", s.of)
}

// Add appends entries or messages, all or none. They are stored when it returns. After a retryable error it is tried
// again for some seconds; it takes place once. A request without a key gets one, which is in the error.
func (s *Session) Add(ctx context.Context, r api.AddRequest) (api.AddAnswer, error) {
	if r.Of = s.of; r.Key == "" {
		r.Key = rand.Text()
	}
	if r.Lenient {
		return api.AddAnswer{}, api.Refuse("", "a host that is served refuses what is no entry")
	}
	return call[api.AddAnswer](ctx, s.client, "history.add", r)
}

// Prepare makes the history fit the model and returns it. Call it before every model call. It transfers only what
// changed since the last time, so its cost does not depend on the length of the history.
//
// If the turn fails, the answer has the history as it is, next to the error.
func (s *Session) Prepare(ctx context.Context, r api.PrepareRequest) (api.PrepareAnswer, error) {
	s.preparing.Lock()
	defer s.preparing.Unlock()
	r.Of = s.of
	last := s.last
	s.last = nil // after an error the next one gets everything
	own := r.Since == nil
	if own && last != nil && r.Format == s.form {
		r.Since = &last.Revision
	} else {
		last = &api.PrepareAnswer{}
	}
	got, err := call[api.PrepareAnswer](ctx, s.client, "window.prepare", r)
	if e, ok := errors.AsType[*api.Error](err); ok && e.Prepared != nil {
		got, e.Prepared = *e.Prepared, nil
	}
	if err != nil || !own {
		return got, err
	}
	keep := 0
	if got.Keep != nil {
		keep = *got.Keep
	}
	if has := max(len(last.History), len(last.Messages)); keep > has {
		return api.PrepareAnswer{}, fault(api.KindInternal, fmt.Errorf("the host's answer cannot be read: it builds on %d "+
			"entries, this client has %d", keep, has)).Error
	}
	if got.Keep = nil; r.Format == "" {
		got.History = follow(last.History, keep, got.History)
	} else {
		got.Messages = follow(last.Messages, keep, got.Messages)
	}
	s.form, s.last = r.Format, &got
	shown := got
	shown.History, shown.Messages = slices.Clip(got.History), slices.Clip(got.Messages)
	return shown, nil
}

// follow returns what was kept of a list with what is new. Callers share what is kept: nothing in it changes, new
// elements follow what any caller has.
func follow[T any](kept []T, keep int, fresh []T) []T {
	if keep == 0 {
		return fresh
	}
	list := kept[:keep]
	if keep < len(kept) {
		list = slices.Clip(list)
	}
	return append(list, fresh...)
}

// Compress compresses now, regardless of the threshold.
func (s *Session) Compress(ctx context.Context) (api.CompressAnswer, error) {
	return call[api.CompressAnswer](ctx, s.client, "history.compress", s.of)
}

// ReportUsage takes the prompt tokens that the provider counted for the last prepared request.
func (s *Session) ReportUsage(ctx context.Context, r api.UsageRequest) error {
	r.Of = s.of
	return s.client.Call(ctx, "usage.report", r, nil)
}

// Set overrides one setting from the next Prepare on; nil removes the override.
func (s *Session) Set(ctx context.Context, r api.SetRequest) error {
	r.Of = s.of
	return s.client.Call(ctx, "session.set", r, nil)
}

// SetSystem sets the system prompt; none removes it.
func (s *Session) SetSystem(ctx context.Context, r api.SystemRequest) (api.SystemAnswer, error) {
	r.Of = s.of
	return call[api.SystemAnswer](ctx, s.client, "session.setSystem", r)
}

// SetTodos replaces the agent's task list.
func (s *Session) SetTodos(ctx context.Context, r api.TodosRequest) error {
	r.Of = s.of
	return s.client.Call(ctx, "todos.set", r, nil)
}

// Recorded returns entries as they were added, by the id of an entry, of a mark or of a tool call.
func (s *Session) Recorded(ctx context.Context, r api.RecordedRequest) (api.RecordedAnswer, error) {
	r.Of = s.of
	return call[api.RecordedAnswer](ctx, s.client, "history.recorded", r)
}

// Search finds passages of what was removed from the session, or shortened, by words, the best first; or reads lines.
func (s *Session) Search(ctx context.Context, r api.SearchRequest) (api.SearchAnswer, error) {
	r.Of = s.of
	return call[api.SearchAnswer](ctx, s.client, "history.search", r)
}

// Explain returns what happened to the entry with an id, or to those with the tool call of that id; "" is all entries.
func (s *Session) Explain(ctx context.Context, r api.ExplainRequest) (all api.ExplainAnswer, err error) {
	r.Of = s.of
	err = lines(ctx, s.client, "history.explain", r, func(l api.ExplainAnswer) error {
		if all.Changes != nil {
			l.Changes = append(all.Changes, l.Changes...)
		}
		all = l
		return nil
	})
	return all, err
}

// History returns the owned history, including what is not sent to a model.
func (s *Session) History(ctx context.Context) (all api.HistoryAnswer, err error) {
	err = lines(ctx, s.client, "history.get", s.of, func(l api.HistoryAnswer) error {
		if all.History != nil {
			l.History = append(all.History, l.History...)
		}
		all = l // the last line has the size
		return nil
	})
	return all, err
}

// Close ends the work with the session.
func (s *Session) Close(ctx context.Context) error {
	return s.client.Call(ctx, "session.close", s.of, nil)
}
