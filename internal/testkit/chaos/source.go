package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"

	"github.com/thresh-dev/thresh/internal/testkit/gen"
)

// source makes what an agent says: the generated coding session that the tests of the host use, with parallel calls,
// ids that repeat, and people who speak while a tool is at work.
type source struct {
	rnd  *rand.Rand
	rest []entry // of the generated session; when it is used up, another follows
	// A held response comes first in the next batch, after what a person said in between.
	held []entry // responses that are still to come
}

// newSource returns a source whose choices come from rnd alone.
func newSource(rnd *rand.Rand) *source { return &source{rnd: rnd} }

// next returns some exchanges. It may end with a call whose response comes with the next ones, after a person spoke: an
// agent that lets its user interrupt a tool adds entries in this order.
func (s *source) next(exchanges int) []entry {
	out := s.held
	s.held = nil
	for range exchanges {
		e := s.exchange()
		// Two exchanges become parallel calls of one entry.
		if s.rnd.IntN(6) == 0 { // two at once
			e = append(e, s.exchange()...)
			e = parallel(e)
		}
		out = append(out, e...)
	}
	switch last := out[len(out)-1]; s.rnd.IntN(8) {
	case 0: // the call is at the end of the history for a turn, and pending
		s.held = []entry{last}
		out = out[:len(out)-1]
	// A person speaks while the tool is at work.
	case 1: // the person does not wait for the tool
		s.held = []entry{last}
		out = append(out[:len(out)-1:len(out)-1], human(s.rnd))
	}
	// Everything is held; a turn must add something.
	if len(out) == 0 { // it was the held response alone
		return s.next(exchanges)
	}
	return out
}

// exchange returns what is said up to the next response of a tool.
func (s *source) exchange() (out []entry) {
	for {
		if len(s.rest) == 0 {
			s.rest = generated(s.rnd)
		}
		e := s.rest[0]
		s.rest = s.rest[1:]
		out = append(out, e)
		if e.Speaker != "tool" {
			continue
		}
		if s.rnd.IntN(10) == 0 { // some agents number the calls of each turn from 1
			call := &out[len(out)-2].Blocks[1]
			call.ID, out[len(out)-1].Blocks[0].CallID = "call_1", "call_1"
		}
		return out
	}
}

// parallel makes one entry of all calls, before all responses, as models do that call several tools at once. Calls with
// the same id stay apart: no provider takes two in one message.
func parallel(entries []entry) []entry {
	var talk, responses []entry
	calls := entry{Speaker: "ai"}
	ids := map[string]bool{}
	for _, e := range entries {
		switch e.Speaker {
		case "ai":
			calls.Blocks = append(calls.Blocks, e.Blocks...)
			ids[e.Blocks[1].ID] = true
		case "tool":
			responses = append(responses, e)
		default:
			talk = append(talk, e)
		}
	}
	// Two calls with one id in one entry could be paired only by order, which providers refuse.
	if len(ids) < len(responses) {
		return entries
	}
	return append(append(talk, calls), responses...)
}

// human is a short remark. It is neither a task nor stale: nothing may remove it but what makes room.
func human(rnd *rand.Rand) entry {
	text := fmt.Sprint("And one more thing, number ", rnd.IntN(1000))
	return entry{Speaker: "human", Blocks: []block{{Type: "text", Text: text}}}
}

// generated returns a coding session that ends with the response of a tool.
func generated(rnd *rand.Rand) (out []entry) {
	const length = 100
	for _, c := range gen.Session(length, rnd.Uint64()) {
		var e entry
		if err := json.Unmarshal(c.AppendJSON(nil), &e); err != nil {
			panic(err) // the generator and this driver disagree about the form of an entry
		}
		out = append(out, e)
	}
	// So that sessions can follow each other.
	for out[len(out)-1].Speaker != "tool" {
		out = out[:len(out)-1]
	}
	return out
}
