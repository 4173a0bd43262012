package main

import (
	"slices"

	"github.com/thresh-dev/thresh/sdk"
)

// draft collects edits to a history that itself stays as it is. A later phase of Optimize sees what the earlier ones
// did; without that, it would bring back blocks that were already removed.
type draft struct {
	history  []sdk.Content
	removed  map[int]bool
	replaced map[int][]sdk.Block
	reasons  map[int]sdk.Reason
}

func newDraft(history []sdk.Content) *draft {
	return &draft{history: history, removed: map[int]bool{}, replaced: map[int][]sdk.Block{}, reasons: map[int]sdk.Reason{}}
}

// blocks returns the blocks of entry i as the phases so far left them. They are only to be read.
func (d *draft) blocks(i int) []sdk.Block {
	if blocks, ok := d.replaced[i]; ok {
		return blocks
	}
	return d.history[i].Blocks
}

// setBlock changes one block of entry i.
func (d *draft) setBlock(i, block int, b sdk.Block) {
	blocks, ok := d.replaced[i]
	if !ok {
		blocks = slices.Clone(d.history[i].Blocks)
		d.replaced[i] = blocks
	}
	blocks[block] = b
}

// remove takes entry i out.
func (d *draft) remove(i int) {
	d.removed[i] = true
	delete(d.replaced, i)
}

// The rules that reasons name, one for each phase.
const (
	ruleStaleRead          = "stale-read"
	ruleDuplicateInclusion = "duplicate-inclusion"
	ruleOldResult          = "old-result"
)

// because says why entry i is edited, and which entry superseded it. The first reason stays.
func (d *draft) because(i int, rule string, supersededBy int) {
	if _, ok := d.reasons[i]; !ok {
		d.reasons[i] = sdk.Reason{Rule: rule, SupersededBy: &supersededBy}
	}
}

// result returns the edits. An entry is either removed or replaced, never both (REQ-HD-001.6).
func (d *draft) result(m sdk.DensityMetadata) sdk.DensityResult {
	r := sdk.DensityResult{Replacements: make(map[int]sdk.Content, len(d.replaced)), Reasons: d.reasons, Metadata: m}
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
