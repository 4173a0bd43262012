package prune

import (
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/sdk"
	"github.com/thresh-dev/thresh/sdk/tools"
)

// Pointer is the text in the place of an old result.
const Pointer = tools.Pruned

// toolResult is a response of a tool which a rule may prune. The response itself stays when its result is replaced by
// the pointer, with its error and everything else, so its call remains answered.
type toolResult struct {
	entry, block int32
	pinned       bool // its entry stays as it is
	// call is 1 + the id of the read that it answers; 0: none. gone is 1 if it goes with its call.
	call, gone int32
	// tool is 1 + the id of the tool that it counts for; 0: none.
	tool int32
	// by is 1 + the entry whose result pushed it out of the newest ones; 0: it is one of them.
	by int32
}

// tool has the ids of a tool's results in their order. Those from oldest on are the newest, which stay; all before are
// pruned. Results that went are still among the pruned ones (their tool is 0): to take each out at once would take
// quadratic time where a write makes thousands of reads stale.
type tool struct {
	results []int32
	oldest  int
}

// tool returns the id of the tool with a name.
func (s *state) tool(name string) int32 {
	id, ok := s.toolID[name]
	if !ok {
		id = s.tools.add(tool{})
		s.toolID[strings.Clone(name)] = id
	}
	return id
}

// retention is how many results of a tool stay. The newest always stays, whatever the setting.
func (s *state) retention() int { return max(s.set.density.RecencyRetention, 1) }

// newest takes in the newest result of a tool. It pushes out the oldest of those that are kept if they are too many.
// Results are taken in in the order of the history, so the newest is always last.
func (s *state) newest(id int32) {
	r := s.results.at(id)
	t := s.tools.at(r.tool - 1)
	if t.results = append(t.results, id); len(t.results)-t.oldest > s.retention() {
		s.pushOut(s.results.at(t.results[t.oldest]), r.entry+1)
		t.oldest++
	}
}

// pushOut prunes a result, or keeps it again if by is 0. A pinned result takes its place among the newest like any
// other, so what is pinned decides nothing about the rest, but it is never edited.
func (s *state) pushOut(r *toolResult, by int32) {
	r.by = by
	s.touched = append(s.touched, r.entry)
	switch {
	case r.pinned:
	case by != 0:
		s.counts.results++
	default:
		s.counts.results--
	}
}

// drop takes a result out, because its call goes. If it was one of the newest, the next older one is kept again.
func (s *state) drop(id int32) {
	r := s.results.at(id)
	r.gone = 1
	s.touched = append(s.touched, r.entry)
	if r.tool == 0 {
		return
	}
	t := s.tools.at(r.tool - 1)
	r.tool = 0
	if r.by != 0 {
		s.pushOut(r, 0)
		return
	}
	at, _ := slices.BinarySearch(t.results[t.oldest:], id)
	t.results = slices.Delete(t.results, t.oldest+at, t.oldest+at+1)
	for t.oldest > 0 {
		t.oldest--
		if again := s.results.at(t.results[t.oldest]); again.tool != 0 {
			s.pushOut(again, 0)
			return
		}
		t.results = slices.Delete(t.results, t.oldest, t.oldest+1)
	}
}

// countsAsResult reports whether recency pruning looks at a response. One without an id is malformed; leave it alone.
// Nor do pointers count: otherwise every new pointer would push a result that was kept over the limit.
func countsAsResult(r sdk.ToolResponse) bool { return r.CallID != "" && !IsPointer(r) }

// IsPointer reports whether recency pruning has replaced a result by [Pointer]. The length is checked first to avoid
// decoding large results.
func IsPointer(r sdk.ToolResponse) bool {
	const longest = 6 * len(Pointer) // every character written as \uXXXX
	return len(r.Result) <= longest+2 && len(r.Result) > 0 && r.Result[0] == '"' && r.ResultText() == Pointer
}
