package distill

import (
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/sdk"
	"github.com/thresh-dev/thresh/sdk/content"
	"github.com/thresh-dev/thresh/sdk/marks"
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
	base      float64       // tokens of what stays as it is, and of the lines of earlier passes for calls that went
	groups    []*group      // all else, in the order of the history
	lines     []int         // those lines of earlier passes that may go
	perByte   []float64     // tokens of each entry by bytes of its JSON; it differs between texts
	now       []sdk.Content // what becomes of each entry: at first the results of groups are cleared
	known     names         // in what stays
	counts    map[string]int64
}

// group is an exchange of which something may go.
type group struct {
	turns.Exchange
	words, calls float64 // tokens of what the AI said, and of its calls with the lines in place of their results
	made         bool    // without its calls something of the AI's would be gone that stands nowhere else
	left         left
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

// newPlan takes the history apart. What people said stays as it is, what is pinned or of unknown speakers, and the
// newest entries. An exchange of which a part stays, stays whole, so no call is parted from its answer.
func newPlan(in sdk.CompressInput, s schedule) *plan {
	n := len(in.History)
	p := &plan{in: in, schedule: s, pairs: turns.Pair(in.History), perByte: make([]float64, n),
		now: slices.Clone(in.History), known: names{}, counts: map[string]int64{}}
	p.exchanges = turns.Exchanges(in.History, p.pairs)
	current, tail := p.current(), n
	spoken := false // calls behind which only tools spoke may still run
	for tail > 0 && (n-tail < minTail || !spoken || float64(in.Tokens(tail-1, n)) <= tailShare*s.target) {
		tail--
		spoken = in.History[tail].Speaker != sdk.Tool || spoken
	}
	for _, x := range p.exchanges {
		stays := slices.ContainsFunc(x.Entries, func(i int) bool {
			entry := in.History[i]
			return i >= tail || entry.Speaker != sdk.AI && entry.Speaker != sdk.Tool || entry.Pinned() ||
				marks.IsGone(entry)
		})
		if folded := folded(in.History[x.First()]) != nil; !stays && folded {
			p.lines = append(p.lines, x.First())
		} else if !stays {
			p.groups = append(p.groups, p.scan(x, current))
			continue
		}
		for _, i := range x.Entries {
			p.base += float64(in.Tokens(i, i+1))
			p.learn(in.History[i].Blocks)
		}
	}
	return p
}

// current returns the calls that wrote into a file what no later call wrote over as a whole: it may stand nowhere else.
func (p *plan) current() map[turns.At]bool {
	since := map[string][]turns.At{} // by file, the calls since it was last written as a whole
	for at, answered := range p.pairs.Answered() {
		call := p.in.History[at.Entry].Blocks[at.Block].(sdk.ToolCall)
		if p.in.Tools.Failed(call, p.in.History[answered.Entry].Blocks[answered.Block].(sdk.ToolResponse)) {
			continue
		}
		for _, w := range p.in.Tools.UseCall(call).Writes {
			path := tools.Key(p.in.WorkspaceRoot, w.Path)
			if w.Whole || w.Deletes {
				since[path] = nil
			}
			since[path] = append(since[path], at)
		}
	}
	current := map[turns.At]bool{}
	for _, written := range since {
		for _, at := range written {
			current[at] = true
		}
	}
	return current
}

// scan takes an exchange apart. The host counts whole entries. What a part of one counts is estimated by its share of
// the entry's JSON.
func (p *plan) scan(x turns.Exchange, current map[turns.At]bool) *group {
	g := &group{Exchange: x}
	for _, i := range x.Entries {
		entry := p.in.History[i]
		p.now[i].Blocks = slices.Clone(entry.Blocks)
		var said, called, answered, cleared int // bytes
		thinks, own := false, marks.In(entry)
		for j, b := range entry.Blocks {
			at, n := turns.At{Entry: i, Block: j}, len(content.AppendBlock(nil, b))
			switch b := b.(type) {
			case sdk.ToolCall:
				called += n
				g.made = g.made || current[at]
			case sdk.ToolResponse:
				answered += n
				// The line says how the call ended: whoever reads it later still knows a failure from a success.
				if line, ok := summary.Line(p.in.Tools, p.call(at), b, own[j]); ok {
					p.now[i].Blocks[j] = b.WithResultText(line)
				}
				cleared += len(content.AppendBlock(nil, p.now[i].Blocks[j]))
			default:
				said += n
				_, thought := b.(sdk.Thinking)
				thinks = thinks || thought
			}
		}
		// Thinking alone is no entry: it stays with its calls.
		g.made = g.made || thinks && called > 0 && !says(entry)
		p.perByte[i] = float64(p.in.Tokens(i, i+1)) / float64(max(said+called+answered, 1))
		g.words += float64(said) * p.perByte[i]
		g.calls += float64(called+cleared) * p.perByte[i]
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

// call returns the call that a response answers, the zero value if unknown.
func (p *plan) call(at turns.At) (call sdk.ToolCall) {
	if ref, ok := p.pairs.Call(at); ok {
		call = p.in.History[ref.Entry].Blocks[ref.Block].(sdk.ToolCall)
	}
	return call
}

// learn takes in the names in blocks that stay.
func (p *plan) learn(blocks []sdk.Block) {
	for _, b := range blocks {
		for _, s := range textsOf(b) {
			p.known.add(s.Text)
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
