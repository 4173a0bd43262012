package window

import (
	"context"
	"fmt"

	"github.com/thresh-dev/thresh/host/internal/history"
	"github.com/thresh-dev/thresh/host/internal/tokens"
	"github.com/thresh-dev/thresh/sdk/content"
)

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
	return count(ctx, counter, entries)
}

func count(ctx context.Context, counter *tokens.Counter, entries []content.Content) (Counted, error) {
	counts, err := counting{counter}.All(ctx, entries)
	if err != nil {
		return Counted{}, fmt.Errorf("count entries: %w", err)
	}
	return Counted{entries, counts, counter}, nil
}

func (c Counted) Len() int { return len(c.entries) }

// Tokens is the token count of entry i.
func (c Counted) Tokens(i int) int { return c.counts[i].Tokens }

// Counter is what counted the entries.
func (c Counted) Counter() *tokens.Counter { return c.counter }

// Slice returns the entries from position from up to, but not including, position to.
func (c Counted) Slice(from, to int) Counted {
	return Counted{c.entries[from:to:to], c.counts[from:to:to], c.counter}
}

// AppendTo appends the entries to a history of no session.
func (c Counted) AppendTo(h *history.History) { h.Append(c.entries, c.counts) }

type counting struct{ *tokens.Counter }

// All counts entries block by block. A block counts as much as an entry with only that block, less the frame, which is
// what an empty entry counts.
func (c counting) All(ctx context.Context, entries []content.Content) ([]history.Count, error) {
	blocks := 0
	for _, e := range entries {
		blocks += len(e.Blocks)
	}
	single := make([]content.Content, 0, blocks)
	for _, e := range entries {
		for i := range e.Blocks {
			single = append(single, content.Content{Speaker: e.Speaker, Blocks: e.Blocks[i : i+1]})
		}
	}
	counted, err := c.CountAll(ctx, single, nil)
	if err != nil {
		return nil, err
	}
	frame := c.Entry(content.Content{})
	counts, all := make([]history.Count, len(entries)), make([]int32, blocks)
	for i, e := range entries {
		n := history.Count{Tokens: frame, Blocks: all[:len(e.Blocks):len(e.Blocks)]}
		for j := range e.Blocks {
			n.Blocks[j] = int32(counted[j] - frame)
			n.Tokens += counted[j] - frame
		}
		counted, all = counted[len(e.Blocks):], all[len(e.Blocks):]
		counts[i] = n
	}
	return counts, nil
}
