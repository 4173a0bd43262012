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

// result returns the answer in the form of the SDK: all edits, of earlier calls too, because the host may have
// held them back. It shares its maps with the state, so a turn does not cost what all the edits are. So it holds
// until the next call with the same memo, which comes only after the SDK has read it.
func (s *state) result() sdk.DensityResult {
	return sdk.DensityResult{Removals: s.removed, Replacements: s.replaced, Reasons: s.reasons,
		Metadata: sdk.DensityMetadata{
			ReadWritePairsPruned:     s.counts.pairs,
			FileDeduplicationsPruned: s.counts.inclusions,
			RecencyPruned:            s.counts.results,
		}}
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
		for len(rest) > 0 && rest[0] < i { // never i: nothing is left of an entry that goes, so nothing touches it again
			s.removed = append(s.removed, rest[0])
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
// A call and its response are always dropped together, so the history stays valid. An entry goes if nothing useful
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
	// Inclusions are stripped together: each of their positions refers to the original text.
	var stale []*placed
	for id := from.inclusions; id < to.inclusions; id++ {
		if inc := s.inclusions.at(id); inc.by != 0 {
			stale = append(stale, inc)
		}
	}
	if len(stale) > 0 {
		strip(entry.Blocks, stale, func(block int32, left string) {
			text := entry.Blocks[block].(sdk.Text)
			text.Text = left
			d.set(block, text, ruleDuplicateInclusion, stale[0].by)
		}, func(block int32) { d.drop(block, ruleDuplicateInclusion, stale[0].by) })
	}
	if d.blocks == nil {
		return false
	}
	s.reasons[i] = sdk.Reason{Rule: d.rule, SupersededBy: new(s.position(d.by - 1))}
	left := d.left()
	if !slices.ContainsFunc(left, func(b sdk.Block) bool { return !worthless(b) }) {
		return true
	}
	entry.Blocks = left // in a copy of the entry, which keeps all else
	s.replaced[i] = entry
	return false
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
func worthless(b sdk.Block) bool {
	switch b := b.(type) {
	case sdk.Text:
		return strings.TrimSpace(b.Text) == ""
	case sdk.Thinking:
		return true
	}
	return false
}
