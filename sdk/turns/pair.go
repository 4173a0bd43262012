package turns

import (
	"iter"

	"github.com/thresh-dev/thresh/sdk/content"
)

// At is the place of a block: the position of its entry in the history and its own position in that entry.
type At struct{ Entry, Block int }

// Pairs says which response answers which call. Make it with [Pair].
type Pairs struct {
	start   []int // where the blocks of an entry begin in partner, and one more at the end
	partner []At  // of every block, in order; none if it has none
	spoke   []int // for every entry, where the AI last began to speak, up to and including it; -1 if it did not yet
	pending []At
	orphans []At
}

var none = At{-1, -1}

// Pair finds the call of every response, by the rule of [Matcher]. Calls count in entries of the AI, responses in
// entries of a tool.
func Pair(history []content.Content) *Pairs {
	p := &Pairs{start: make([]int, len(history)+1), spoke: make([]int, len(history))}
	for i := range history {
		p.start[i+1] = p.start[i] + len(history[i].Blocks)
	}
	p.partner = make([]At, p.start[len(history)])

	var m Matcher
	spoke := -1
	for i := range history {
		if history[i].Speaker == content.AI && (i == 0 || history[i-1].Speaker != content.AI) {
			spoke = i
		}
		p.spoke[i] = spoke
		for j, b := range history[i].Blocks {
			at := At{i, j}
			p.partner[p.start[i]+j] = none
			switch b := b.(type) {
			case content.ToolCall:
				if history[i].Speaker == content.AI {
					m.Call(b.ID, b.Name, at)
				}
			case content.ToolResponse:
				if history[i].Speaker != content.Tool {
					continue
				}
				call, ok := m.Response(b.CallID, b.ToolName)
				if !ok {
					p.orphans = append(p.orphans, at)
					continue
				}
				p.partner[p.start[i]+j] = call
				p.partner[p.start[call.Entry]+call.Block] = at
			}
		}
	}
	for i := range m.calls {
		if !m.calls[i].answered {
			p.pending = append(p.pending, m.calls[i].at())
		}
	}
	return p
}

// Late reports whether the AI spoke again between a call and this response. Providers take responses right after the
// calls only, so a host sends neither a late response nor its call, although the two belong together.
func (p *Pairs) Late(response At) bool {
	call, ok := p.Call(response)
	return ok && call.Entry < p.spoke[response.Entry]
}

// Response returns the response to a call; ok is false if there is none or call is no call.
func (p *Pairs) Response(call At) (response At, ok bool) {
	r := p.partnerOf(call)
	return r, r != none && r.Entry > call.Entry
}

// Call returns the call that a response answers; ok is false if it lost its call or response is no response.
func (p *Pairs) Call(response At) (call At, ok bool) {
	r := p.partnerOf(response)
	return r, r != none && r.Entry < response.Entry
}

func (p *Pairs) partnerOf(at At) At {
	if at.Entry < 0 || at.Entry >= len(p.start)-1 || at.Block < 0 || at.Block >= p.start[at.Entry+1]-p.start[at.Entry] {
		return none
	}
	return p.partner[p.start[at.Entry]+at.Block]
}

// Answered yields every call that was answered and its response, in the order of the calls.
func (p *Pairs) Answered() iter.Seq2[At, At] {
	return func(yield func(call, response At) bool) {
		for i := range p.entries() {
			for j, response := range p.blocks(i) {
				if response != none && response.Entry > i && !yield(At{i, j}, response) {
					return
				}
			}
		}
	}
}

// Pending returns the calls without a response, in order. It must not be changed.
func (p *Pairs) Pending() []At { return p.pending }

// Orphans returns the responses that have no call, in order. It must not be changed.
func (p *Pairs) Orphans() []At { return p.orphans }

func (p *Pairs) entries() int { return len(p.start) - 1 }

func (p *Pairs) blocks(i int) []At { return p.partner[p.start[i]:p.start[i+1]] }
