package history

import (
	"bytes"
	"slices"
	"sort"

	"github.com/thresh-dev/thresh/host/outcome"
	"github.com/thresh-dev/thresh/sdk/content"
)

// View is a history that is safe to send: providers refuse a request with a blank entry, with a response that answers
// no call, or with an unanswered call. A view has none of these, except for calls at its end that still wait for their
// responses.
type View struct {
	// Entries are the history's and those made for the view. An entry made to answer a call has no ID.
	Entries []*Entry
	Tokens  int
	// Pending are the ids of calls at the end that wait for their responses. The agent must add these before it sends.
	Pending []string
	// Problems are the places where the view differs from the history.
	Problems []outcome.Problem
	// Revision and Epoch are the history's when the view was made, Owned and OwnedTokens its entries and tokens then.
	Revision, Epoch    uint64
	Owned, OwnedTokens int
	// Marks is the name of the marker that it was made with; "" for none.
	Marks string

	at       Point
	contents []content.Content
	sums     sums
	settled  int // entries at the beginning that only a rewrite can change
}

// Point returns the moment of the view. [History.ViewAt] makes the same view of it again, unless the history is
// rewritten.
func (v View) Point() Point { return v.at }

// Contents returns what to send, shared and not to be changed. It is nil for the zero View only, which tells an agent
// that its session is closed.
func (v View) Contents() []content.Content { return v.contents }

// Shared returns how many entries at the beginning of v are the same as in an earlier view of the history, and their
// tokens. Within an epoch it only compares what was not settled in both; after a rewrite, up to the first entry that
// differs. Of two concurrent turns the one that ends first may be the later one.
func (v View) Shared(earlier View) (entries, tokens int) {
	if v.Epoch == earlier.Epoch && v.Marks == earlier.Marks {
		entries = min(earlier.settled, v.settled)
	}
	for entries < min(len(v.Entries), len(earlier.Entries)) && same(v.Entries[entries], earlier.Entries[entries]) {
		entries++
	}
	return entries, v.sums.of(0, entries)
}

// SettledBy returns how many entries of the history the first n of its view are made of, and how many of those n they
// make. It leaves out what an entry that is added may change.
func (h *History) SettledBy(n int) (entries, made int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if i := sort.Search(len(h.shown.units), func(i int) bool { return h.shown.units[i].out > n }); i > 0 {
		u := h.shown.units[i-1]
		return u.next, u.out
	}
	return 0, 0
}

// View returns the history as it is safe to send. count counts the few entries that are made for it.
func (h *History) View(count func(content.Content) int) View { return h.ViewAt(nil, count) }

// ViewAt is View without what was appended after a point; a nil point is now. See [History.SnapshotAt].
func (h *History) ViewAt(m *Point, count func(content.Content) int) View {
	return h.MarkedAt(m, nil, count)
}

// MarkedAt is ViewAt with marks by which the model asks for what results were before rewrites, if the marker is not nil.
// All of the view is made again when the marker is another one than last time.
func (h *History) MarkedAt(m *Point, marker *Marker, count func(content.Content) int) View {
	h.mu.Lock()
	defer h.mu.Unlock()
	s := h.snapshotAt(m)
	if h.shown.marks != marker.name() {
		h.shown = shown{marks: marker.name()}
	}
	v := &h.shown
	base, units := v.settled(len(s.Entries))
	if units < len(v.units) { // more has been settled than this view may hold: it is made apart
		v = v.upTo(base.place, units)
	}
	b := viewBuilder{shown: v, place: base.place, count: count, marker: marker}
	for {
		if b.takeOver(len(s.Entries)) {
			continue
		}
		needs := b.settle(s.Entries)
		if needs == 0 {
			break
		}
		v.units = append(v.units, unit{b.place, needs})
	}
	settled := b.out
	pending := b.exchange(s.Entries[b.next:], false)
	contents := v.contents[:b.out:b.out]
	if contents == nil {
		contents = []content.Content{}
	}
	return View{
		Entries: v.entries[:b.out:b.out], contents: contents, sums: v.sums[:b.out:b.out],
		Problems: append([]outcome.Problem(nil), v.problems[:b.place.problems]...), Tokens: v.sums.of(0, b.out),
		Pending:  pending,
		Revision: s.Revision, Epoch: s.Epoch, Owned: len(s.Entries), OwnedTokens: s.Tokens, at: s.at,
		Marks:   marker.name(),
		settled: settled,
	}
}

// same reports whether two entries are sent alike. Entries made for a view are made again for the next, so pointers are
// not enough.
func same(a, b *Entry) bool {
	return a == b || a.ID == b.ID && a.Tokens == b.Tokens && a.Content.Speaker == b.Content.Speaker &&
		sameBlocks(a.Content.Blocks, b.Content.Blocks)
}

// SentAs reports whether an entry of a view is what the history has now.
func (e *Entry) SentAs(now *Entry) bool {
	if e.Unmarked != nil {
		e = e.Unmarked
	}
	return same(e, now)
}

func sameBlocks(a, b []content.Block) bool {
	return slices.EqualFunc(a, b, func(x, y content.Block) bool {
		return bytes.Equal(content.AppendBlock(nil, x), content.AppendBlock(nil, y))
	})
}
