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
	in        sdk.CompressInput // never changed; all else refers to its entries by position
	schedule  schedule
	pairs     *turns.Pairs
	exchanges []turns.Exchange
	current   map[turns.At]bool // calls that wrote what nothing wrote over since
	fixed     []bool            // entries that stay as they are
	base      float64           // tokens of these, and of the lines of earlier passes for calls that went
	groups    []group           // all else, in the order of the history
	perByte   []float64         // tokens of each entry by bytes of its JSON; it differs between texts
	now       []sdk.Content     // what becomes of each entry: at first the results of groups are cleared
	known     map[string]bool   // the identifiers in what stays
	counts    map[string]int64
}

// group is an exchange of which something may go.
type group struct {
	turns.Exchange
	words, calls, cleared float64 // tokens of what the AI said, of its calls, and of the lines in place of results
	made                  bool    // without its calls something of the AI's would be gone that stands nowhere else
	left                  left
}

// left is what stays of a group.
type left int

const (
	nothing left = iota
	words        // what the AI said
	calls        // and its calls, with lines of their results
)

// tailShare of the target is what the newest entries may fill, which stay as they are: the model is in the middle of
// what they are about. minTail is how many stay in any case.
const tailShare, minTail = 0.5, 2

// newPlan takes the history apart.
func newPlan(in sdk.CompressInput, s schedule) *plan {
	n := len(in.History)
	p := &plan{in: in, schedule: s, pairs: turns.Pair(in.History), fixed: make([]bool, n), perByte: make([]float64, n),
		now: slices.Clone(in.History), known: map[string]bool{}, counts: map[string]int64{}}
	p.exchanges = turns.Exchanges(in.History, p.pairs)
	p.findCurrent()
	p.fix()
	for _, x := range p.exchanges {
		if !p.fixed[x.First()] && !isFold(in.History[x.First()]) {
			p.groups = append(p.groups, p.scan(x))
			continue
		}
		for _, i := range x.Entries {
			p.base += float64(in.Tokens(i, i+1))
			p.learn(in.History[i].Blocks...)
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
	g := group{Exchange: x}
	for _, i := range x.Entries {
		entry := p.in.History[i]
		p.now[i].Blocks = slices.Clone(entry.Blocks)
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
				short := p.cleared(b, turns.At{Entry: i, Block: j})
				cleared += len(content.AppendBlock(nil, short))
				p.now[i].Blocks[j] = short
			case sdk.Thinking:
				thinks = true
			}
		}
		// Thinking alone is no entry: it stays with its calls.
		g.made = g.made || thinks && called > 0 && !says(entry)
		p.perByte[i] = float64(p.in.Tokens(i, i+1)) / float64(max(all, 1))
		g.calls += float64(called) * p.perByte[i]
		g.cleared += float64(cleared) * p.perByte[i]
		g.words += float64(all-called-answered) * p.perByte[i]
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
	if line, ok := summary.Line(p.in.Tools, p.call(at), r); ok {
		return r.WithResultText(line)
	}
	return r
}

// call returns the call that a response answers, the zero value if unknown.
func (p *plan) call(at turns.At) (call sdk.ToolCall) {
	if ref, ok := p.pairs.Call(at); ok {
		call = p.in.History[ref.Entry].Blocks[ref.Block].(sdk.ToolCall)
	}
	return call
}

// learn takes in the identifiers of blocks that stay.
func (p *plan) learn(blocks ...sdk.Block) {
	for _, b := range blocks {
		for _, s := range textsOf(b) {
			for word := range identifiers(s.Text) {
				p.known[word] = true
			}
		}
	}
}

// textsOf returns the texts of a block.
func textsOf(b sdk.Block) []content.Literal {
	switch b := b.(type) {
	case sdk.Text:
		return []content.Literal{{Text: b.Text}}
	case sdk.ToolCall:
		return content.Literals(b.Parameters)
	case sdk.ToolResponse:
		return content.Literals(b.Result)
	}
	return nil
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
