package distill

import (
	"slices"

	"github.com/thresh-dev/thresh/sdk"
)

// render makes the new history from what was chosen. Entries keep their order, and those that stay are the host's own,
// with their origin, so the host sends only what changed.
func (p *plan) render() (entries []sdk.Content) {
	told := make([][]told, len(p.now)) // what the line for calls says of each entry
	news := false
	for _, g := range p.groups {
		if g.left < calls && g.calls > 0 {
			p.counts["exchangesDropped"]++
		}
		for _, at := range g.Entries {
			if g.left < calls {
				p.now[at].Blocks = spoken(p.in.History[at], g.left)
				told[at] = p.subjects(at)
				news = news || len(told[at]) > 0
				continue
			}
			for j, b := range p.now[at].Blocks {
				now, ok := b.(sdk.ToolResponse)
				if ok && len(now.Result) < len(p.in.History[at].Blocks[j].(sdk.ToolResponse).Result) {
					p.counts["resultsShortened"]++
				}
			}
		}
	}
	if news {
		for _, at := range p.lines {
			told[at], p.now[at].Blocks = folded(p.in.History[at]), nil
		}
	}
	place := -1 // of the line: the newest of what went
	for i, entry := range p.now {
		if len(entry.Blocks) < len(p.in.History[i].Blocks) {
			place = i
		}
	}
	for _, x := range p.exchanges { // never between a call and its answer
		if x.First() <= place && place < x.Last() {
			place = x.Last()
		}
	}
	for i, entry := range p.now {
		if len(entry.Blocks) > 0 || len(p.in.History[i].Blocks) == 0 {
			entries = append(entries, entry)
		} else {
			p.counts["entriesDropped"]++
		}
		if i == place && news {
			entries = append(entries, fold(told))
		}
	}
	return entries
}

// spoken returns the blocks of an entry of the AI that stay; none if nothing of use is left.
func spoken(entry sdk.Content, stays left) []sdk.Block {
	switch {
	case stays == nothing || entry.Speaker != sdk.AI:
		return nil
	case stays == calls:
		return entry.Blocks
	case !says(entry):
		return nil
	}
	return slices.DeleteFunc(slices.Clone(entry.Blocks), func(b sdk.Block) bool {
		_, call := b.(sdk.ToolCall)
		return call
	})
}
