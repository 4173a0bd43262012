package prune

import (
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/sdk"
)

// The rules that reasons name, one for each of reads.go, inclusions.go and recency.go. They appear in recordings and in
// `thresh explain`: do not rename them.
const (
	ruleStaleRead          = "stale-read"
	ruleDuplicateInclusion = "duplicate-inclusion"
	ruleOldResult          = "old-result"
)

// result returns the answer in the form of the SDK: all edits, also those of earlier calls, because the host may have
// held them back. It shares its maps with the state, so that a turn does not cost what all the edits are. So it holds
// until the next call with the same memo, which comes only after the SDK has read it.
func (s *state) result() sdk.DensityResult {
	r := sdk.DensityResult{Replacements: s.replaced, Reasons: s.reasons, Metadata: sdk.DensityMetadata{
		ReadWritePairsPruned:     s.counts.pairs,
		FileDeduplicationsPruned: s.counts.inclusions,
		RecencyPruned:            s.counts.results,
	}}
	if len(s.removed) > 0 {
		r.Removals = s.removed // nil if nothing goes, however the state got there
	}
	return r
}

// settle brings the answer up to date for the entries that were touched. It does so once for each, however often one
// was touched: thousands of reads in one entry may become stale at once.
func (s *state) settle(history []sdk.Content) {
	if len(s.touched) == 0 {
		return
	}
	slices.Sort(s.touched)
	// The removals from the first touched entry on are merged with what becomes of the touched ones. To insert them one
	// by one would take quadratic time.
	at, _ := slices.BinarySearch(s.removed, s.position(s.touched[0]))
	rest := slices.Clone(s.removed[at:])
	s.removed = s.removed[:at]
	for _, n := range slices.Compact(s.touched) {
		i := s.position(n)
		for len(rest) > 0 && rest[0] <= i {
			if rest[0] < i {
				s.removed = append(s.removed, rest[0])
			}
			rest = rest[1:]
		}
		if s.edit(i, n, history[i]) {
			s.removed = append(s.removed, i)
		}
	}
	s.removed = append(s.removed, rest...)
	s.touched = nil // after a first call it is long, later mostly empty
}

// edit brings the answer up to date for one entry, by its position and number, and reports whether the entry goes. It
// makes the edit from what is known of the entry's blocks, never from an earlier edit.
//
// A call and its response are always dropped together, so that the history stays valid. An entry goes if nothing useful
// to a model would be left of it.
func (s *state) edit(i int, n int32, entry sdk.Content) (removed bool) {
	delete(s.replaced, i)
	delete(s.reasons, i)
	d := draft{was: entry.Blocks}
	from, to := s.marks[n], s.marks[n+1]
	for id := from.calls; id < to.calls; id++ {
		if c := s.calls.at(id); c.by != 0 {
			d.drop(c.block, ruleStaleRead, c.by)
		}
	}
	for id := from.results; id < to.results; id++ {
		switch r := s.results.at(id); {
		case r.gone != 0:
			d.drop(r.block, ruleStaleRead, s.calls.at(r.call-1).by)
		case r.by != 0 && !r.pinned:
			d.set(r.block, entry.Blocks[r.block].(sdk.ToolResponse).WithResultText(Pointer), ruleOldResult, r.by)
		}
	}
	// Inclusions of one block are stripped together: each of their positions refers to its original text.
	var stale []*placed
	for id := from.inclusions; id < to.inclusions; id++ {
		inc := s.inclusions.at(id)
		if inc.by != 0 {
			stale = append(stale, inc)
		}
		if len(stale) > 0 && (id+1 == to.inclusions || s.inclusions.at(id+1).block != inc.block) {
			text := entry.Blocks[inc.block].(sdk.Text)
			text.Text = strip(text.Text, stale)
			d.set(inc.block, text, ruleDuplicateInclusion, stale[0].by)
			stale = nil
		}
	}
	if d.blocks == nil {
		return false
	}
	s.reasons[i] = sdk.Reason{Rule: d.rule, SupersededBy: new(s.position(d.by - 1))}
	left := d.left()
	useful := func(b sdk.Block) bool { return !worthless(entry.Speaker, b) }
	if len(d.dropped) > 0 && !slices.ContainsFunc(left, useful) {
		return true
	}
	entry.Blocks = left // in a copy of the entry, which keeps all else
	s.replaced[i] = entry
	return false
}

// applied makes the state that of the history in which the answer was applied, in time proportional to the edits. The
// answer is then empty, because on its own result there is nothing left to prune. ok is false if the state is of no use
// any more.
//
// What the edits took out stays in the lists, without any effect: so calls and results keep their ids. When it is more
// than what is left, it is time to begin again.
func (s *state) applied() (ok bool) {
	for i := range s.reasons {
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
	s.removed, s.replaced, s.reasons = nil, map[int]sdk.Content{}, map[int]sdk.Reason{}
	s.counts.pairs, s.counts.inclusions, s.counts.results = 0, 0, 0
	return len(s.gone) <= s.known()
}

// forget takes out of the state what an applied edit took out of the entry with a number, and moves what is left.
func (s *state) forget(n int32) (ok bool) {
	from, to := s.marks[n], s.marks[n+1]
	var dropped int32 // blocks of the entry, so far
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
		case r.by != 0 && !r.pinned: // a pointer is a result no more, but may go with its call
			s.unlink(r)
			r.by = 0
		}
	}
	block, moved := int32(-1), 0 // by how many bytes what follows in the block has moved
	for id := from.inclusions; id < to.inclusions; id++ {
		inc := s.inclusions.at(id)
		if inc.block != block {
			block, moved = inc.block, 0
		}
		inc.start, inc.end = inc.start+moved, inc.end+moved
		if inc.by != 0 {
			moved += len(inc.stripped()) - (inc.end - inc.start)
			inc.by = 0
		}
	}
	return true
}

// draft collects the edits of one entry, in the order of its blocks. It copies the blocks, because the originals belong
// to the input and other goroutines may read them.
type draft struct {
	was     []sdk.Block
	blocks  []sdk.Block // nil as long as nothing is edited
	dropped []int32
	rule    string // why, of the first edit
	by      int32  // 1 + the number of the entry that superseded the block, of the first edit
}

// set replaces a block.
func (d *draft) set(block int32, b sdk.Block, rule string, by int32) {
	if d.blocks == nil {
		d.blocks = slices.Clone(d.was)
		d.rule, d.by = rule, by
	}
	d.blocks[block] = b
}

// drop removes a block.
func (d *draft) drop(block int32, rule string, by int32) {
	d.set(block, d.was[block], rule, by)
	d.dropped = append(d.dropped, block)
}

// left returns the blocks that are left.
func (d *draft) left() []sdk.Block {
	left, dropped := d.blocks[:0], d.dropped
	for j, b := range d.blocks {
		if len(dropped) > 0 && int(dropped[0]) == j {
			dropped = dropped[1:]
			continue
		}
		left = append(left, b)
	}
	return left
}

// worthless reports whether a block is not worth keeping once everything else in its entry is gone: blank text, and
// the thinking that led to a call that was removed.
func worthless(speaker sdk.Speaker, b sdk.Block) bool {
	switch b := b.(type) {
	case sdk.Text:
		return strings.TrimSpace(b.Text) == ""
	case sdk.Thinking:
		return speaker == sdk.AI
	}
	return false
}
