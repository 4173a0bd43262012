package distill

import (
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/sdk"
	"github.com/thresh-dev/thresh/sdk/content"
	"github.com/thresh-dev/thresh/sdk/marks"
	"github.com/thresh-dev/thresh/sdk/turns"
)

const (
	// reserve is the share of the target that is left for calls and lines of results where what the AI said and wrote
	// would fill it.
	reserve = 0.4
	// price is how many new identifiers a line must have for each of its tokens, to stay.
	price = 0.02
	// gap is what the mark of a gap counts, in tokens.
	gap = 7
	// enough is the share of a text of which so many lines stay that it is easier to read whole.
	enough = 0.5
)

// choose decides what stays, from the newest exchange to the oldest: first what the AI said, then what it wrote and did
// not write over, as that may stand nowhere else. In what room is left, other calls stay, and lines of results.
func (p *plan) choose() {
	own, spare := 0.0, reserve*p.schedule.target
	for _, g := range p.groups {
		own += g.words
		if g.made {
			own += g.calls
		}
	}
	room := max((p.schedule.room-p.base)*ownShare, minOwn*p.schedule.room)
	room = max(p.schedule.target-p.base, min(own+spare, room)) - spare
	// keep lets a group keep more if there is room for that.
	keep := func(g *group, more left, tokens float64) {
		if tokens <= room {
			g.left = more
			room -= tokens
		}
	}
	for _, g := range slices.Backward(p.groups) {
		keep(g, words, g.words)
	}
	for _, g := range slices.Backward(p.groups) {
		if g.made && g.left == words {
			keep(g, calls, g.calls)
		}
	}
	room += spare
	for _, g := range p.groups {
		p.learnOf(g)
	}
	for _, g := range slices.Backward(p.groups) {
		if g.left == words {
			keep(g, calls, g.calls)
			p.learnOf(g)
		}
		if g.left == calls {
			room = p.keepLines(g, room)
		}
	}
}

// learnOf takes in the names in what stays of a group besides results.
func (p *plan) learnOf(g *group) {
	for _, i := range g.Entries {
		p.learn(spoken(p.in.History[i], g.left))
	}
}

// keepLines puts lines of their results back into the entries of a group, from the last to the first, and returns the
// room that is left.
func (p *plan) keepLines(g *group, room float64) float64 {
	for _, i := range slices.Backward(g.Entries) {
		own := marks.In(p.in.History[i])
		for j, b := range slices.Backward(p.in.History[i].Blocks) {
			was, ok := b.(sdk.ToolResponse)
			if !ok || len(p.now[i].Blocks[j].(sdk.ToolResponse).Result) == len(was.Result) {
				continue
			}
			now, tokens := p.distilled(was, own[j], p.perByte[i], room)
			// A result must still be taken for what it is, a failure or a success: the cleared one says so.
			call := p.call(turns.At{Entry: i, Block: j})
			if tokens > 0 && p.in.Tools.Failed(call, was) == p.in.Tools.Failed(call, now) {
				p.now[i].Blocks[j] = now
				room -= tokens
			}
		}
	}
	return room
}

// distilled returns a result without the lines that are not worth their tokens, and about how many tokens those count
// that stay; 0 if none does. own are the lines of the result that are marks.
func (p *plan) distilled(r sdk.ToolResponse, own marks.Places, perByte, room float64) (
	now sdk.ToolResponse, tokens float64) {
	texts := content.Literals(r.Result)
	above := 0 // lines of the texts before
	for _, s := range texts {
		above += marks.Lines(s.Text)
	}
	for i, s := range slices.Backward(texts) {
		above -= marks.Lines(s.Text)
		// What a text counts is by its length in JSON.
		perByte := perByte * float64(len(content.String(s.Text))) / float64(max(1, len(s.Text)))
		short, more := shorten(s.Text, own, above+1, perByte, room-tokens, p.known)
		texts[i].Text = short
		tokens += more
	}
	r.Result = content.WithLiterals(r.Result, texts)
	return r, tokens
}

// shorten puts marks in the place of lines that go, unless that is as long, and returns about how many tokens the others
// count, less than room. From the last to the first, a line stays that has names which stand in nothing that stays. own
// are the numbers of the lines that are marks already, and first is that of the first line.
func shorten(text string, own marks.Places, first int, perByte, room float64, known names) (
	now string, tokens float64) {
	take := func(part string) bool {
		more := perByte * float64(len(part))
		if tokens+more+gap > room {
			return false
		}
		tokens += more
		known.add(part)
		return true
	}
	lines := slices.Collect(strings.Lines(text))
	keep := make([]bool, len(lines))
	parts := slices.ContainsFunc(own, func(at int) bool {
		return at >= first && at-first < len(lines) && partial(lines[at-first])
	})
	for i, line := range slices.Backward(lines) {
		if !parts && !own.Has(first+i) && known.newIn(line) >= price*perByte*float64(len(line)) && take(line) {
			keep[i] = true
			tokens += gap / 2
		}
	}
	// What is left to read should not be mostly marks.
	whole := tokens >= enough*perByte*float64(len(text))
	var b strings.Builder
	for from, to := 0, 0; to <= len(lines); to++ {
		if to < len(lines) && !keep[to] {
			continue
		}
		gone := strings.Join(lines[from:to], "")
		if tokens > 0 && (whole || perByte*float64(len(gone)) <= 2*gap) && take(gone) {
			b.WriteString(gone)
		} else if n := own.LinesIn(lines[from:to], first+from); n > 0 {
			mark := marks.Omitted(n)
			if to == len(lines) { // the last line needs no break
				mark = strings.TrimSuffix(mark, "\n")
			}
			b.WriteString(mark)
		}
		if to < len(lines) {
			b.WriteString(lines[to])
		}
		from = to + 1
	}
	if now = b.String(); len(now) >= len(text) {
		return text, tokens
	}
	return now, tokens
}

// partial reports whether a line stands for a part of another: the two would have to stay or go together.
func partial(line string) bool {
	before, behind := marks.Joins(line)
	return before || behind
}
