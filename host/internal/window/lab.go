package window

import (
	"context"

	"github.com/thresh-dev/thresh/host/internal/history"
	"github.com/thresh-dev/thresh/host/internal/journal"
	"github.com/thresh-dev/thresh/host/internal/tokens"
	"github.com/thresh-dev/thresh/host/outcome"
	"github.com/thresh-dev/thresh/internal/check"
	"github.com/thresh-dev/thresh/sdk/content"
)

// The lab drives many sessions with the same recording. It counts a recording once, compares with an untouched history,
// and plans without applying. None of this is part of package host.

// Counted are entries with their token counts, which can be added to any number of sessions and must not be changed.
type Counted struct {
	entries []content.Content
	counts  []history.Count
	counter *tokens.Counter
}

// Count counts entries as a session with the host's settings would, even entries that are not well formed.
func (h *Host) Count(ctx context.Context, entries []content.Content) (Counted, error) {
	set := h.Config().Settings()
	counter, err := tokens.For(set.Model.Name, set.Model.Encoding)
	if err != nil {
		return Counted{}, err
	}
	counts, err := counting{counter}.All(ctx, entries)
	return Counted{entries, counts, counter}, err
}

// CountSystem counts a system prompt as [Session.SetSystem] does, with the host's settings, in tokens.
func (h *Host) CountSystem(blocks []content.Block) (int, error) {
	set := h.Config().Settings()
	counter, err := tokens.For(set.Model.Name, set.Model.Encoding)
	if err != nil {
		return 0, err
	}
	return countSystem(counter, blocks), nil
}

func (c Counted) Len() int { return len(c.entries) }

// Tokens is the token count of entry i.
func (c Counted) Tokens(i int) int { return c.counts[i].Tokens }

// Slice returns the entries from position from up to, but not including, position to.
func (c Counted) Slice(from, to int) Counted {
	return Counted{c.entries[from:to:to], c.counts[from:to:to], c.counter}
}

// Baseline is an untouched history, whose view is what would be sent without a strategy. It belongs to one goroutine.
type Baseline struct {
	history *history.History
	counter *tokens.Counter
}

func (c Counted) Baseline() *Baseline { return &Baseline{history.New(), c.counter} }

func (b *Baseline) Add(c Counted) { b.history.Append(c.entries, c.counts) }

// Contents is what would be sent now. It must not be changed.
func (b *Baseline) Contents() []content.Content { return b.history.View(b.counter.Entry).Contents() }

// Tokens is the token count of what would be sent now.
func (b *Baseline) Tokens() int { return b.history.View(b.counter.Entry).Tokens }

// AddCounted is [Session.Add] without the counting, unless the session counts in another encoding.
func (s *Session) AddCounted(ctx context.Context, c Counted) (revision uint64, total int, err error) {
	if err := wellFormed(c.entries, check.Content); err != nil {
		return 0, 0, err
	}
	counter := s.currentCounter()
	if len(c.entries) == 0 || counter.Encoding() != c.counter.Encoding() {
		return s.countAndAppend(ctx, c.entries, nil)
	}
	if s.done.Err() != nil {
		return 0, 0, s.failed("add", journal.ErrClosed)
	}
	leave, err := s.journal.Enter()
	defer leave()
	if err != nil {
		return 0, 0, err
	}
	return s.append(ctx, c.entries, c.counts, counter, nil)
}

// Calibrate takes what a provider reported for a prompt other than the one Prepare returned last, such as a recorded
// one. counted is the host's count for it; both are in tokens. Other sessions do not learn from it.
func (s *Session) Calibrate(counted, promptTokens int) {
	s.mu.Lock()
	w := s.pipeline
	s.mu.Unlock()
	w.ReportUsage(promptTokens, counted)
}

// PlanOptimize asks the strategy for one Optimize of the whole history and checks the answer, but changes nothing.
func (s *Session) PlanOptimize(ctx context.Context) (*history.Plan, outcome.Optimize, error) {
	ctx, cancel := s.untilClosed(ctx)
	defer cancel()
	leave, err := s.journal.Enter()
	defer leave()
	if err != nil {
		return nil, outcome.Optimize{}, err
	}
	w, req, err := s.request(ctx, 0)
	if err != nil {
		return nil, outcome.Optimize{}, err
	}
	return w.PlanOptimize(ctx, req)
}
