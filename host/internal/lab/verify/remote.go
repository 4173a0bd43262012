package verify

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/thresh-dev/thresh/host/internal/history"
	"github.com/thresh-dev/thresh/host/internal/plugins"
	"github.com/thresh-dev/thresh/host/internal/prepare"
	"github.com/thresh-dev/thresh/internal/check"
	"github.com/thresh-dev/thresh/internal/conform"
	"github.com/thresh-dev/thresh/internal/text"
	"github.com/thresh-dev/thresh/sdk"
)

// remote is a plugin under a host as a strategy. What it answers is judged as it travelled: the host's own validator
// has accepted it.
type remote struct{ *plugins.Strategy }

var _ sdk.Optimizer = remote{}

// Optimize sends the whole history: its entries are new ones to the host.
func (r remote) Optimize(ctx context.Context, in sdk.OptimizeInput) (sdk.DensityResult, error) {
	return r.optimize(ctx, in, entries(in.History, nil), 0)
}

func (r remote) optimize(ctx context.Context, in sdk.OptimizeInput, all []*history.Entry, epoch uint64) (
	out sdk.DensityResult, _ error,
) {
	a, err := r.Strategy.Optimize(ctx, prepare.OptimizeCall{
		Call:           prepare.Call{CallParams: in.CallParams, Epoch: epoch, Entries: all, Tools: in.Tools},
		OptimizeParams: in.OptimizeParams,
	})
	if err != nil {
		return out, said(err)
	}
	given := contents(all)
	parts, err := check.Optimize(given, a.Edits)
	if err != nil {
		return out, err
	}
	out = sdk.DensityResult{Replacements: map[int]sdk.Content{}, Reasons: map[int]sdk.Reason{}, Metadata: a.Metadata}
	after := make(map[int]sdk.Content, len(parts))
	for _, p := range parts {
		after[p.Index] = p.Content
	}
	for _, e := range a.Edits {
		if out.Reasons[e.Index] = e.Reason; e.Remove {
			out.Removals = append(out.Removals, e.Index)
			continue
		}
		now := given[e.Index]
		now.Blocks = after[e.Index].Blocks
		out.Replacements[e.Index] = now
	}
	return out, nil
}

func (r remote) Compress(ctx context.Context, host sdk.Host, in sdk.CompressInput) (out sdk.CompressResult, _ error) {
	all := entries(in.History, in.TokensIn)
	a, err := r.Strategy.Compress(ctx, prepare.CompressCall{
		Call:           prepare.Call{CallParams: in.CallParams, Entries: all, Tools: in.Tools},
		CompressParams: in.CompressParams,
	}, host)
	if err != nil {
		return out, said(err)
	}
	if out = (sdk.CompressResult{NoOp: a.NoOp, Metadata: a.Metadata}); a.NoOp != "" {
		return out, nil
	}
	parts, err := check.Compress(in.History, a.Pieces)
	if err != nil {
		return out, err
	}
	for _, p := range parts {
		switch {
		case p.Index < 0:
			out.History = append(out.History, p.Content)
			continue
		case p.Edited: // what the host adds to the metadata is added when this is judged
			p.Content.Metadata = in.History[p.Index].Metadata
		}
		out.History = append(out.History, p.Content.WithOrigin(p.Index))
	}
	return out, nil
}

// entries are those of a history as a host would hold them after they were added.
func entries(all []sdk.Content, count func(from, to int) int) []*history.Entry {
	if count == nil {
		count = func(from, to int) int { return conform.Tokens(all[from:to]) }
	}
	out := make([]*history.Entry, len(all))
	for i, c := range all {
		out[i] = &history.Entry{ID: fmt.Sprint("e", i), Count: history.Count{Tokens: count(i, i+1)}, Content: c}
	}
	return out
}

func contents(all []*history.Entry) []sdk.Content {
	out := make([]sdk.Content, len(all))
	for i, e := range all {
		out[i] = e.Content
	}
	return out
}

