package distill

import (
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/sdk"
	"github.com/thresh-dev/thresh/sdk/content"
	"github.com/thresh-dev/thresh/sdk/marks"
	"github.com/thresh-dev/thresh/sdk/turns"
)

// What a Compress did, as users see it in the outcome of a turn.
const (
	linesOmitted     = "linesOmitted"
	entriesDropped   = "entriesDropped"
	exchangesDropped = "exchangesDropped"
)

// render makes the new history from what was chosen. Entries keep their order, and those that stay are the host's own,
// with their origin, so the host sends only what changed.
func (p *plan) render() (entries []sdk.Content, counts map[string]int64) {
	counts = map[string]int64{}
	// now is the history with what goes taken out of it: an entry that goes has no blocks.
	now := slices.Clone(p.in.History)
	named := make([]bool, len(now)) // entries that go; a line names their calls
	for i := range p.groups {
		switch g := &p.groups[i]; {
		case g.gone:
			for _, at := range g.exchange.Entries {
				named[at], now[at].Blocks = g.calls, nil
			}
			if g.calls {
				counts[exchangesDropped]++
			}
		case !g.fold:
			p.shrink(g, now, counts)
		}
	}
	fold := folder{in: p.in, pairs: p.pairs}
	for i, entry := range now {
		switch {
		case p.fixed[i]:
			entries = append(fold.flush(entries), entry)
		case isFold(entry):
			fold.merge(entry)
		case len(entry.Blocks) == 0:
			if counts[entriesDropped]++; named[i] {
				fold.add(i)
			}
		default:
			entries = append(fold.flush(entries), entry)
		}
	}
	return fold.flush(entries), counts
}

// shrink makes the new entries of a group: without lines that were not chosen.
func (p *plan) shrink(g *group, now []sdk.Content, counts map[string]int64) {
	texts := g.texts
	for _, at := range g.exchange.Entries {
		var blocks []sdk.Block
		for j, b := range now[at].Blocks {
			var changes []content.Literal
			omitted := 0
			for ; len(texts) > 0 && texts[0].entry == at && texts[0].block == j; texts = texts[1:] {
				if short, gone := texts[0].shortened(); gone > 0 {
					omitted += gone
					changes = append(changes, short)
				}
			}
			if len(changes) > 0 {
				var ok bool
				if b, ok = p.changed(b, changes, turns.At{Entry: at, Block: j}); ok {
					counts[linesOmitted] += int64(omitted)
				}
			}
			blocks = append(blocks, b)
		}
		now[at].Blocks = blocks
	}
}

// changed is [changed] for a block of the history. Where a result without these lines would no longer be taken for what
// it is, a failure or a success, it stays (ok is false): whoever reads it later would say something that is not true.
func (p *plan) changed(b sdk.Block, texts []content.Literal, at turns.At) (now sdk.Block, ok bool) {
	now = changed(b, texts)
	was, ok := b.(sdk.ToolResponse)
	if !ok {
		return now, true
	}
	call := sdk.ToolCall{Name: was.ToolName}
	if ref, ok := p.pairs.Call(at); ok {
		call = p.in.History[ref.Entry].Blocks[ref.Block].(sdk.ToolCall)
	}
	if p.in.Tools.Failed(call, was) != p.in.Tools.Failed(call, now.(sdk.ToolResponse)) {
		return b, false
	}
	return now, true
}

// shortened returns a text with marks in the place of the parts that go, and in about how many lines that is. 0: it
// stays as it is.
func (t *text) shortened() (short content.Literal, gone int) {
	var b strings.Builder
	from, at := 0, 0 // where in the text what goes begins, and the next unit
	// A mark stands on a line of its own, where the first line went. A mark that goes counts for what it stands for.
	endGap := func() {
		if from == at {
			return
		}
		if s := b.String(); s != "" && s[len(s)-1] != '\n' {
			b.WriteByte('\n')
		}
		mark, lines := marks.Cut(t.in.Text, from, at)
		b.WriteString(mark)
		gone += max(lines, 1)
	}
	for _, u := range t.units {
		if u.keep {
			endGap()
			b.WriteString(u.line)
			from = at + len(u.line)
		}
		at += len(u.line)
	}
	short = t.in
	if endGap(); from < at {
		short.Text = strings.TrimSuffix(b.String(), "\n")
	} else {
		short.Text = b.String()
	}
	if len(short.Text) >= len(t.in.Text) {
		return t.in, 0
	}
	return short, gone
}
