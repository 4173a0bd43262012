package stdio

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/thresh-dev/thresh/host"
	"github.com/thresh-dev/thresh/sdk/content"
)

// now makes a call of a function that is done when it returns.
func now[P any](
	f func(ctx context.Context, s *host.Session, p P) (any, error),
) func(context.Context, *queue, json.RawMessage, func(any, error)) {
	return func(ctx context.Context, q *queue, raw json.RawMessage, done func(any, error)) {
		var p P
		if err := decodeParams(raw, &p); err != nil {
			done(nil, err)
			return
		}
		done(f(ctx, q.session, p))
	}
}

// empty is the result of a method that returns nothing.
type empty struct{}

type sessionParams struct {
	Session string `json:"session"`
}

type setParams struct {
	sessionParams
	Key   string `json:"key"`
	Value any    `json:"value"`
}

func set(_ context.Context, s *host.Session, p setParams) (any, error) {
	if p.Key == "" {
		return nil, &Error{Code: CodeParams, Message: `params: "key" is missing`}
	}
	return empty{}, s.Set(p.Key, p.Value)
}

func closeSession(ctx context.Context, q *queue, raw json.RawMessage, done func(any, error)) {
	now(func(_ context.Context, s *host.Session, _ sessionParams) (any, error) {
		if err := s.Close(); err != nil {
			return nil, err // the transcript could not be written: the session stays open
		}
		q.session = nil
		return empty{}, nil
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

func add(ctx context.Context, s *host.Session, p addParams) (any, error) {
	entries := make([]content.Content, len(p.Entries))
	for i, raw := range p.Entries {
		if err := entries[i].UnmarshalJSON(raw); err != nil {
			return nil, &host.Error{Kind: host.KindEntry, Err: fmt.Errorf("add entry %d: %w: %w", i, host.ErrInvalidEntry, err)}
		}
	}
	state, err := s.Add(ctx, entries...)
	return addResult(state), err
}

type historyResult struct {
	History  []content.Content `json:"history"`
	Tokens   int               `json:"tokens"`
	Revision uint64            `json:"revision"`
}

func get(_ context.Context, s *host.Session, _ sessionParams) (any, error) {
	h := s.History()
	return historyResult{h.Entries, h.Tokens, h.Revision}, nil
}

type recordedParams struct {
	sessionParams
	ID string `json:"id"`
}

type recordedResult struct {
	Entries []content.Content `json:"entries"`
}

func recorded(ctx context.Context, s *host.Session, p recordedParams) (any, error) {
	entries, err := s.Originals(ctx, p.ID)
	return recordedResult{entries}, err
}

type todosParams struct {
	sessionParams
	Todos []host.Todo `json:"todos"`
}

func setTodos(_ context.Context, s *host.Session, p todosParams) (any, error) {
	return empty{}, s.SetTodos(p.Todos)
}

type usageParams struct {
	sessionParams
	PromptTokens int `json:"promptTokens"`
}

func reportUsage(_ context.Context, s *host.Session, p usageParams) (any, error) {
	if p.PromptTokens <= 0 {
		return nil, &Error{Code: CodeParams, Message: `params: "promptTokens" must be above 0`}
	}
	s.ReportUsage(p.PromptTokens)
	return empty{}, nil
}

type prepareParams struct {
	sessionParams
	PendingTokens int `json:"pendingTokens"`
}

type prepareResult struct {
	historyResult
	Outcome host.Outcome `json:"outcome"`
}

// prepareWindow runs in the background, after earlier prepares of the session: entries that arrive while it runs must
// not wait for it.
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
		ready, err := s.Prepare(ctx, host.PrepareOptions{PendingTokens: p.PendingTokens})
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
