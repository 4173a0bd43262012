package distill

import (
	"slices"

	"github.com/thresh-dev/thresh/sdk"
	"github.com/thresh-dev/thresh/sdk/content"
	"github.com/thresh-dev/thresh/sdk/marks"
	"github.com/thresh-dev/thresh/sdk/turns"
)

// plan is a compression in progress: the history taken apart into what stays and what may lose lines.
type plan struct {
	// in is the call, which is never changed. Entries and groups refer to it by position.
	in       sdk.CompressInput
	pairs    *turns.Pairs
	schedule schedule
	counts   []int   // tokens of each entry
	fixed    []bool  // entries that stay as they are
	base     float64 // tokens of these
	groups   []group // all else, in the order of the history
	index    index
	// covered has, by the number of an identifier, the last run of choose that keeps a line with it. Runs count from 1.
	covered []int32
	run     int32
}

// group is an exchange that may shrink.
type group struct {
	exchange turns.Exchange
	calls    bool    // it has calls or results; otherwise the AI said something
	fold     bool    // it is the line of an earlier pass for exchanges that went: see folder
	base     float64 // tokens of what stays as long as the group does: calls with their small parameters
	ids      []int32 // what these parameters hold, by number in index
	texts    []text
	gone     bool // by the last choose: all of it goes
}

// text is one text of a group: a result, or what the AI said. in says where in the block it stands,
// and units are its lines.
type text struct {
	entry, block int
	in           content.Literal
	units        []unit
}

// unit is one line of a text, or several that belong together.
type unit struct {
	line string
	cost float64 // tokens
	ids  []int32 // the identifiers in it, by number in index
	keep bool    // by the last choose
}

// tailShare of the target is what the newest entries may fill, which stay as they are: the model is in the middle of
// what they are about. leastTail is how many stay in any case.
const tailShare, leastTail = 0.3, 2

// newPlan takes the history apart.
func newPlan(in sdk.CompressInput, s schedule) *plan {
	n := len(in.History)
	p := &plan{in: in, schedule: s, counts: make([]int, n), fixed: make([]bool, n),
		index: index{known: map[string]int32{}}}
	for i := range n {
		p.counts[i] = in.Tokens(i, i+1)
	}
	p.pairs = turns.Pair(in.History)
	exchanges := turns.Exchanges(in.History, p.pairs)
	p.fix(exchanges)
	for i, entry := range in.History {
		if !p.fixed[i] {
			continue
		}
		p.base += float64(p.counts[i])
		// What an entry that stays holds need not be kept elsewhere.
		for _, b := range entry.Blocks {
			for _, s := range textsOf(b) {
				for _, id := range p.identify(s.Text, i) {
					p.index.items[id].stays = true
				}
			}
		}
	}
	for _, x := range exchanges {
		if !p.fixed[x.First()] {
			p.groups = append(p.groups, p.scan(x))
		}
	}
	p.covered = make([]int32, len(p.index.items))
	return p
}

// fix decides which entries stay as they are: what people said, what is pinned or of unknown speakers, and the newest.
// An exchange of which a part stays, stays whole, so no call is parted from its answer.
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
	// A tail that begins with answers begins with their calls instead.
	for tail > 0 && history[tail].Speaker == sdk.Tool {
		tail--
	}
	for i, entry := range history {
		shrinks := entry.Speaker == sdk.AI || entry.Speaker == sdk.Tool
		p.fixed[i] = i >= tail || !shrinks || entry.Pinned()
	}
	for _, x := range exchanges {
		stays := slices.ContainsFunc(x.Entries, func(i int) bool { return p.fixed[i] })
		for _, i := range x.Entries {
			p.fixed[i] = stays
		}
	}
}

// scan takes an exchange apart that may shrink. The host counts whole entries. What a part of one counts is estimated
// by its share of the entry's JSON.
func (p *plan) scan(x turns.Exchange) group {
	g := group{exchange: x, fold: isFold(p.in.History[x.First()])}
	for _, i := range x.Entries {
		entry := p.in.History[i]
		bytes, rest := 0, 0 // of the entry, and of what cannot shrink
		for _, b := range entry.Blocks {
			n := len(content.AppendBlock(nil, b))
			if bytes += n; !thinks(b) {
				rest += n
			}
		}
		// Characters per token differ between texts, so each entry has its own factor.
		perByte := float64(p.counts[i]) / float64(max(bytes, 1))
		for j, b := range entry.Blocks {
			_, call := b.(sdk.ToolCall)
			_, result := b.(sdk.ToolResponse)
			g.calls = g.calls || call || result
			for _, s := range textsOf(b) {
				switch {
				case mayShrink(entry.Speaker, b, s) && !g.fold:
					inJSON := len(content.String(s.Text))
					rest -= inJSON
					cost := float64(inJSON) * perByte
					g.texts = append(g.texts, text{i, j, s, p.cut(s.Text, i, cost)})
				case call:
					g.ids = append(g.ids, p.identify(s.Text, i)...)
				}
			}
		}
		g.base += float64(max(rest, 0)) * perByte
	}
	return g
}

// cut divides a text of an entry into units, which share its cost by their bytes.
func (p *plan) cut(s string, entry int, cost float64) (units []unit) {
	for _, line := range lines(s) {
		u := unit{line: line, cost: cost * float64(len(line)) / float64(len(s))}
		if _, mark := marks.Read(line); !mark { // a mark has no value
			u.ids = p.identify(line, entry)
		}
		units = append(units, u)
	}
	return units
}

// identify returns the numbers of the identifiers in a text of an entry.
func (p *plan) identify(s string, entry int) (ids []int32) {
	by := p.in.History[entry].Speaker
	identifiers(s, func(word string) { ids = append(ids, p.index.mention(word, entry, by)) })
	return ids
}

// said reports whether the text is what the AI said. Where all of that goes, no mark is left. Only a text block has
// no position within JSON.
func (t *text) said() bool { return t.in.To == 0 }

// thinks reports whether a block is the model's thinking, without a provider's proof: such thinking stays with its
// entry.
func thinks(b sdk.Block) bool {
	t, ok := b.(sdk.Thinking)
	return ok && t.Signature == "" && !t.Extra.Has("encryptedContent")
}
