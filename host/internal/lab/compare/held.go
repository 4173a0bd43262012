package compare

import "github.com/thresh-dev/thresh/sdk/content"

// held knows which things of a recording the last request held: the words that answers use, and the results of repeated
// calls.
type held struct {
	finder  *finder
	known   map[identity][]int32 // what entries that were sent hold
	sent    [][]int32            // what each entry of the last request holds
	entries []int32              // thing → how many entries of the last request hold it
}

// identity tells the entries of requests apart: an entry that is kept is passed on without a copy, and a changed one
// has other blocks.
type identity struct {
	first *content.Block
	n     int
}

func newHeld(rec *recording) *held {
	return &held{finder: newFinder(rec), known: map[identity][]int32{}, entries: make([]int32, rec.things)}
}

// holds reports whether the last request held a thing. A nil held is that of doing nothing, which holds everything.
func (h *held) holds(thing int32) bool { return h == nil || h.entries[thing] > 0 }

// send takes the next request, of which the first stable entries are those of the request before. It reports whether
// any entry of that one is gone, changed or moved.
func (h *held) send(history []content.Content, stable int) (changed bool) {
	stable = min(stable, len(h.sent), len(history))
	changed = stable < len(h.sent)
	for _, things := range h.sent[stable:] {
		for _, id := range things {
			h.entries[id]--
		}
	}
	h.sent = h.sent[:stable]
	for _, c := range history[stable:] {
		things := h.find(c)
		for _, id := range things {
			h.entries[id]++
		}
		h.sent = append(h.sent, things)
	}
	return changed
}

func (h *held) find(c content.Content) []int32 {
	if len(c.Blocks) == 0 {
		return nil
	}
	key := identity{&c.Blocks[0], len(c.Blocks)}
	things, ok := h.known[key]
	if !ok {
		things = h.finder.find(c)
		h.known[key] = things
	}
	return things
}
