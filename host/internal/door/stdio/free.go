package stdio

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/thresh-dev/thresh/host"
	"github.com/thresh-dev/thresh/internal/buildinfo"
)

// The methods that are about no session. They run at once, each in a goroutine of its own.

// free decodes the parameters of such a method.
func free[P any](
	f func(ctx context.Context, s *server, p P) (any, error),
) func(context.Context, *server, json.RawMessage) (any, error) {
	return func(ctx context.Context, s *server, raw json.RawMessage) (any, error) {
		var p P
		if err := decodeParams(raw, &p); err != nil {
			return nil, err
		}
		return f(ctx, s, p)
	}
}

// Strategies are those whose plugins were found by name. None is started for this.
type initializeResult struct {
	Name       string   `json:"name"`
	Version    string   `json:"version"`
	Methods    []string `json:"methods"`
	Strategies []string `json:"strategies"`
	Limits     limits   `json:"limits"`
}

// limits are those of the connection. RequestBytes is the longest line, Unanswered how many requests may be open before
// reading stops.
type limits struct {
	RequestBytes int `json:"requestBytes"`
	Unanswered   int `json:"unanswered"`
}

// initialize may be called at any time and more than once. It changes nothing.
func initialize(_ context.Context, s *server, _ empty) (any, error) {
	// The lists are copies and never null, so that agents need no check.
	r := initializeResult{
		Name: "thresh", Version: buildinfo.Version(), Strategies: append([]string{}, s.host.Strategies()...),
		Limits: limits{maxLine, maxUnanswered},
	}
	for _, m := range Methods() {
		r.Methods = append(r.Methods, m.Name)
	}
	return r, nil
}

// The entries belong to no session, so that the host's own settings decide how they are counted.
type countParams struct {
	Entries []json.RawMessage `json:"entries"`
}

// Each has the tokens of each entry, in order, and is never null.
type countResult struct {
	Tokens int   `json:"tokens"`
	Each   []int `json:"each"`
}

// countTokens counts without a session, for an agent that decides what to add.
func countTokens(ctx context.Context, s *server, p countParams) (any, error) {
	entries, err := decodeEntries(p.Entries)
	if err != nil {
		return nil, err
	}
	each, err := s.host.Count(ctx, entries...)
	if err != nil {
		return nil, err
	}
	r := countResult{Each: append([]int{}, each...)}
	for _, n := range each {
		r.Tokens += n
	}
	return r, nil
}

// listResult has broken plugins too, with their state and the reason.
type listResult struct {
	Plugins []host.Plugin `json:"plugins"`
}

// listPlugins may take as long as a plugin may take to start: it starts each of them.
func listPlugins(ctx context.Context, s *server, _ empty) (any, error) {
	return listResult{append([]host.Plugin{}, s.host.Plugins(ctx)...)}, nil
}

// resetParams names a strategy, as plugins.list shows it.
type resetParams struct {
	Name string `json:"name"`
}

type resetResult struct {
	// Reset is false if the plugin was never started, so that there is nothing to forget.
	Reset bool `json:"reset"`
}

// resetPlugin forgets the crashes of a plugin, so that the next call starts it again.
func resetPlugin(_ context.Context, s *server, p resetParams) (any, error) {
	if p.Name == "" {
		return nil, &Error{Code: CodeParams, Message: `params: "name" is missing`}
	}
	return resetResult{s.host.ResetPlugin(p.Name)}, nil
}

// cancelParams has the id as it was sent: text or a number.
type cancelParams struct {
	ID json.RawMessage `json:"id"`
}

type cancelResult struct {
	// Canceled is false if no request with the id is in progress.
	Canceled bool `json:"canceled"`
}

// errCanceled ends the context of a request that the agent cancelled.
var errCanceled = errors.New("canceled by the agent")

// cancelRequest cancels a request of the same connection. The cancelled request is still answered, with an error. The
// id is compared as JSON text: 1 and "1" are different, as they are in JSON-RPC.
func cancelRequest(_ context.Context, s *server, p cancelParams) (any, error) {
	if len(p.ID) == 0 || string(p.ID) == "null" || !validID(p.ID) {
		return nil, &Error{Code: CodeParams, Message: `params: "id" must be the id of a request: text or a number`}
	}
	// It may end at this moment. Then it was answered, and there is nothing to cancel.
	cancel, ok := s.inProgress.Load(string(p.ID))
	if ok {
		cancel.(context.CancelCauseFunc)(errCanceled)
	}
	return cancelResult{ok}, nil
}
