package prepare

import (
	"context"

	"github.com/thresh-dev/thresh/internal/check"
	"github.com/thresh-dev/thresh/sdk/content"
)

// gaps knows what the marks will count that a rewrite gets where it takes out what was said: one for each run of entries
// that go, in which something was said. A mark of an earlier rewrite is part of the run beside it.
type gaps struct {
	said []bool // by position: whether the entry needs a mark where it goes
	runs map[int]run
	mark int // tokens of one
}

// run is from one end of a run to the other: both ends have it.
type run struct {
	other  int
	marked bool
}

func newGaps(ctx context.Context, count Counter, entries []content.Content) (gaps, error) {
	g := gaps{said: make([]bool, len(entries)), runs: map[int]run{}}
	for i, c := range entries {
		var said check.Gap
		said.Add(c)
		g.said[i] = said != check.Gap{}
		if _, mark := check.GapOf(c); mark {
			g.join(i)
		}
	}
	// As large as one can be in a history of that length.
	n := len(entries)
	largest := check.MarkGap(content.Human, check.Gap{Human: n, AI: n, Summaries: n})
	counts, err := count.All(ctx, []content.Content{largest})
	if err == nil {
		g.mark = counts[0].Tokens
	}
	return g, err
}

// join takes an entry out and returns by how many tokens the marks grow.
func (g *gaps) join(i int) (more int) {
	first, last, marks := i, i, 0
	marked := g.said[i]
	for _, side := range []int{i - 1, i + 1} {
		r, ok := g.runs[side]
		if !ok {
			continue
		}
		first, last = min(first, r.other), max(last, r.other)
		if r.marked {
			marked = true
			marks++
		}
	}
	g.runs[first], g.runs[last] = run{last, marked}, run{first, marked}
	if !marked {
		return 0
	}
	return (1 - marks) * g.mark
}