// said is an error of a call for package conform, as one line: if it carries the plugin's standard error, the usual
// text of several lines is replaced by a short form.
func said(err error) error {
	line := err.Error()
	failure, ok := errors.AsType[*plugins.Error](err)
	if ok && failure.Stderr != "" {
		line = strings.ReplaceAll(line, failure.Error(), failure.Sentence())
	}
	out := error(&refused{error: err, line: text.OneLine(line, 2000), passing: ok && failure.Retryable})
	if !errors.Is(err, plugins.ErrStrategy) && !errors.As(err, new(*check.Error)) {
		out = &conform.Lost{Err: out, Late: errors.Is(err, plugins.ErrTimeout)}
	}
	return out
}

type refused struct {
	error
	line    string
	passing bool // the same call may succeed when repeated
}

func (r *refused) Error() string { return r.line }
func (r *refused) Unwrap() error { return r.error }

// Is finds the code that the strategy passed on.
func (r *refused) Is(target error) bool { return r.passing && target == sdk.ErrUnavailable }

// mirrored is a session of which the plugin is sent what is new.
type mirrored struct {
	remote
	id      string
	entries []*history.Entry
	epoch   uint64 // how often it was rewritten
	added   int
}

func (m *mirrored) Add(all []sdk.Content) {
	// Never in place: the host side remembers the list that it sent, as it does for a history.
	m.entries = m.entries[:len(m.entries):len(m.entries)]
	for _, e := range entries(all, nil) {
		e.ID = fmt.Sprint("e", m.added)
		m.entries = append(m.entries, e)
		m.added++
	}
}

func (m *mirrored) Optimize(ctx context.Context, in sdk.OptimizeInput) (sdk.DensityResult, string, error) {
	in.SessionID = m.id
	got, err := m.optimize(ctx, in, m.entries, m.epoch)
	return got, "the plugin was sent what is new", err
}

// Rewrite keeps the entries that stay: the same pointers with the same ids. Edited ones keep their ids.
func (m *mirrored) Rewrite(after []sdk.Content, _ bool) {
	old := m.entries
	m.entries, m.epoch = make([]*history.Entry, len(after)), m.epoch+1
	for i, c := range after {
		at, _ := c.Origin() // an Optimize makes no new entries
		if m.entries[i] = old[at]; !c.Equal(old[at].Content) {
			m.entries[i] = entries([]sdk.Content{c}, nil)[0]
			m.entries[i].ID = old[at].ID
		}
	}
}

func (m *mirrored) Forget() { m.EndSession(m.id) }

// Shared returns the plugin under a host that most checks share.
func (s *suite) Shared(ctx context.Context) (sdk.Strategy, error) {
	st, err := s.strategy(ctx)
	if err != nil {
		return nil, err
	}
	return remote{st}, nil
}

// Fresh returns the plugin in a process of its own, under a host of its own.
func (s *suite) Fresh(ctx context.Context) (sdk.Strategy, func(), error) {
	st, end, err := s.fresh(ctx)
	if err != nil {
		return nil, nil, err
	}
	return remote{st}, end, nil
}

// Session asks the process whether it keeps a mirror: the declaration is not a part of what strategies say about
// themselves.
func (s *suite) Session(ctx context.Context, st sdk.Strategy, id string) (conform.Session, error) {
	r := st.(remote)
	l, err := r.Acquire(ctx)
	if err != nil {
		return nil, err
	}
	defer l.Release()
	if !l.Plugin().Mirrors() {
		return nil, conform.Skipped("it keeps no mirror (history_delta): it is always sent the whole history")
	}
	return &mirrored{remote: r, id: id}, nil
}

func (s *suite) Timed(ctx context.Context, st sdk.Strategy, call func() error) (time.Duration, error) {
	l, err := st.(remote).Acquire(ctx)
	if err != nil {
		return 0, said(err)
	}
	pid := l.Plugin().PID()
	l.Release()
	before, err := cpuTime(pid)
	if errors.Is(err, errNotMeasured) {
		return 0, conform.Skipped(err.Error())
	} else if err != nil {
		return 0, err
	}
	if err := call(); err != nil {
		return 0, err
	}
	after, err := cpuTime(pid)
	return after - before, err
}
