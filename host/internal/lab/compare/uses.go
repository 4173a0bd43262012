package compare

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/thresh-dev/thresh/sdk/content"
	"github.com/thresh-dev/thresh/sdk/turns"
)

// findUsed numbers the identifiers that the turns use, and returns those of each turn: from what the model said and from the
// parameters of its calls, not from its thoughts.
func (r *recording) findUsed() [][]usedWord {
	out := make([][]usedWord, len(r.turns))
	seen := map[int32]int{} // word → 1 + the last turn that used it
	for n, t := range r.turns {
		for i := range r.answer(t) {
			for _, b := range r.entries()[i].Blocks {
				if _, thought := b.(content.Thinking); thought {
					continue
				}
				blockWords(b, func(s string) {
					if len(out[n]) == maxUsed {
						return
					}
					id, known := r.words[s]
					if !known {
						id = int32(len(r.names))
						s = string([]byte(s)) // of its own, so that it does not keep the text alive
						r.words[s], r.names = id, append(r.names, s)
					}
					if seen[id] != n+1 {
						seen[id] = n + 1
						out[n] = append(out[n], usedWord{word: id, entry: int32(i)})
					}
				})
			}
		}
	}
	return out
}

// findRepeats groups the calls that are equal by name and parameters, and returns the calls of each turn. Groups of one call
// are none.
func (r *recording) findRepeats() [][]repeatedCall {
	type placed struct {
		turn int
		at   turns.At
	}
	byCall := map[string][]placed{}
	var order []string
	for n, t := range r.turns {
		for i := range r.answer(t) {
			for j, b := range r.entries()[i].Blocks {
				call, ok := b.(content.ToolCall)
				if !ok {
					continue
				}
				key := call.Name + "\x00" + canonical(call.Parameters)
				if len(byCall[key]) == 0 {
					order = append(order, key)
				}
				byCall[key] = append(byCall[key], placed{n, turns.At{Entry: i, Block: j}})
			}
		}
	}
	out := make([][]repeatedCall, len(r.turns))
	r.groups = map[resultKey]int32{}
	r.things = len(r.names)
	for _, key := range order {
		calls := byCall[key]
		if len(calls) == 1 {
			continue
		}
		group := int32(r.things)
		r.things++
		for _, c := range calls {
			again := repeatedCall{group: group}
			if at, ok := r.pairs.Response(c.at); ok {
				again.tokens = r.counted.Tokens(at.Entry)
				if key, ok := keyOf(r.entries()[at.Entry].Blocks[at.Block].(content.ToolResponse)); ok {
					r.groups[key] = group
				}
			}
			out[c.turn] = append(out[c.turn], again)
		}
	}
	return out
}

// canonical returns parameters so that those which say the same are equal: fields in the order of their names, no white
// space. Numbers keep their digits.
func canonical(raw json.RawMessage) string {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	if d.Decode(&v) != nil {
		return string(raw)
	}
	out, err := json.Marshal(v)
	if err != nil {
		return string(raw)
	}
	return string(out)
}

// stand finds out what of all that stood in the unpruned context of each turn.
func (r *recording) stand(used [][]usedWord, repeats [][]repeatedCall) {
	total, other := make([]int32, r.things), make([]int32, r.things) // how many entries hold it, how many that are no results
	last := make([]int32, r.things)
	var held [][]int32 // of the entries since the boundary
	first := 0
	finder := newFinder(r)
	withheld := r.withheld()
	count := func(i int, things []int32, by int32) {
		for _, id := range things {
			total[id] += by
			if r.entries()[i].Speaker != content.Tool {
				other[id] += by
			}
		}
	}
	next := 0
	for n := range r.turns {
		t := &r.turns[n]
		for ; next < t.entry; next++ {
			if r.boundary[next] {
				for k, things := range held {
					count(first+k, things, -1)
				}
				held, first = nil, next
			}
			var things []int32
			if !withheld[next] {
				things = finder.find(r.entries()[next])
			}
			held = append(held, things)
			count(next, things, 1)
			for _, id := range things {
				last[id] = int32(next)
			}
		}
		if next < len(r.entries()) && r.boundary[next] { // the recorder compacted just before this turn: it sees nothing of before
			for k, things := range held {
				count(first+k, things, -1)
			}
			held, first = nil, next
		}
		for _, u := range used[n] {
			if total[u.word] > 0 {
				u.onlyResults, u.from = other[u.word] == 0, last[u.word]
				t.used = append(t.used, u)
			}
		}
		for _, c := range repeats[n] {
			if total[c.group] > 0 {
				t.repeats = append(t.repeats, c)
			}
		}
	}
}

// finder looks for the things of a recording in entries.
type finder struct {
	*recording
	seen []int32 // thing → the last search that found it
	turn int32
}

func newFinder(r *recording) *finder { return &finder{recording: r, seen: make([]int32, r.things)} }

// find returns the words and groups that an entry holds, each once.
func (f *finder) find(c content.Content) []int32 {
	f.turn++
	var out []int32
	found := func(id int32) {
		if f.seen[id] != f.turn {
			f.seen[id] = f.turn
			out = append(out, id)
		}
	}
	for _, b := range c.Blocks {
		blockWords(b, func(s string) {
			if id, ok := f.words[s]; ok {
				found(id)
			}
		})
		if resp, ok := b.(content.ToolResponse); ok {
			if key, ok := keyOf(resp); ok {
				if id, ok := f.groups[key]; ok {
					found(id)
				}
			}
		}
	}
	return slices.Clip(out)
}

// withheld are the entries that no request holds, as all of their responses answer nothing.
func (r *recording) withheld() map[int]bool {
	orphans := map[int]int{}
	for _, at := range r.pairs.Orphans() {
		orphans[at.Entry]++
	}
	out := map[int]bool{}
	for i, n := range orphans {
		out[i] = n == len(r.entries()[i].Blocks)
	}
	return out
}
