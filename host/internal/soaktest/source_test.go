package soaktest

import (
	"fmt"
	"math/rand/v2"

	"github.com/thresh-dev/thresh/internal/testkit/gen"
	"github.com/thresh-dev/thresh/sdk/content"
)

// source makes what an agent says: a generated coding session with parallel calls, ids that repeat, and people who speak
// while a tool is at work.
type source struct {
	rnd  *rand.Rand
	rest []content.Content // of the generated session; when it is used up, another follows
	held []content.Content // a response that comes first in the next batch
}

// next returns some exchanges. It may end with a call whose response comes with the next ones.
func (s *source) next(exchanges int) []content.Content {
	out := s.held
	s.held = nil
	for range exchanges {
		e := s.exchange()
		if s.rnd.IntN(6) == 0 {
			e = parallel(append(e, s.exchange()...))
		}
		out = append(out, e...)
	}
	last := len(out) - 1
	switch s.rnd.IntN(8) {
	case 0: // the call is at the end of the history for a turn, and pending
		s.held = out[last:]
		out = out[:last:last]
	case 1: // a person does not wait for the tool
		s.held = []content.Content{out[last]}
		out[last] = gen.Said(content.Human, fmt.Sprint("And one more thing, number ", s.rnd.IntN(1000)))
	}
	if len(out) == 0 { // it was the held response alone
		return s.next(exchanges)
	}
	return out
}

// exchange returns what is said up to the next response of a tool.
func (s *source) exchange() (out []content.Content) {
	for {
		if len(s.rest) == 0 {
			s.rest = gen.Session(100, s.rnd.Uint64())
			for s.rest[len(s.rest)-1].Speaker != content.Tool { // so that sessions can follow each other
				s.rest = s.rest[:len(s.rest)-1]
			}
		}
		e := s.rest[0]
		s.rest = s.rest[1:]
		out = append(out, e)
		if e.Speaker != content.Tool {
			continue
		}
		if s.rnd.IntN(10) == 0 { // some agents number the calls of each turn from 1
			call := out[len(out)-2].Blocks[1].(content.ToolCall)
			answer := e.Blocks[0].(content.ToolResponse)
			call.ID, answer.CallID = "call_1", "call_1"
			out[len(out)-2].Blocks[1], e.Blocks[0] = call, answer
		}
		return out
	}
}

// parallel makes one entry of all calls, before all responses, as models do that call several tools at once. Calls with
// the same id stay apart: no provider takes two in one message.
func parallel(entries []content.Content) []content.Content {
	var talk, responses []content.Content
	calls := content.Content{Speaker: content.AI}
	ids := map[string]bool{}
	for _, e := range entries {
		switch e.Speaker {
		case content.AI:
			calls.Blocks = append(calls.Blocks, e.Blocks...)
			ids[e.Blocks[1].(content.ToolCall).ID] = true
		case content.Tool:
			responses = append(responses, e)
		default:
			talk = append(talk, e)
		}
	}
	if len(ids) < len(responses) {
		return entries
	}
	return append(append(talk, calls), responses...)
}
