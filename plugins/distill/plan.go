package main

import (
	"strings"

	"github.com/thresh-dev/thresh/sdk"
	"github.com/thresh-dev/thresh/sdk/turns"
)

// plan is a compression in progress: the history taken apart into what stays and what may lose lines.
type plan struct {
	in       sdk.CompressInput
	schedule schedule
	pairs    *turns.Pairs
	counts   []int     // tokens of each entry
	age      []float64 // thousands of tokens behind each entry
	fixed    []bool    // entries that stay as they are
	base     float64   // tokens of these

	// All else, each list in the order of the history. Spans are ranges of the next list.
	groups  []group
	texts   []text
	units   []unit
	ids     []int32 // of the units, numbers in index
	callIDs []int32 // of the groups

	index   index
	covered []int32 // by item: the last run of choose that keeps it
	run     int32
}

// group is an exchange that may shrink.
type group struct {
	exchange turns.Exchange
	calls    bool // it has calls or results; otherwise the AI said something
	fold     bool // it is a line of an earlier pass for exchanges that went: see folder
	base     float64
	texts    span
	ids      span // what the small parameters of its calls hold
	gone     bool // by the last choose: all of it goes
}

// text is one text of a group: a result, a long parameter, or what the AI said.
type text struct {
	entry, block int
	in           stringIn
	units        span
}

// unit is one line of a text, or several that belong together.
type unit struct {
	line  string
	cost  float64 // tokens
	bonus float64 // what it is worth besides its identifiers
	ids   span
	gap   int32 // the line is the mark of so many that went before
	keep  bool  // by the last choose
}

type span struct{ from, to int32 }

// tailShare of the target is what the newest entries may fill, which stay as they are; leastTail is how many stay in
// any case.
const tailShare, leastTail = 0.3, 2

// newPlan takes the history apart.
func newPlan(in sdk.CompressInput, s schedule) *plan {
	n := len(in.History)
	p := &plan{
		in: in, schedule: s, pairs: turns.Pair(in.History), counts: make([]int, n), age: make([]float64, n),
		fixed: make([]bool, n), index: index{known: map[string]int32{}},
	}
	behind := 0
	for i := n - 1; i >= 0; i-- {
		p.counts[i] = in.Tokens(i, i+1)
		p.age[i] = float64(behind) / 1000
		behind += p.counts[i]
	}
	exchanges := turns.Exchanges(in.History, p.pairs)
	p.fix(exchanges)
	for i, entry := range in.History {
		if p.fixed[i] {
			p.base += float64(p.counts[i])
			p.scanFixed(i, entry)
		}
	}
	for _, x := range exchanges {
		if !p.fixed[x.First()] {
			p.scan(x)
		}
	}
	p.index.weigh(p.age)
	p.covered = make([]int32, len(p.index.items))
	return p
}

// fix decides which entries stay as they are: what people said, what is pinned or of unknown speakers, and the newest.
// An exchange of which a part stays, stays whole.
func (p *plan) fix(exchanges []turns.Exchange) {
	history := p.in.History
	tail, tokens := len(history), 0
	for tail > 0 {
		tokens += p.counts[tail-1]
		if len(history)-tail >= leastTail && float64(tokens) > tailShare*p.schedule.target {
			break
		}
		tail--
	}
	for tail > 0 && history[tail].Speaker == sdk.Tool {
		tail--
	}
	for i, entry := range history {
		shrinks := entry.Speaker == sdk.AI || entry.Speaker == sdk.Tool
		p.fixed[i] = i >= tail || !shrinks || entry.Pinned()
	}
	for _, x := range exchanges {
		stays := false
		for _, i := range x.Entries {
			stays = stays || p.fixed[i]
		}
		for _, i := range x.Entries {
			p.fixed[i] = stays
		}
	}
}

// scanFixed takes in an entry that stays: what it holds need not be kept elsewhere.
func (p *plan) scanFixed(at int, entry sdk.Content) {
	see := func(word string) {
		id := p.index.id(word)
		p.index.items[id].stays = true
		if entry.Speaker == sdk.AI || entry.Speaker == sdk.Tool {
			p.index.mention(id, at, entry.Speaker == sdk.AI)
		}
	}
	for _, b := range entry.Blocks {
		for _, s := range textsOf(b) {
			identifiers(s.text, see)
		}
	}
}

