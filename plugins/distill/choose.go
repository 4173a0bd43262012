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
			own += g.calls + g.cleared
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
	for i := range p.groups {
		g := &p.groups[len(p.groups)-1-i]
		keep(g, words, g.words)
	}
	for i := range p.groups {
		if g := &p.groups[len(p.groups)-1-i]; g.made && g.left == words {
			keep(g, calls, g.calls+g.cleared)
		}
	}
	room += spare
	for i := range p.groups {
		if g := &p.groups[i]; g.left >= words {
			p.learnOf(g)
		}
	}
	for i := range p.groups {
		g := &p.groups[len(p.groups)-1-i]
		if g.left == words {
			if keep(g, calls, g.calls+g.cleared); g.left == calls {
				p.learnOf(g)
			}
		}
		if g.left == calls {
			room = p.keepLines(g, room)
		}
	}
}

// learnOf takes in the identifiers of what the AI said, and of its calls if they stay.
func (p *plan) learnOf(g *group) {
	for _, i := range g.Entries {
		for _, b := range p.in.History[i].Blocks {
			_, said := b.(sdk.Text)
			_, call := b.(sdk.ToolCall)
			if said || call && g.left == calls {
				p.learn(b)
			}
		}
	}
}

// keepLines puts lines of their results back into the entries of a group, from the last to the first, and returns the
// room that is left.
func (p *plan) keepLines(g *group, room float64) float64 {
	for _, i := range slices.Backward(g.Entries) {
		for j, b := range slices.Backward(p.in.History[i].Blocks) {
			was, ok := b.(sdk.ToolResponse)
			if !ok || len(p.now[i].Blocks[j].(sdk.ToolResponse).Result) == len(was.Result) {
				continue
			}
			at := turns.At{Entry: i, Block: j}
			now, tokens := p.distilled(was, p.perByte[i], room)
			// A result must still be taken for what it is, a failure or a success: the cleared one says so.
			if call := p.call(at); tokens > 0 && p.in.Tools.Failed(call, was) == p.in.Tools.Failed(call, now) {
				p.now[i].Blocks[j] = now
				room -= tokens
			}
		}
	}
	return room
}

// distilled returns a result without the lines that are not worth their tokens, and about how many tokens those count
// that stay; 0 if none does.
func (p *plan) distilled(r sdk.ToolResponse, perByte, room float64) (now sdk.ToolResponse, tokens float64) {
	texts := content.Literals(r.Result)
	for i, s := range slices.Backward(texts) {
		// What a text counts is by its length in JSON.
		c := cut{text: s.Text, perByte: perByte * float64(len(content.String(s.Text))) / float64(max(1, len(s.Text)))}
		tokens += c.choose(p.known, room-tokens)
		texts[i].Text = c.left()
	}
	r.Result = content.WithLiterals(r.Result, texts)
	return r, tokens
}

// cut is a text of which lines go.
type cut struct {
	text    string
	perByte float64 // tokens
	lines   []string
	keep    []bool
	tokens  float64 // of those that stay
}

// choose decides which lines stay and returns what they count, less than room. From the last to the first, a line stays
// that has identifiers which stand in nothing that stays.
func (c *cut) choose(known map[string]bool, room float64) (tokens float64) {
	c.lines = slices.Collect(strings.Lines(c.text))
	c.keep = make([]bool, len(c.lines))
	if slices.ContainsFunc(c.lines, partial) {
		return 0
	}
	for i, line := range slices.Backward(c.lines) {
		news := 0.0
		for word := range identifiers(line) {
			if !known[word] {
				news++
			}
		}
		if !marks.Like(line) && news >= price*c.perByte*float64(len(line)) && c.take(i, i+1, known, room) {
			c.tokens += gap / 2
		}
	}
	// What is left to read should not be mostly marks.
	whole := c.tokens >= enough*c.perByte*float64(len(c.text))
	for from := 0; from < len(c.lines) && c.tokens > 0; {
		to, size := from, 0
		for ; to < len(c.lines) && !c.keep[to]; to++ {
			size += len(c.lines[to])
		}
		if whole || c.perByte*float64(size) <= 2*gap {
			c.take(from, to, known, room)
		}
		from = to + 1
	}
	return c.tokens
}

// partial reports whether a line stands for a part of another: the two would have to stay or go together.
func partial(line string) bool {
	before, behind := marks.Joins(line)
	return before || behind
}

// take keeps some lines if there is room for them, and takes in their identifiers.
func (c *cut) take(from, to int, known map[string]bool, room float64) bool {
	bytes := 0
	for _, line := range c.lines[from:to] {
		bytes += len(line)
	}
	tokens := c.perByte * float64(bytes)
	if c.tokens+tokens+gap > room {
		return false
	}
	c.tokens += tokens
	for i := from; i < to; i++ {
		c.keep[i] = true
		for word := range identifiers(c.lines[i]) {
			known[word] = true
		}
	}
	return true
}

// left returns the text with a mark in the place of each run of lines that goes; the text itself if that is as long.
func (c *cut) left() string {
	var b strings.Builder
	from, at := 0, 0 // where what goes begins, and the next line
	flush := func() {
		if from < at {
			mark, _ := marks.Cut(c.text, from, at)
			b.WriteString(mark)
		}
	}
	for i, line := range c.lines {
		if c.keep[i] {
			flush()
			b.WriteString(line)
			from = at + len(line)
		}
		at += len(line)
	}
	flush()
	short := b.String()
	if from < at {
		short = strings.TrimSuffix(short, "\n")
	}
	if len(short) >= len(c.text) {
		return c.text
	}
	return short
}
