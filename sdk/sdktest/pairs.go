package sdktest

import (
	"fmt"
	"slices"

	"github.com/thresh-dev/thresh/sdk"
	"github.com/thresh-dev/thresh/sdk/turns"
)

// side is one side of a pair by what a rewrite does not shift: the id of the call, and the entry of the input (below 0: a
// new entry). Several blocks of an entry may be the same side, so sides are counted.
type side struct {
	entry int
	call  string
}

// couple is a call and its response.
type couple struct {
	call, response side
}

// pairing counts who is alone and who is not in a history.
type pairing struct {
	together map[couple]int
	orphans  map[side]int
	waiting  map[side]int
	// calls are all calls; pending are those of waiting that nobody has spoken after: the tool is still running.
	calls, pending map[side]int
}

// pairingOf returns the pairing of a history whose entries have their origins.
func pairingOf(history []sdk.Content) pairing {
	p := pairing{map[couple]int{}, map[side]int{}, map[side]int{}, map[side]int{}, map[side]int{}}
	at := func(ref turns.At) side {
		entry, ok := history[ref.Entry].Origin()
		if !ok {
			entry = -1 - ref.Entry
		}
		switch b := history[ref.Entry].Blocks[ref.Block].(type) {
		case sdk.ToolCall:
			return side{entry, b.ID}
		case sdk.ToolResponse:
			return side{entry, b.CallID}
		}
		return side{entry: entry} // not reached: only these two are paired
	}
	pairs := turns.Pair(history)
	for call, response := range pairs.Answered() {
		p.together[couple{at(call), at(response)}]++
		p.calls[at(call)]++
	}
	for _, ref := range pairs.Orphans() {
		p.orphans[at(ref)]++
	}
	last := lastSpoken(history)
	for _, ref := range pairs.Pending() {
		p.waiting[at(ref)]++
		p.calls[at(ref)]++
		if ref.Entry >= last {
			p.pending[at(ref)]++
		}
	}
	return p
}

// checkPairs complains if the pairing of calls and responses got worse: a pair stays or goes as one. What was wrong before
// may stay so; histories come with orphans, and it is not for a strategy to repair them.
func checkPairs(all *problems, before, after []sdk.Content) {
	var found problems
	defer func() { // maps have no order, but a test's output should
		slices.Sort(found)
		*all = append(*all, found...)
	}()
	was, is := pairingOf(before), pairingOf(after)
	const advice = "remove a call and its responses together (package turns helps)"
	for s, n := range is.orphans {
		if n > was.orphans[s] {
			found.add("the response to %q in %s lost its call; %s", s.call, s.where(), advice)
		}
	}
	for s, n := range is.waiting {
		if n > was.waiting[s] {
			found.add("the call %q in %s lost its response; %s", s.call, s.where(), advice)
		}
	}
	for c, n := range is.together {
		if c.call.entry >= 0 && c.response.entry >= 0 && n > was.together[c] {
			found.add("the call %q in %s now seems to be answered in %s: ids repeat, and its own response or another call is gone; %s",
				c.call.call, c.call.where(), c.response.where(), advice)
		}
	}
	for s, n := range was.pending {
		if n > is.calls[s] {
			found.add("the call %q in %s still waits for its response, and must stay", s.call, s.where())
		}
	}
}

func (s side) where() string {
	if s.entry < 0 {
		return fmt.Sprintf("the new entry at %d", -1-s.entry)
	}
	return fmt.Sprintf("entry %d of the input", s.entry)
}

// lastSpoken returns the position of the last entry that is no tool's: calls there are still being run.
func lastSpoken(history []sdk.Content) int {
	for i := len(history) - 1; i >= 0; i-- {
		if history[i].Speaker != sdk.Tool {
			return i
		}
	}
	return -1
}
