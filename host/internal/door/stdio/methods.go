package stdio

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/host/internal/engine"
	"github.com/thresh-dev/thresh/host/outcome"
	"github.com/thresh-dev/thresh/sdk"
	"github.com/thresh-dev/thresh/sdk/content"
)

// method is what can be asked of an open session.
type method struct {
	// call runs one request and calls done once, now or later.
	call func(ctx context.Context, q *queue, params json.RawMessage, done func(result any, err error))
	// waits says that it takes effect only when the prepares before it have ended.
	waits bool
}

// methods are all but session.open, which makes the session that these need.
func methods() map[string]method {
	return map[string]method{
		"session.set":      {call: now(set), waits: true},
		"session.close":    {call: closeSession, waits: true},
		"history.add":      {call: now(add)},
		"history.get":      {call: now(get), waits: true},
		"history.recorded": {call: now(recorded)},
		"todos.set":        {call: now(setTodos), waits: true},
		"usage.report":     {call: now(reportUsage), waits: true},
		"window.prepare":   {call: prepareWindow},
	}
}

func unknownMethod(name string) error {
	known := append(slices.Collect(maps.Keys(methods())), "session.open")
	slices.Sort(known)
	return &Error{Code: CodeUnknownMethod, Message: fmt.Sprintf("unknown method %q; there are %s", name, strings.Join(known, ", "))}
}

// now makes a call of a function that is done when it returns.
func now[P any](f func(s *engine.Session, p P) (any, error)) func(context.Context, *queue, json.RawMessage, func(any, error)) {
	return func(_ context.Context, q *queue, raw json.RawMessage, done func(any, error)) {
		var p P
		if err := decodeParams(raw, &p); err != nil {
			done(nil, err)
			return
		}
		done(f(q.session, p))
	}
}

type sessionParams struct {
	Session string `json:"session"`
}

type setParams struct {
	sessionParams
	Key   string `json:"key"`
	Value any    `json:"value"`
}

func set(s *engine.Session, p setParams) (any, error) {
	if p.Key == "" {
		return nil, &Error{Code: CodeParams, Message: `params: "key" is missing`}
	}
	return struct{}{}, s.Set(p.Key, p.Value)
}

func closeSession(ctx context.Context, q *queue, raw json.RawMessage, done func(any, error)) {
	now(func(s *engine.Session, _ sessionParams) (any, error) {
		q.session = nil
		return struct{}{}, s.Close()
	})(ctx, q, raw, done)
}

type addParams struct {
	sessionParams
	Entries []json.RawMessage `json:"entries"`
}

type addResult struct {
	Revision uint64 `json:"revision"`
	Tokens   int    `json:"tokens"`
}

func add(s *engine.Session, p addParams) (any, error) {
	entries := make([]content.Content, len(p.Entries))
	for i, raw := range p.Entries {
		if err := entries[i].UnmarshalJSON(raw); err != nil {
			return nil, fmt.Errorf("add entry %d: %w: %w", i, engine.ErrInvalidEntry, err)
		}
	}
	revision, tokens, err := s.Add(entries...)
	return addResult{revision, tokens}, err
}

type historyResult struct {
	History  []content.Content `json:"history"`
	Tokens   int               `json:"tokens"`
	Revision uint64            `json:"revision"`
}

func get(s *engine.Session, _ sessionParams) (any, error) {
	h := s.History()
	return historyResult{h.Contents(), h.Tokens, h.Revision}, nil
}

type recordedParams struct {
	sessionParams
	ID string `json:"id"`
}

type recordedResult struct {
	Entries []content.Content `json:"entries"`
}

func recorded(s *engine.Session, p recordedParams) (any, error) {
	entries, err := s.Recorded(p.ID)
	return recordedResult{entries}, err
}

type todosParams struct {
	sessionParams
	Todos []sdk.Todo `json:"todos"`
}

func setTodos(s *engine.Session, p todosParams) (any, error) { return struct{}{}, s.SetTodos(p.Todos) }

type usageParams struct {
	sessionParams
	PromptTokens int `json:"promptTokens"`
}

func reportUsage(s *engine.Session, p usageParams) (any, error) {
	if p.PromptTokens <= 0 {
		return nil, &Error{Code: CodeParams, Message: `params: "promptTokens" must be above 0`}
	}
	s.ReportUsage(p.PromptTokens)
	return struct{}{}, nil
}

type prepareParams struct {
	sessionParams
	PendingTokens int `json:"pendingTokens"`
}

type prepareResult struct {
	historyResult
	Outcome outcome.Outcome `json:"outcome"`
}

// prepare goes on in the background, behind earlier ones: what is added meanwhile must not wait for it.
func prepareWindow(ctx context.Context, q *queue, raw json.RawMessage, done func(any, error)) {
	var p prepareParams
	if err := decodeParams(raw, &p); err != nil {
		done(nil, err)
		return
	}
	if p.PendingTokens < 0 {
		done(nil, &Error{Code: CodeParams, Message: `params: "pendingTokens" must not be negative`})
		return
	}
	s := q.session
	q.inBackground(func() {
		ready, err := s.Prepare(ctx, engine.PrepareOptions{PendingTokens: p.PendingTokens})
		result := prepareResult{historyResult{ready.History, ready.Tokens, ready.Revision}, ready.Outcome}
		if err != nil {
			e := failure(err)
			if ready.History != nil {
				e.Data.Prepared = result
			}
			done(nil, e)
			return
		}
		done(result, nil)
	})
}
