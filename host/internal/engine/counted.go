package engine

import (
	"context"
	"fmt"
	"sync"

	"github.com/thresh-dev/thresh/host/internal/history"
	"github.com/thresh-dev/thresh/host/internal/tokens"
	"github.com/thresh-dev/thresh/internal/check"
	"github.com/thresh-dev/thresh/sdk/content"
)

// Counted are entries with their token counts: what is added to several sessions is counted once.
type Counted struct {
	entries []content.Content
	counts  []history.Count
	counter *tokens.Counter
}

// Count counts entries as a session of this host would, with the host's settings. An entry that is not well formed is counted
// too; adding it is what fails.
func (h *Host) Count(ctx context.Context, entries []content.Content) (Counted, error) {
	set := h.config.Settings()
	counter, err := tokens.For(set.Model.Name, set.Model.Encoding)
	if err != nil {
		return Counted{}, err
	}
	counts, err := counting{counter}.All(ctx, entries)
	return Counted{entries, counts, counter}, err
}

// Len is the number of entries.
func (c Counted) Len() int { return len(c.entries) }

// Tokens is what entry i counts.
func (c Counted) Tokens(i int) int { return c.counts[i].Tokens }

// Slice returns the entries from position from up to, not including, position to.
func (c Counted) Slice(from, to int) Counted {
	return Counted{c.entries[from:to:to], c.counts[from:to:to], c.counter}
}

// Baseline is what would be sent if nothing was ever done to a history: its view, without what no provider takes.
type Baseline struct {
	history *history.History
	counter *tokens.Counter
}

// Baseline returns an empty history to which the entries can be added.
func (c Counted) Baseline() *Baseline { return &Baseline{history.New(), c.counter} }

// Add adds entries.
func (b *Baseline) Add(c Counted) { b.history.Append(c.entries, c.counts) }

// Tokens is what a request counts now.
func (b *Baseline) Tokens() int { return b.history.View(b.counter.Entry).Tokens }

// AddCounted is [Session.Add] without the counting. A session that counts in another encoding counts again.
func (s *Session) AddCounted(c Counted) (revision uint64, total int, err error) {
	if len(c.entries) == 0 {
		return s.Add()
	}
	counter := s.count()
	if counter.Encoding() != c.counter.Encoding() {
		return s.Add(c.entries...)
	}
	for i, e := range c.entries {
		if err := check.Content(e); err != nil {
			return 0, 0, fmt.Errorf("add entry %d: %w: %w", i, ErrInvalidEntry, err)
		}
	}
	if s.done.Err() != nil {
		return 0, 0, s.closed("add")
	}
	return s.append(c.entries, c.counts, counter)
}

// calibrations are what the sessions of a host learned about how providers count, by the model's name.
type calibrations struct {
	mu    sync.Mutex
	known map[string]tokens.Calibration
}

// learn takes what a session knows after a report.
func (c *calibrations) learn(model string, now tokens.Calibration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.known == nil {
		c.known = map[string]tokens.Calibration{}
	}
	c.known[model] = now
}

// of returns what is known of a model; without a name, nothing is.
func (c *calibrations) of(model string) tokens.Calibration {
	c.mu.Lock()
	defer c.mu.Unlock()
	if model == "" {
		return tokens.Calibration{}
	}
	return c.known[model].Fresh()
}
