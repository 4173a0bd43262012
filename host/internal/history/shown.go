package history

import (
	"bytes"
	"slices"
	"sort"

	"github.com/thresh-dev/thresh/host/outcome"
	"github.com/thresh-dev/thresh/internal/check"
	"github.com/thresh-dev/thresh/sdk/content"
)

// shown is what views are made of. It is kept from one view to the next: making a view only takes time for what is new
// in the history, and for what a rewrite changed in it.
type shown struct {
	list
	// units are the entries and exchanges at the beginning that later entries cannot change, by their ends.
	units []unit
	// kept are the unchanged units of the last rewrite that no view was made of since, in their order, as parts of
	// before.
	kept   []run
	before list
	marks  string // the name of the marker that its entries have marks of
}

// list is what a view holds; all lists but problems have the same length. Cells are never overwritten, because earlier
// views refer to them: see put.
type list struct {
	entries  []*Entry
	contents []content.Content
	sums     sums
	problems []outcome.Problem
}

// unit ends at a place, and depends on the first needs entries of the history: an exchange has ended because the AI
// speaks after it. Whether one begins where the one before it ends depends on nothing before.
type unit struct {
	place
	needs int
}

type place struct {
	next     int // the position of the first entry of the history that is not in the view
	out      int
	problems int
}

// run is consecutive units.
type run struct {
	units   []unit
	begin   place // of the first one
	removed int   // how many entries before them a rewrite removed
}

// settled returns the last unit that depends on the first n entries only, and how many units there are up to it.
func (v *shown) settled(n int) (u unit, units int) {
	units = dependingOn(v.units, n)
	if units > 0 {
		u = v.units[units-1]
	}
	return u, units
}

func dependingOn(units []unit, n int) int {
	return sort.Search(len(units), func(i int) bool { return units[i].needs > n })
}

// upTo returns what v has up to a place, after a number of units. Additions to one do not show in the other.
func (v *shown) upTo(p place, units int) *shown {
	return &shown{
		list: list{
			v.entries[:p.out:p.out], v.contents[:p.out:p.out], v.sums[:p.out:p.out], v.problems[:p.problems:p.problems],
		},
		units: v.units[:units:units], marks: v.marks,
	}
}

func (v *shown) rewritten(first int) {
	_, n := v.settled(first)
	v.units, v.kept, v.before = v.units[:n], nil, list{}
}

// edited forgets what depends on entries that changes remove or replace. The next view takes over the units between
// them without looking at an entry. Of two edits without a view in between, the second finds none to keep.
func (v *shown) edited(changes []check.Change) {
	units := v.units
	*v = shown{before: v.list, marks: v.marks, units: make([]unit, 0, room(len(units)))}
	begin, removed := place{}, 0
	for _, c := range changes {
		if n := dependingOn(units, c.Index); n > 0 {
			v.kept = append(v.kept, run{units[:n], begin, removed})
			begin, units = units[n-1].place, units[n:]
		}
		for len(units) > 0 && begin.next <= c.Index { // what depends on the entry
			begin, units = units[0].place, units[1:]
		}
		if c.Removed {
			removed++
		}
	}
	if len(units) > 0 {
		v.kept = append(v.kept, run{units, begin, removed})
	}
}

func (v *shown) put(i int, e *Entry) {
	// What keeps an entry is not sent, but whoever reads a view sees it.
	if i < len(v.entries) && same(v.entries[i], e) && bytes.Equal(v.entries[i].Content.Metadata, e.Content.Metadata) {
		return
	}
	v.truncate(i)
	v.entries, v.contents, v.sums = append(v.entries, e), append(v.contents, e.Content), v.sums.add(e.Tokens)
}

// truncate removes the entries from position i on. Earlier views may have them: they keep the lists, and v continues
// with copies.
func (v *shown) truncate(i int) {
	if i < len(v.entries) {
		v.entries, v.contents = slices.Clone(v.entries[:i]), slices.Clone(v.contents[:i])
		v.sums = slices.Clone(v.sums[:i])
	}
}

// takeOver adds the units that the last rewrite kept, if there are any at b's place, as far as they depend on the first
// n entries of the history only. It reports whether there were any.
func (b *viewBuilder) takeOver(n int) bool {
	v := b.shown
	for ; len(v.kept) > 0; v.kept = v.kept[1:] {
		r := v.kept[0]
		// An exchange that the rewrite made longer may have reached into the run.
		for len(r.units) > 0 && r.begin.next-r.removed < b.next {
			r.begin, r.units = r.units[0].place, r.units[1:]
		}
		if len(r.units) == 0 {
			continue
		}
		units := r.units[:dependingOn(r.units, n+r.removed)]
		if r.begin.next-r.removed > b.next || len(units) == 0 {
			return false
		}
		b.append(r.begin, units, r.removed)
		if r.begin, r.units = units[len(units)-1].place, r.units[len(units):]; len(r.units) == 0 {
			v.kept = v.kept[1:]
		} else { // never written in place: another view may hold the list
			v.kept = append([]run{r}, v.kept[1:]...)
		}
		return true
	}
	v.before = list{}
	return false
}

func (b *viewBuilder) append(begin place, units []unit, removed int) {
	v, end := b.shown, units[len(units)-1].place
	v.truncate(b.out)
	if v.entries == nil {
		// A first prune removes a third, which may not have been in the view.
		n := room(max(0, len(v.before.entries)-v.kept[len(v.kept)-1].removed))
		v.entries, v.contents, v.sums = make([]*Entry, 0, n), make([]content.Content, 0, n), make(sums, 0, n)
	}
	v.entries = append(v.entries, v.before.entries[begin.out:end.out]...)
	v.contents = append(v.contents, v.before.contents[begin.out:end.out]...)
	v.sums = v.sums.addRange(v.before.sums, begin.out, end.out)
	v.problems = append(v.problems[:b.place.problems], v.before.problems[begin.problems:end.problems]...)
	moved := place{b.next - begin.next, b.out - begin.out, b.place.problems - begin.problems}
	for _, u := range units {
		v.units = append(v.units, unit{u.place.plus(moved), u.needs - removed})
	}
	b.place = end.plus(moved)
}

func (p place) plus(by place) place {
	return place{p.next + by.next, p.out + by.out, p.problems + by.problems}
}
