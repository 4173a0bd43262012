package sdk

import (
	"fmt"

	"github.com/thresh-dev/thresh/internal/rewrite"
	"github.com/thresh-dev/thresh/internal/wire"
)

// history is the history of one call, twice: one copy that the strategy may modify, and one to compare its result with.
// The copies share texts and raw JSON, which nothing modifies.
type history struct {
	given []Content
	was   []Content
	// sums[i] is how many tokens the entries before i take, so that any range costs two lookups.
	sums []int // sums[i] is what the entries before i count, in tokens
}

// newHistory makes both copies with one array each, so that a history of thousands of entries costs few allocations.
func newHistory(entries []wire.Entry) *history {
	out := &history{
		given: make([]Content, len(entries)),
		was:   make([]Content, len(entries)),
		sums:  make([]int, len(entries)+1),
	}
	blocks := 0
	for _, e := range entries {
		blocks += len(e.Content.Blocks)
	}
	copies := make([]Block, 0, blocks)
	for i, e := range entries {
		c := e.Content.WithOrigin(i)
		out.was[i] = c
		out.sums[i+1] = out.sums[i] + e.Tokens
		if c.Blocks != nil {
			start := len(copies)
			copies = append(copies, c.Blocks...)
			c.Blocks = copies[start:len(copies):len(copies)]
		}
		out.given[i] = c
	}
	return out
}

// tokens returns the tokens of the entries [from, to), clipped to the history.
func (h *history) tokens(from, to int) int {
	from, to = max(from, 0), min(to, len(h.was))
	if from >= to {
		return 0
	}
	return h.sums[to] - h.sums[from]
}

// untouched returns an error if the strategy changed the history in place. An Optimize must report its changes as
// edits; a change in place would be lost silently.
func (h *history) untouched(given []Content) error {
	for i := range h.was {
		if !given[i].Equal(h.was[i]) {
			return fmt.Errorf(
				"%w: Optimize changed entry %d of in.History in place; put a changed copy into Replacements",
				rewrite.ErrBadResult, i,
			)
		}
	}
	return nil
}
