package distill

import (
	"slices"

	"github.com/thresh-dev/thresh/sdk"
	"github.com/thresh-dev/thresh/sdk/turns"
)

// What a Compress did, as users see it in the outcome of a turn.
const (
	resultsCleared   = "resultsCleared"
	entriesDropped   = "entriesDropped"
	exchangesDropped = "exchangesDropped"
)

// render makes the new history from what was chosen. Entries keep their order, and those that stay are the host's own,
// with their origin, so the host sends only what changed.
func (p *plan) render() (entries []sdk.Content, counts map[string]int64) {
	counts = map[string]int64{}
	now := slices.Clone(p.in.History)
	named := make([]bool, len(now)) // entries whose calls go
	for _, g := range p.groups {
		for _, at := range g.exchange.Entries {
			switch g.left {
			case nothing, words:
				named[at] = true
				now[at].Blocks = spoken(now[at], g.left)
			case calls:
				now[at].Blocks = p.clear(at, counts)
			}
		}
		if g.left <= words && g.calls+g.results > 0 {
			counts[exchangesDropped]++
		}
	}
	fold := p.fold(named)
	place := -1 // the newest of what went
	for i, entry := range now {
		if was := p.in.History[i]; fold != nil && isFold(was) && !p.fixed[i] {
			now[i].Blocks = nil // it is in the new line
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
	for i, entry := range now {
		if len(entry.Blocks) > 0 || len(p.in.History[i].Blocks) == 0 {
			entries = append(entries, entry)
		} else {
			counts[entriesDropped]++
		}
		if i == place && fold != nil {
			entries = append(entries, *fold)
		}
	}
	return entries, counts
}

// spoken returns the blocks of an entry that stay without its calls and results; none if nothing of use is left.
func spoken(entry sdk.Content, stays left) []sdk.Block {
	if stays == nothing || entry.Speaker != sdk.AI || !says(entry) {
		return nil
	}
	without := func(b sdk.Block) bool {
		_, call := b.(sdk.ToolCall)
		return call
	}
	if !slices.ContainsFunc(entry.Blocks, without) {
		return entry.Blocks
	}
	return slices.DeleteFunc(slices.Clone(entry.Blocks), without)
}

// clear returns the blocks of an entry with lines in place of results.
func (p *plan) clear(entry int, counts map[string]int64) []sdk.Block {
	was := p.in.History[entry].Blocks
	now := was
	for j, b := range was {
		r, ok := b.(sdk.ToolResponse)
		if !ok {
			continue
		}
		if short := p.cleared(r, turns.At{Entry: entry, Block: j}); len(short.Result) < len(r.Result) {
			if &now[0] == &was[0] {
				now = slices.Clone(was)
			}
			now[j] = short
			counts[resultsCleared]++
		}
	}
	return now
}
