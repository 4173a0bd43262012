package distill

import (
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/sdk"
	"github.com/thresh-dev/thresh/sdk/content"
	"github.com/thresh-dev/thresh/sdk/summary"
	"github.com/thresh-dev/thresh/sdk/tools"
	"github.com/thresh-dev/thresh/sdk/turns"
)

// plan is a compression in progress: the history taken apart into what stays and what may go.
type plan struct {
	// in is the call, which is never changed. Entries and groups refer to it by position.
	in        sdk.CompressInput
	pairs     *turns.Pairs
	schedule  schedule
	fixed     []bool  // entries that stay as they are
	base      float64 // tokens of these, and of the lines of earlier passes for calls that went
	groups    []group // all else, in the order of the history
	current   map[turns.At]bool
	exchanges []turns.Exchange
}

// group is an exchange of which something may go.
type group struct {
	exchange turns.Exchange
	// What it counts, in tokens: what the AI said and thought, its calls, their results, and the lines in place of these.
	words, calls, results, cleared float64
	// made: without its calls something of the AI's would be gone that stands nowhere else.
	made bool
	left left
}

// left is what stays of a group.
type left int

const (
	nothing left = iota
	words        // what the AI said
	calls        // and its calls, with a line in place of each result
	everything
)

const (
	// tailShare of the target is what the newest entries may fill, which stay as they are: the model is in the middle of
	// what they are about. minTail is how many stay in any case.
	tailShare, minTail = 0.5, 2
	// reserve is the share of the target that is left for results where what the AI said and wrote would fill it.
	reserve = 0.15
)

// newPlan takes the history apart.
func newPlan(in sdk.CompressInput, s schedule) *plan {
	p := &plan{in: in, schedule: s, fixed: make([]bool, len(in.History)), pairs: turns.Pair(in.History)}
	p.findCurrent()
	p.exchanges = turns.Exchanges(in.History, p.pairs)
	p.fix()
	for _, x := range p.exchanges {
		if p.fixed[x.First()] || isFold(in.History[x.First()]) {
			for _, i := range x.Entries {
				p.base += float64(in.Tokens(i, i+1))
			}
		} else {
			p.groups = append(p.groups, p.scan(x))
		}
	}
	return p
}

// fix decides which entries stay as they are: what people said, what is pinned or of unknown speakers, and the newest.
// An exchange of which a part stays, stays whole, so no call is parted from its answer.
func (p *plan) fix() {
	history := p.in.History
	tail, tokens := len(history), 0
	for tail > 0 {
		tokens += p.in.Tokens(tail-1, tail)
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
	for _, x := range p.exchanges {
		stays := slices.ContainsFunc(x.Entries, func(i int) bool { return p.fixed[i] })
		for _, i := range x.Entries {
			p.fixed[i] = stays
		}
	}
}

// scan takes an exchange apart. The host counts whole entries. What a part of one counts is estimated by its share of
// the entry's JSON.
func (p *plan) scan(x turns.Exchange) group {
	g := group{exchange: x}
	for _, i := range x.Entries {
		entry := p.in.History[i]
		var all, called, answered, cleared int // bytes
		thinks := false
		for j, b := range entry.Blocks {
			n := len(content.AppendBlock(nil, b))
			all += n
			switch b := b.(type) {
			case sdk.ToolCall:
				called += n
				g.made = g.made || p.current[turns.At{Entry: i, Block: j}]
			case sdk.ToolResponse:
				answered += n
				cleared += len(content.AppendBlock(nil, p.cleared(b, turns.At{Entry: i, Block: j})))
			case sdk.Thinking:
				thinks = true
			}
		}
		// Thinking alone is no entry: it stays with its calls.
		g.made = g.made || thinks && called > 0 && !says(entry)
		perToken := float64(max(all, 1)) / float64(p.in.Tokens(i, i+1)) // differs between texts
		g.calls += float64(called) / perToken
		g.results += float64(answered) / perToken
		g.cleared += float64(cleared) / perToken
		g.words += float64(all-called-answered) / perToken
	}
	return g
}

// says reports whether an entry has more than calls, results and thinking.
func says(entry sdk.Content) bool {
	return slices.ContainsFunc(entry.Blocks, func(b sdk.Block) bool {
		switch b := b.(type) {
		case sdk.ToolCall, sdk.ToolResponse, sdk.Thinking:
			return false
		case sdk.Text:
			return strings.TrimSpace(b.Text) != ""
		}
		return true
	})
}

// cleared is a response with a line in place of its result, which says how the call ended: whoever reads it later still
// knows a failure from a success. What is as short stays.
func (p *plan) cleared(r sdk.ToolResponse, at turns.At) sdk.ToolResponse {
	call := sdk.ToolCall{}
	if ref, ok := p.pairs.Call(at); ok {
		call = p.in.History[ref.Entry].Blocks[ref.Block].(sdk.ToolCall)
	}
	if line, ok := summary.Line(p.in.Tools, call, r); ok {
		return r.WithResultText(line)
	}
	return r
}

// choose decides what stays, from the newest exchange to the oldest: first what the AI said, then what it wrote and did
// not write over, as that may stand nowhere else. In what room is left, other calls stay with their results, or with
// lines in place of these.
func (p *plan) choose() {
	own, spare := 0.0, reserve*p.schedule.target
	for _, g := range p.groups {
		own += g.words
		if g.made {
			own += g.calls + g.cleared
		}
	}
	room := max((p.schedule.trigger-p.base)*ownShare, minOwn*p.schedule.trigger)
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
		switch g := &p.groups[len(p.groups)-1-i]; g.left {
		case words:
			if keep(g, everything, g.calls+g.results); g.left == words {
				keep(g, calls, g.calls+g.cleared)
			}
		case calls:
			keep(g, everything, g.results-g.cleared)
		}
	}
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
				path := tools.Resolve(p.in.WorkspaceRoot, w.Path)
				p.current[at] = p.current[at] || !over[path]
				over[path] = over[path] || w.Whole || w.Deletes
			}
		}
	}
}
