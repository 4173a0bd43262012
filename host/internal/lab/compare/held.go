package compare

import "github.com/thresh-dev/thresh/sdk/content"

// held tracks which things of a recording the latest request contains. Things are words that answers use, and results
// of repeated calls. It is updated by what changed between requests; scanning each whole request would make the
// comparison quadratic in the length of a session.
type held struct {
	finder  *finder
	own     *ownShare
	known   map[identity][]int32 // cache: the things in entries that were sent before
	sent    [][]int32            // the things in each entry of the latest request
	entries []int32              // thing → number of entries of the latest request that contain it
}

// identity identifies an entry by the address of its blocks. The host passes entries on without copying, and a
// changed entry gets new blocks, so equal addresses mean equal content. The cache keeps the blocks alive, so no
// address is reused.
type identity struct {
	first *content.Block
	n     int
}

func identify(c content.Content) identity {
	if len(c.Blocks) == 0 {
		return identity{}
	}
	return identity{&c.Blocks[0], len(c.Blocks)}
}

func newHeld(rec *recording, own *ownShare) *held {
	return &held{finder: newFinder(rec), known: map[identity][]int32{}, entries: make([]int32, rec.things),
		own: own}
}

// holds reports whether the latest request contains a thing. A nil held belongs to doing nothing, which never loses
// any.
func (h *held) holds(thing int32) bool { return h == nil || h.entries[thing] > 0 }

// send takes the next request, of which the first stable entries are the same as in the previous one. Its cost depends
// on the entries after stable.
func (h *held) send(history []content.Content, stable int) {
	stable = min(stable, len(h.sent), len(history))
	for _, things := range h.sent[stable:] {
		for _, id := range things {
			if h.entries[id]--; h.entries[id] == 0 {
				h.own.moved(id, -1)
			}
		}
	}
	h.sent = h.sent[:stable]
	for _, c := range history[stable:] {
		things := h.find(c)
		for _, id := range things {
			if h.entries[id]++; h.entries[id] == 1 {
				h.own.moved(id, 1)
			}
		}
		h.sent = append(h.sent, things)
	}
}

// find returns the things in an entry, from the cache if it was seen before: an entry that moves is scanned only
// once.
func (h *held) find(c content.Content) []int32 {
	if len(c.Blocks) == 0 {
		return nil
	}
	key := identify(c)
	things, ok := h.known[key]
	if !ok {
		things = h.finder.find(c)
		h.known[key] = things
	}
	return things
}