// scan takes in an exchange that may shrink.
func (p *plan) scan(x turns.Exchange) {
	g := group{exchange: x, fold: isFold(p.in.History[x.First()])}
	g.texts.from, g.ids.from = int32(len(p.texts)), int32(len(p.callIDs))
	for _, i := range x.Entries {
		entry := p.in.History[i]
		bytes, rest := 0, 0 // of the entry, and of what cannot shrink
		for _, b := range entry.Blocks {
			bytes += size(b)
			if !thinks(b) {
				rest += size(b)
			}
		}
		perByte := float64(p.counts[i]) / float64(max(bytes, 1))
		for j, b := range entry.Blocks {
			_, call := b.(sdk.ToolCall)
			_, result := b.(sdk.ToolResponse)
			g.calls = g.calls || call || result
			for _, s := range textsOf(b) {
				switch {
				case mayShrink(entry.Speaker, b, s) && !g.fold:
					rest -= len(s.text)
					p.cut(i, j, s, perByte)
				case call:
					p.callIDs = p.identify(p.callIDs, s.text, i, true)
				}
			}
		}
		g.base += float64(max(rest, 0)) * perByte
	}
	g.texts.to, g.ids.to = int32(len(p.texts)), int32(len(p.callIDs))
	p.groups = append(p.groups, g)
}

// identify appends the numbers of the identifiers in a text of an entry.
func (p *plan) identify(ids []int32, s string, entry int, ai bool) []int32 {
	identifiers(s, func(word string) {
		id := p.index.id(word)
		p.index.mention(id, entry, ai)
		ids = append(ids, id)
	})
	return ids
}

// Bonuses for lines, by what they are: messages of failure, the first lines and the last ones of a text, what the AI
// said. They are halved after bonusAge thousands of tokens.
const (
	errorBonus, edgeBonus, saidBonus = 0.05, 0.02, 0.05
	firstLines, lastLines            = 2, 3
	bonusAge                         = 8.0
)

// cut divides a text into units.
func (p *plan) cut(entry, block int, s stringIn, perByte float64) {
	t := text{entry: entry, block: block, in: s, units: span{from: int32(len(p.units))}}
	ai := p.in.History[entry].Speaker == sdk.AI
	all := lines(s.text)
	for n, line := range all {
		u := unit{line: line, cost: float64(len(line)) * perByte, ids: span{from: int32(len(p.ids))}}
		if u.gap = int32(gapOf(line)); u.gap == 0 {
			if n < firstLines || n >= len(all)-lastLines {
				u.bonus += edgeBonus
			}
			if isError(line) {
				u.bonus += errorBonus
			}
			if t.said() {
				u.bonus += saidBonus
			}
			u.bonus /= 1 + p.age[entry]/bonusAge
			p.ids = p.identify(p.ids, line, entry, ai)
		}
		u.ids.to = int32(len(p.ids))
		p.units = append(p.units, u)
	}
	t.units.to = int32(len(p.units))
	p.texts = append(p.texts, t)
}

// said reports whether the text is what the AI said. Where all of that goes, no mark is left.
func (t *text) said() bool { return t.in.to == 0 }

// isError reports whether a line looks like a message of failure.
func isError(line string) bool {
	for _, word := range [...]string{"rror", "ERROR", "fail", "Fail", "FAIL", "panic", "xception", "not found"} {
		if strings.Contains(line[:min(len(line), longLine)], word) {
			return true
		}
	}
	return false
}

// size is about how many bytes a block has.
func size(b sdk.Block) int {
	const fields = 24 // names, ids and brackets
	switch b := b.(type) {
	case sdk.Text:
		return len(b.Text) + fields/4
	case sdk.Code:
		return len(b.Code) + fields/4
	case sdk.Thinking:
		return len(b.Thought) + fields/4
	case sdk.ToolCall:
		return len(b.Name) + len(b.Parameters) + fields
	case sdk.ToolResponse:
		return len(b.ToolName) + len(b.Result) + len(b.Error) + fields
	case sdk.Media:
		return len(b.Data)
	case sdk.Opaque:
		return len(b.JSON)
	}
	return fields
}

func thinks(b sdk.Block) bool {
	_, ok := b.(sdk.Thinking)
	return ok
}
