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
	partner []At  // of every block, in order; none where it has none
	pending []At
	orphans []At
}

var none = At{-1, -1}

// Pair finds the call of every response. Ids repeat in real transcripts: a response answers the nearest preceding call
// with its id that is not answered yet, so that no call has two responses.
func Pair(history []content.Content) *Pairs {
	p := &Pairs{start: make([]int, len(history)+1)}
	for i := range history {
		p.start[i+1] = p.start[i] + len(history[i].Blocks)
	}
	p.partner = make([]At, p.start[len(history)])

	// The unanswered calls with one id are a stack: top has the last one, below[x] the one before x.
	type waiting struct {
		ref   At
		below int
	}
	var calls []waiting
	top := make(map[string]int) // 1 + index in calls
	for i := range history {
		for j, b := range history[i].Blocks {
			at := At{i, j}
			p.partner[p.start[i]+j] = none
			switch b := b.(type) {
			case content.ToolCall:
				if history[i].Speaker == content.AI {
					calls = append(calls, waiting{at, top[b.ID]})
					top[b.ID] = len(calls)
				}
			case content.ToolResponse:
				if history[i].Speaker != content.Tool {
					continue
				}
				n := top[b.CallID]
				if n == 0 {
					p.orphans = append(p.orphans, at)
					continue
				}
				call := calls[n-1]
				top[b.CallID] = call.below
				p.partner[p.start[i]+j] = call.ref
				p.partner[p.start[call.ref.Entry]+call.ref.Block] = at
			}
		}
	}
	for _, c := range calls {
		if p.partner[p.start[c.ref.Entry]+c.ref.Block] == none {
			p.pending = append(p.pending, c.ref)
		}
	}
	return p
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

// entries returns the number of entries of the history.
func (p *Pairs) entries() int { return len(p.start) - 1 }

// blocks returns the partners of the blocks of entry i.
func (p *Pairs) blocks(i int) []At { return p.partner[p.start[i]:p.start[i+1]] }
