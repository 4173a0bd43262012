package prune

import (
	"slices"

	"github.com/thresh-dev/thresh/sdk"
)

// applied moves the state to the history in which the answer was applied, in time proportional to the edits. The
// answer is then empty, because on its own result there is nothing left to prune. ok is false if the state is of no use
// any more.
//
// What the edits took out stays in the lists, without any effect: so calls and results keep their ids. When it is more
// than what is left, it is time to begin again.
func (s *state) applied() (ok bool) {
	for i := range s.reasons { // of each edit, in any order
		if !s.forget(s.number(i)) {
			return false
		}
	}
	gone := make([]int32, len(s.removed)) // apart, because numbers depend on s.gone
	for k, i := range s.removed {
		gone[k] = s.number(i)
	}
	s.gone = append(s.gone, gone...)
	slices.Sort(s.gone)
	// New maps, because after a first prune they are large, and would be walked again each time to be cleared.
	s.removed, s.replaced, s.reasons = nil, map[int]sdk.Content{}, map[int]sdk.Reason{}
	s.counts.pairs, s.counts.inclusions, s.counts.results = 0, 0, 0
	return len(s.gone) <= s.known()
}

// forget takes out of the state what an applied edit took out of the entry with a number, and moves what is left.
func (s *state) forget(n int32) (ok bool) {
	from, to := s.marks[n], s.marks[n+1]
	var dropped int32 // blocks of the entry, so far
	// A call that went was answered, so no response looks for it, and it is before all reads of its files that may
	// still become stale.
	for id := from.calls; id < to.calls; id++ {
		c := s.calls.at(id)
		c.block -= dropped
		if c.by != 0 {
			// Its files would have to be what they were before it wrote them, which is not known.
			if c.nWrites > 0 {
				return false
			}
			c.by = 0
			dropped++
		}
	}
	for id := from.results; id < to.results; id++ {
		r := s.results.at(id)
		r.block -= dropped
		switch {
		case r.gone != 0:
			*r = toolResult{}
			dropped++
		case r.by != 0: // a pointer is a result no more, but may go with its call; a pinned one changes nothing any more
			r.tool, r.by = 0, 0
		}
	}
	// Texts get shorter. An inclusion that was stripped is never the last of its file, which is
	// the only one that anything refers to.
	block, moved := int32(-1), 0 // by how many bytes what follows in the block has moved
	for id := from.inclusions; id < to.inclusions; id++ {
		inc := s.inclusions.at(id)
		if inc.by != 0 && inc.to != inc.block {
			return false // blocks go, which would be counted anew
		}
		if inc.block != block {
			block, moved = inc.block, 0
		}
		inc.start += moved
		if inc.to == inc.block {
			inc.end += moved
		}
		if inc.by != 0 {
			moved += len(inc.stripped()) - (inc.end - inc.start)
			inc.by = 0
		}
	}
	return true
}
