package distill

import (
	"slices"

	"github.com/thresh-dev/thresh/sdk"
	"github.com/thresh-dev/thresh/sdk/content"
	"github.com/thresh-dev/thresh/sdk/marks"
	"github.com/thresh-dev/thresh/sdk/tools"
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
	own     float64           // tokens of the groups that hold what the AI said and wrote
	current map[turns.At]bool // calls that wrote what nothing wrote over since
}

// group is an exchange that may shrink.
type group struct {
	exchange turns.Exchange
	calls    bool    // it has calls or results; otherwise the AI said something
	fold     bool    // it is the line of an earlier pass for exchanges that went: see folder
	base     float64 // tokens of what stays as long as the group does: calls with their small parameters
	ids      []int32 // what these parameters hold, by number in index
	texts    []text
	own      own
	gone     bool // by the last choose: all of it goes
}

// own says whether a group holds what the AI said, or wrote and did not write over.
type own int

const (
	none own = iota
	made     // it does
	kept     // it does, and stays for that
)

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
// what they are about. minTail is how many stay in any case.
const tailShare, minTail = 0.5, 2

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
	p.findCurrent()
	p.fix(exchanges)
	for i, entry := range in.History {
		if !p.fixed[i] {
			continue
		}
		p.base += float64(p.counts[i])
		// What an entry that stays holds need not be kept elsewhere. What was read again may go when a person speaks.
		for j, b := range entry.Blocks {
			if r, ok := b.(sdk.ToolResponse); ok && p.recalled(turns.At{Entry: i, Block: j}, r) {
				continue
			}
			for _, s := range textsOf(b) {
				for _, id := range p.identify(s.Text) {
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

// recalled reports whether a result is one that the model read again.
func (p *plan) recalled(at turns.At, r sdk.ToolResponse) bool {
	call, ok := p.pairs.Call(at)
	if ok && tools.Recalls(p.in.History[call.Entry].Blocks[call.Block].(sdk.ToolCall).Name) {
		return true
	}
	return slices.ContainsFunc(content.Literals(r.Result), func(s content.Literal) bool { return marks.HasRecalled(s.Text) })
}

// fix decides which entries stay as they are: what people said, what is pinned or of unknown speakers, and the newest.
// An exchange of which a part stays, stays whole, so no call is parted from its answer.
func (p *plan) fix(exchanges []turns.Exchange) {
	history := p.in.History
	tail, tokens := len(history), 0
	for tail > 0 {
		tokens += p.counts[tail-1]
		if len(history)-tail >= minTail && float64(tokens) > tailShare*p.schedule.target {
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
			bytes += n
			rest += n
		}
		// Characters per token differ between texts, so each entry has its own factor.
		perByte := float64(p.counts[i]) / float64(max(bytes, 1))
		for j, b := range entry.Blocks {
			_, call := b.(sdk.ToolCall)
			_, result := b.(sdk.ToolResponse)
			_, says := b.(sdk.Text)
			g.calls = g.calls || call || result
			if says && entry.Speaker == sdk.AI && !g.fold || p.current[turns.At{Entry: i, Block: j}] {
				g.own = made
			}
			for _, s := range textsOf(b) {
				switch {
				case mayShrink(b, s) && !g.fold:
					inJSON := len(content.String(s.Text))
					rest -= inJSON
					cost := float64(inJSON) * perByte
					g.texts = append(g.texts, text{i, j, s, p.cut(s.Text, cost)})
				default:
					g.ids = append(g.ids, p.identify(s.Text)...)
				}
			}
		}
		g.base += float64(max(rest, 0)) * perByte
	}
	if g.own == made {
		p.own += g.base
	}
	return g
}

// cut divides a text into units, which share its cost by their bytes.
func (p *plan) cut(s string, cost float64) (units []unit) {
	for _, line := range lines(s) {
		u := unit{line: line, cost: cost * float64(len(line)) / float64(len(s))}
		if _, mark := marks.Read(line); !mark { // a mark has no value
			u.ids = p.identify(line)
		}
		units = append(units, u)
	}
	return units
}

// identify returns the numbers of the identifiers in a text.
func (p *plan) identify(s string) (ids []int32) {
	identifiers(s, func(word string) { ids = append(ids, p.index.mention(word)) })
	return ids
}

// findCurrent finds the calls that wrote into a file what no later call wrote over as a whole: it may stand nowhere else.
func (p *plan) findCurrent() {
	p.current = map[turns.At]bool{}
	over := map[string]bool{}
	for i, entry := range slices.Backward(p.in.History) {
		for j, b := range slices.Backward(entry.Blocks) {
			call, ok := b.(sdk.ToolCall)
			if !ok {
				continue
			}
			at := turns.At{Entry: i, Block: j}
			answer, ok := p.pairs.Response(at)
			if !ok || p.in.Tools.Failed(call, p.in.History[answer.Entry].Blocks[answer.Block].(sdk.ToolResponse)) {
				continue
			}
			for _, w := range p.in.Tools.UseCall(call).Writes {
				path := tools.Key(p.in.WorkspaceRoot, w.Path)
				p.current[at] = p.current[at] || !over[path]
				over[path] = over[path] || w.Whole || w.Deletes
			}
		}
	}
}
