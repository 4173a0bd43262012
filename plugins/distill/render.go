package main

import (
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/sdk"
)

// leastShrink is the share of a text that must go for it to be changed at all.
const leastShrink = 0.15

// What a Compress did, as users see it in the outcome of a turn.
const (
	linesOmitted     = "linesOmitted"
	entriesDropped   = "entriesDropped"
	exchangesDropped = "exchangesDropped"
)

// render makes the new history from what was chosen.
func (p *plan) render() (entries []sdk.Content, counts map[string]int64) {
	counts = map[string]int64{}
	edited := map[int][]sdk.Block{} // the new blocks of entries that change
	gone := map[int]bool{}          // entries that go; true: their calls are named in a line
	for i := range p.groups {
		switch g := &p.groups[i]; {
		case g.gone:
			for _, at := range g.exchange.Entries {
				gone[at] = g.calls
				counts[entriesDropped]++
			}
			if g.calls {
				counts[exchangesDropped]++
			}
		case !g.fold:
			p.renderGroup(g, edited, counts)
		}
	}
	fold := folder{tools: p.in.Tools}
	for i, entry := range p.in.History {
		named, goes := gone[i]
		blocks, changes := edited[i]
		switch {
		case named:
			fold.add(entry)
		case goes, changes && len(blocks) == 0:
		case isFold(entry) && !p.fixed[i]:
			fold.merge(entry)
		default:
			if entries = fold.flush(entries); changes {
				entry.Blocks = blocks
			}
			entries = append(entries, entry)
		}
	}
	return fold.flush(entries), counts
}

// renderGroup makes the new blocks of a group's entries: without lines that were not chosen, and without thinking.
func (p *plan) renderGroup(g *group, edited map[int][]sdk.Block, counts map[string]int64) {
	blocks := func(entry int) []sdk.Block {
		if edited[entry] == nil {
			edited[entry] = slices.Clone(p.in.History[entry].Blocks)
		}
		return edited[entry]
	}
	for k := g.texts.from; k < g.texts.to; {
		first := p.texts[k]
		var changes []change // of one block, so that its JSON is copied once
		for ; k < g.texts.to && p.texts[k].entry == first.entry && p.texts[k].block == first.block; k++ {
			if now, gone := p.shortened(&p.texts[k]); gone > 0 {
				changes = append(changes, change{p.texts[k].in, now})
				counts[linesOmitted] += int64(gone)
			}
		}
		if len(changes) > 0 {
			to := blocks(first.entry)
			to[first.block] = changed(to[first.block], changes)
		}
	}
	for _, i := range g.exchange.Entries {
		if edited[i] == nil && !slices.ContainsFunc(p.in.History[i].Blocks, thinks) {
			continue
		}
		edited[i] = slices.DeleteFunc(blocks(i), func(b sdk.Block) bool {
			said, ok := b.(sdk.Text)
			return thinks(b) || ok && said.Text == ""
		})
	}
}

// shortened returns a text with marks in the place of the lines that go, and how many these are. 0: it stays as it is.
func (p *plan) shortened(t *text) (now string, gone int) {
	var b strings.Builder
	gap, kept := 0, false
	endGap := func() {
		if gap == 0 {
			return
		}
		// A piece of a long line has no line break.
		if s := b.String(); s != "" && s[len(s)-1] != '\n' {
			b.WriteByte('\n')
		}
		b.WriteString(mark(gap))
		gap = 0
	}
	for i := t.units.from; i < t.units.to; i++ {
		u := &p.units[i]
		if u.keep {
			endGap()
			b.WriteString(u.line)
			kept = true
			continue
		}
		n := max(int(u.gap), strings.Count(u.line, "\n"), 1)
		gap += n
		gone += n
	}
	if !kept && t.said() {
		return "", gone
	}
	endGap()
	now = strings.TrimSuffix(b.String(), "\n")
	if float64(len(now)) > (1-leastShrink)*float64(len(t.in.text)) {
		return "", 0
	}
	return now, gone
}
