package history

import (
	"context"
	"fmt"
	"slices"

	"github.com/thresh-dev/thresh/internal/check"
	"github.com/thresh-dev/thresh/sdk/content"
)

// marks reports whether a change puts a mark of the host in the place of an entry.
func (s Snapshot) marks(c check.Change) bool {
	return isMark(c.Content) && !c.Removed && !s.isMark(c.Index)
}

func (s Snapshot) isMark(i int) bool { return isMark(s.Entries[i].Content) }

// markRemoved is [markGaps] for an Optimize, which takes out no words of people. A mark stands where the last answer
// stood. It looks at the changes and the entries beside them only.
func (s Snapshot) markRemoved(ctx context.Context, changes []check.Change, count Counter) ([]check.Change, error) {
	var out []check.Change
	for len(changes) > 0 {
		run, rest := s.removedRun(changes)
		changes = rest
		if c := run[0]; !c.Removed {
			if !s.isMark(c.Index) {
				c.Part = markTrimmed(c.Part, s.Entries[c.Index].Content)
				out = append(out, c)
			}
			continue
		}
		var said, fresh check.Gap
		place, tokens, calls := -1, 0, false
		earlier, last := 0, 0 // marks in the run, and the last of them
		for i, c := range run {
			e := s.Entries[c.Index]
			said.Add(e.Content)
			tokens += e.Tokens
			if s.isMark(c.Index) {
				earlier, last = earlier+1, i
				continue
			}
			calls = calls || hasCalls(e.Content) || e.Content.Speaker == content.Tool
			before := fresh
			if fresh.Add(e.Content); fresh != before {
				place = i
			}
		}
		if place < 0 && earlier > 1 { // what parted these marks goes: they become one
			place, calls = last, true
		}
		if place < 0 { // nothing that was said goes; a mark alone stays
			out = append(out, slices.DeleteFunc(run, func(c check.Change) bool { return c.Removed && s.isMark(c.Index) })...)
			continue
		}
		mark := check.MarkGap(content.AI, said)
		counts, err := count(ctx, []content.Content{mark})
		if err != nil {
			return nil, fmt.Errorf("count a mark: %w", err)
		}
		if counts[0].Tokens >= tokens && !calls {
			continue
		}
		index := run[place].Index
		run[place] = check.Change{Part: check.Part{Index: index, Edited: true, Content: mark, Kept: []int{-1}, Of: []int{-1}}}
		out = append(out, run...)
	}
	return out, nil
}

// removedRun splits changes behind the first run of adjacent removals, which takes in the marks of the host between and
// beside them; any other change is a run of its own.
func (s Snapshot) removedRun(changes []check.Change) (run, rest []check.Change) {
	first := changes[0]
	if !first.Removed {
		return changes[:1:1], changes[1:]
	}
	remove := func(i int) {
		run = append(run, check.Change{Part: check.Part{Index: i, Edited: true}, Removed: true})
	}
	if i := first.Index - 1; i >= 0 && s.isMark(i) {
		remove(i)
	}
	at := first.Index
	for ; at < len(s.Entries); at++ {
		switch {
		case len(changes) > 0 && changes[0].Index == at && changes[0].Removed:
			run, changes = append(run, changes[0]), changes[1:]
		case (len(changes) == 0 || changes[0].Index != at) && s.isMark(at):
			remove(at)
		default:
			return run, changes
		}
	}
	return run, changes
}
