package main

import (
	"slices"

	"github.com/thresh-dev/thresh/sdk"
)

// draft collects edits to a history without changing the history itself. A later phase of Optimize sees what the
// earlier ones did; otherwise it would restore blocks that were already removed.
type draft struct {
	history []sdk.Content // the input; never modified

	// All by position in history. A position is in removed or in replaced, never in both.
	removed  map[int]bool
	replaced map[int][]sdk.Block
	reasons  map[int]sdk.Reason
}

func newDraft(history []sdk.Content) *draft {
	return &draft{
		history:  history,
		removed:  map[int]bool{},
		replaced: map[int][]sdk.Block{},
		reasons:  map[int]sdk.Reason{},
	}
}

// blocks returns the blocks of entry i as the phases so far left them. Callers must not modify them.
func (d *draft) blocks(i int) []sdk.Block {
	if blocks, ok := d.replaced[i]; ok {
		return blocks
	}
	return d.history[i].Blocks
}

// setBlock replaces one block of entry i. The first change copies the entry's blocks, because the originals belong to
// the input and other goroutines may read them.
func (d *draft) setBlock(i, block int, b sdk.Block) {
	blocks, ok := d.replaced[i]
	if !ok {
		blocks = slices.Clone(d.history[i].Blocks)
		d.replaced[i] = blocks
	}
	blocks[block] = b
}

// remove takes entry i out of the history.
func (d *draft) remove(i int) {
	d.removed[i] = true
	delete(d.replaced, i)
}

// The rules that reasons name, one for each phase. They appear in recordings and in `thresh explain`: do not rename
// them.
const (
	ruleStaleRead          = "stale-read"
	ruleDuplicateInclusion = "duplicate-inclusion"
	ruleOldResult          = "old-result"
)

// because records why entry i is edited, and which entry superseded it. The first reason stays.
func (d *draft) because(i int, rule string, supersededBy int) {
	if _, ok := d.reasons[i]; !ok {
		d.reasons[i] = sdk.Reason{Rule: rule, SupersededBy: &supersededBy}
	}
}

// result returns the edits in the form of the SDK. An entry is removed or replaced, never both (REQ-HD-001.6), and
// removals ascend, so that equal inputs give equal results.
func (d *draft) result(m sdk.DensityMetadata) sdk.DensityResult {
	r := sdk.DensityResult{
		Replacements: make(map[int]sdk.Content, len(d.replaced)),
		Reasons:      d.reasons,
		Metadata:     m,
	}
	for i := range d.removed {
		r.Removals = append(r.Removals, i)
	}
	slices.Sort(r.Removals)
	for i, blocks := range d.replaced {
		entry := d.history[i]
		entry.Blocks = blocks
		r.Replacements[i] = entry
	}
	return r
}
