package distill

import (
	"slices"

	"github.com/thresh-dev/thresh/sdk"
)

// What a Compress did, as users see it in the outcome of a turn.
const (
	resultsShortened = "resultsShortened"
	entriesDropped   = "entriesDropped"
	exchangesDropped = "exchangesDropped"
)

// render makes the new history from what was chosen. Entries keep their order, and those that stay are the host's own,
// with their origin, so the host sends only what changed.
func (p *plan) render() (entries []sdk.Content) {
	named := make([]bool, len(p.now)) // entries whose calls go
	for _, g := range p.groups {
		for _, at := range g.Entries {
			if named[at] = g.left < calls; named[at] {
				p.now[at].Blocks = spoken(p.in.History[at], g.left)
				continue
			}
			for j, b := range p.now[at].Blocks {
				now, ok := b.(sdk.ToolResponse)
				if ok && len(now.Result) < len(p.in.History[at].Blocks[j].(sdk.ToolResponse).Result) {
					p.counts[resultsShortened]++
				}
			}
		}
		if g.left < calls && g.calls+g.cleared > 0 {
			p.counts[exchangesDropped]++
		}
	}
	fold := p.fold(named)
	place := -1 // the newest of what went
	for i, entry := range p.now {
		if was := p.in.History[i]; fold != nil && isFold(was) && !p.fixed[i] {
			p.now[i].Blocks = nil // it is in the new line
		} else if !named[i] || len(entry.Blocks) == len(was.Blocks) {
			continue
		}
		place = i
	}
	for _, x := range p.exchanges { // the line is never between a call and its answer
		if x.First() <= place && place < x.Last() {
			place = x.Last()
		}
	}
	for i, entry := range p.now {
		if len(entry.Blocks) > 0 || len(p.in.History[i].Blocks) == 0 {
			entries = append(entries, entry)
		} else {
			p.counts[entriesDropped]++
		}
		if i == place && fold != nil {
			entries = append(entries, *fold)
		}
	}
	return entries
}

// spoken returns the blocks of an entry that stay without its calls and results; none if nothing of use is left.
func spoken(entry sdk.Content, stays left) []sdk.Block {
	if stays == nothing || entry.Speaker != sdk.AI || !says(entry) {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(entry.Blocks), func(b sdk.Block) bool {
		_, call := b.(sdk.ToolCall)
		return call
	})
}
