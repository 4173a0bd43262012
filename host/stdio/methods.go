package stdio

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/host"
	"github.com/thresh-dev/thresh/host/window"
	"github.com/thresh-dev/thresh/sdk/content"
)

// method runs one request of a session and calls done once, now or later.
type method func(ctx context.Context, s *host.Session, params json.RawMessage, done func(result any, err error))

// methods are all but session.open, which makes the session that these need.
func methods() map[string]method {
	return map[string]method{
		"session.set":    now(set),
		"session.close":  now(closeSession),
		"history.add":    now(add),
		"history.get":    now(get),
		"usage.report":   now(reportUsage),
		"window.prepare": prepare,
	}
}

func unknownMethod(name string) error {
	known := append(slices.Collect(maps.Keys(methods())), "session.open")
	slices.Sort(known)
	return &Error{Code: CodeUnknownMethod, Message: fmt.Sprintf("unknown method %q; there are %s", name, strings.Join(known, ", "))}
}

// now makes a method of a function that is done when it returns.
func now[P any](f func(s *host.Session, p P) (any, error)) method {
	return func(_ context.Context, s *host.Session, raw json.RawMessage, done func(any, error)) {
		var p P
		if err := decodeParams(raw, &p); err != nil {
			done(nil, err)
			return
		}
		done(f(s, p))
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

func set(s *host.Session, p setParams) (any, error) {
	if p.Key == "" {
		return nil, &Error{Code: CodeParams, Message: `params: "key" is missing`}
	}
	return struct{}{}, s.Set(p.Key, p.Value)
}

func closeSession(s *host.Session, _ sessionParams) (any, error) { return struct{}{}, s.Close() }

type addParams struct {
	sessionParams
	Entries []json.RawMessage `json:"entries"`
}

type addResult struct {
	Revision uint64 `json:"revision"`
	Tokens   int    `json:"tokens"`
}

func add(s *host.Session, p addParams) (any, error) {
	entries := make([]content.Content, len(p.Entries))
	for i, raw := range p.Entries {
		if err := entries[i].UnmarshalJSON(raw); err != nil {
			return nil, fmt.Errorf("add entry %d: %w: %w", i, host.ErrInvalidEntry, err)
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

func get(s *host.Session, _ sessionParams) (any, error) {
	h := s.History()
	return historyResult{h.Contents(), h.Tokens, h.Revision}, nil
}

type usageParams struct {
	sessionParams
	PromptTokens int `json:"promptTokens"`
}

func reportUsage(s *host.Session, p usageParams) (any, error) {
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
	Outcome window.Outcome `json:"outcome"`
}

// prepare goes on in the background: what is added meanwhile must not wait for it.
func prepare(ctx context.Context, s *host.Session, raw json.RawMessage, done func(any, error)) {
	var p prepareParams
	if err := decodeParams(raw, &p); err != nil {
		done(nil, err)
		return
	}
	if p.PendingTokens < 0 {
		done(nil, &Error{Code: CodeParams, Message: `params: "pendingTokens" must not be negative`})
		return
	}
	go func() {
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
	}()
}
