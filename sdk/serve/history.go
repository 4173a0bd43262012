package serve

import "github.com/thresh-dev/thresh/sdk"

// history is the history of one call. Its entries are a mirror's: they are only read, or copied.
type history struct {
	entries []sdk.Content
	sums    []int // sums[i] is the tokens of the entries before i: any range costs two lookups
}

// copied returns a copy for a Compress, whose author may change entries and blocks freely. Texts and raw JSON are
// shared: nothing modifies them. The blocks share one array, so a copy costs two allocations.
func (h *history) copied() []sdk.Content {
	out := make([]sdk.Content, len(h.entries))
	blocks := 0
	for i := range h.entries {
		blocks += len(h.entries[i].Blocks)
	}
	copies := make([]sdk.Block, 0, blocks)
	for i, c := range h.entries {
		if c.Blocks != nil {
			start := len(copies)
			copies = append(copies, c.Blocks...)
			c.Blocks = copies[start:len(copies):len(copies)]
		}
		out[i] = c
	}
	return out
}

func (h *history) tokens(from, to int) int {
	from, to = max(from, 0), min(to, len(h.entries))
	if from >= to {
		return 0
	}
	return h.sums[to] - h.sums[from]
}
