package compare

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/sdk/content"
	"github.com/thresh-dev/thresh/sdk/turns"
)

// findUsed numbers the identifiers that answers use and returns those of each answer, each once: from the text of the
// model and the parameters of its calls. Thinking is not searched, since not all recorders keep it, and sessions would
// not be comparable. The result has one list for each request of the recording.
func (r *recording) findUsed() [][]usedWord {
	out := make([][]usedWord, len(r.Requests))
	// Each word counts once for an answer, however often it is said: recall would measure how talkative a model is.
	seen := map[int32]int{} // word → 1 + the last turn that used it
	for n := range r.Requests {
		for i := range r.answer(n) {
			for _, b := range r.entries()[i].Blocks {
				if _, thought := b.(content.Thinking); thought {
					continue
				}
				blockWords(b, func(s string) {
					// An answer that writes a file of megabytes would outweigh the whole session.
					if len(out[n]) == maxUsed {
						return
					}
					id, known := r.words[s]
					if !known {
						id = int32(len(r.names))
						s = strings.Clone(s) // s is a slice of the text, and would keep all of it in memory
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

// findRepeats groups calls that are equal by name and parameters and returns the grouped calls of each answer. A call
// that was made only once is in no group. Groups are numbered in the order of their first call, not of the map. A
// repeat in a replay that lost the first result shows what pruning costs: the model would have had to ask again.
func (r *recording) findRepeats() [][]repeatedCall {
	type placed struct {
		turn int
		at   turns.At
	}
	byCall := map[string][]placed{}
	var order []string
	for n := range r.Requests {
		for i := range r.answer(n) {
			for j, b := range r.entries()[i].Blocks {
				call, ok := b.(content.ToolCall)
				if !ok {
					continue
				}
				// NUL cannot occur in a name, so name and parameters cannot be confused.
				key := call.Name + "\x00" + canonical(call.Parameters)
				if len(byCall[key]) == 0 {
					order = append(order, key)
				}
				byCall[key] = append(byCall[key], placed{n, turns.At{Entry: i, Block: j}})
			}
		}
	}
	out := make([][]repeatedCall, len(r.Requests))
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
			// Its tokens are what asking again would cost.
			// A call without a response brought nothing back, and costs no tokens to repeat.
			if at, ok := r.pairs.Response(c.at); ok {
				again.tokens = r.Counted.Tokens(at.Entry)
				if key, ok := keyOf(r.entries()[at.Entry].Blocks[at.Block].(content.ToolResponse)); ok {
					r.groups[key] = group
				}
			}
			out[c.turn] = append(out[c.turn], again)
		}
	}
	return out
}

// canonical returns parameters in a form that is the same for equal parameters: keys sorted, no white space. Numbers
// keep their digits, since large integers do not fit a float64. Invalid JSON is returned as it is.
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

// keepVisible reduces what the answers used to what was in the unpruned request. Anything else the model knew from
// elsewhere (its training, the system prompt), and no pruning can take that away.
func (r *recording) keepVisible(used [][]usedWord, repeats [][]repeatedCall, calls [][]neededCall) {
	w := newSpan(r)
	for n, q := range r.Requests {
		w.move(q.From, q.Entry)
		for _, u := range used[n] {
			if w.total[u.word] > 0 {
				// The model probably had it from the nearest mention.
				u.onlyResults, u.from = w.other[u.word] == 0, w.last[u.word]
				u.onLine = w.total[r.lined(u.word)] > 0
				r.uses[n].words = append(r.uses[n].words, u)
			}
		}
		for _, c := range calls[n] {
			if stood := w.standing(c); len(stood.things) > 0 {
				r.uses[n].calls = append(r.uses[n].calls, stood)
			}
		}
		for _, c := range repeats[n] {
			if w.total[c.group] > 0 {
				r.uses[n].repeats = append(r.uses[n].repeats, c)
			}
		}
	}
}

// span counts the things in the unpruned request as it moves over the session, so the session is passed over
// once.
type span struct {
	r        *recording
	finder   *finder
	withheld map[int]bool
	total    []int32   // how many entries of the request hold a thing
	other    []int32   // how many of those are no results of tools
	last     []int32   // the last entry that holds it
	held     [][]int32 // the things in the entries from position first on
	first    int
}

func newSpan(r *recording) *span {
	return &span{r: r, finder: newFinder(r), withheld: r.withheld(), total: make([]int32, r.things),
		other: make([]int32, r.things), last: make([]int32, r.things)}
}

// move makes it the span of the entries from from up to to. from changes where the recorder compacted: nothing of
// before is left then.
func (w *span) move(from, to int) {
	if from != w.first {
		for k, things := range w.held {
			w.count(w.first+k, things, -1)
		}
		w.held, w.first = nil, from
	}
	for i := w.first + len(w.held); i < to; i++ {
		var things []int32
		// A withheld entry holds nothing, but keeps its place, so positions stay right.
		if !w.withheld[i] {
			things = w.finder.find(w.r.entries()[i])
		}
		w.held = append(w.held, things)
		w.count(i, things, 1)
		for _, id := range things {
			w.last[id] = int32(i)
		}
	}
}

// count counts the things of an entry that enters the window (by 1) or leaves it (by -1).
func (w *span) count(entry int, things []int32, by int32) {
	for _, id := range things {
		w.total[id] += by
		if w.r.entries()[entry].Speaker != content.Tool {
			w.other[id] += by
		}
	}
}

// standing returns of a call's things those that were there unpruned: the strategy is not blamed for what was never
// there.
func (w *span) standing(c neededCall) (stood neededCall) {
	stood.parameters = c.parameters
	for _, id := range c.things {
		if w.total[id] > 0 {
			stood.things = append(stood.things, id)
			stood.edit = stood.edit || id >= w.r.linesFrom
		}
	}
	return stood
}

// finder finds the things of a recording in entries. It is not safe for concurrent use; each replay has its own. seen
// avoids clearing a set for each entry: a thing was found in this search if its number is the current one. Searches are
// numbered from 1, so the zero value means never found.
type finder struct {
	*recording
	seen   []int32 // thing → the last search that found it
	search int32
}

// newFinder returns a finder. The recording must have all its words and groups.
func newFinder(r *recording) *finder { return &finder{recording: r, seen: make([]int32, r.things)} }

// find returns the things that an entry contains, each once. The result is clipped, as it is kept for the whole replay.
// Words, lines and groups are numbered together.
func (f *finder) find(c content.Content) []int32 {
	f.search++
	var out []int32
	found := func(id int32) {
		if f.seen[id] != f.search {
			f.seen[id] = f.search
			out = append(out, id)
		}
	}
	for _, b := range c.Blocks {
		blockWords(b, func(s string) {
			if id, ok := f.words[s]; ok {
				found(id)
			}
		})
		blockLines(b, func(s string) {
			if id, ok := f.lines[s]; ok {
				found(id)
			}
			for _, id := range f.around[s] {
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

// withheld returns the entries that no request contains because they hold nothing but responses without a call:
// providers refuse those, so the host does not send them.
func (r *recording) withheld() map[int]bool {
	orphans := map[int]int{}
	for _, at := range r.pairs.Orphans() {
		orphans[at.Entry]++
	}
	out := map[int]bool{}
	for i, n := range orphans {
		// One response among other blocks keeps its entry.
		out[i] = n == len(r.entries()[i].Blocks)
	}
	return out
}
