package body

import (
	"hash/maphash"
	"maps"
	"slices"

	"github.com/thresh-dev/thresh/host/internal/provider"
	"github.com/thresh-dev/thresh/sdk/content"
)

// Sealed thinking: the newest models take it back only behind exactly what it was made behind. What goes is the host's
// to say, and stands in the view. Here it is cut out, and here is what the host cannot know: what was really sent.

// sealedProof stands for the provider's proof of sealed thinking, which only the client's bytes have.
const sealedProof = "sealed"

// sealed reports whether a part is bound to what stands before it.
func (p *Part) sealed() bool { return p.Kind == Bound && p.kind != nil && p.kind.Sealed }

// unseal completes what goes of entries that stay: one that the view lacks has lost what was before it. Where the provider
// itself leaves thinking out, nothing is cut.
func (r *Request) unseal(p *Plan) {
	for i, e := range p.entries {
		f := &p.fates[i]
		if r.DropsThinking || f.gone {
			f.out = nil
		}
		for j, ref := range e.Refs {
			part := r.part(ref)
			if !part.sealed() {
				continue
			}
			if f.shown == nil && !f.gone && !r.DropsThinking {
				f.out = append(f.out, j)
			}
			part.out = slices.Contains(f.out, j)
		}
	}
}

// Led reports whether sealed thinking led to the calls that were just answered.
func (r *Request) Led() bool {
	if r.pairs.open == len(r.Items) || r.speaker(len(r.Items)-1) == content.AI {
		return false
	}
	return slices.ContainsFunc(r.Items[r.pairs.open:], func(i Item) bool {
		return slices.ContainsFunc(i.Parts, func(p Part) bool { return p.sealed() })
	})
}

// Trace is what a request had of each entry, apart from thinking, and of what was made. nil is not known.
type Trace []step

// step is an entry: the sum of what was made in front of it, and of what became of it; zeros as it came.
type step struct{ made, fate uint64 }

// traceSeed is of this process, as traces are.
var traceSeed = maphash.MakeSeed()

// Untouched is the trace of a request with so many entries, all as they came.
func Untouched(entries int) Trace { return make(Trace, entries+1) }

// Trace returns what the plan sends.
func (p *Plan) Trace() Trace {
	t := Untouched(len(p.entries))
	var h maphash.Hash
	h.SetSeed(traceSeed)
	for i := range p.fates {
		switch f := &p.fates[i]; {
		case f.gone:
			t[i].fate = 1
		case len(f.texts) > 0:
			h.Reset()
			for _, block := range slices.Sorted(maps.Keys(f.texts)) {
				maphash.WriteComparable(&h, block)
				maphash.WriteComparable(&h, f.texts[block])
			}
			t[i].fate = h.Sum64()
		}
	}
	for _, m := range p.made {
		in := &t[m.behind+1]
		h.Reset()
		maphash.WriteComparable(&h, in.made)
		maphash.WriteComparable(&h, m.entry.Speaker)
		for _, b := range m.entry.Blocks {
			maphash.WriteComparable(&h, b.(content.Text).Text) // see writable
		}
		in.made = h.Sum64()
	}
	return t
}

// Changed returns the first entry that was sent otherwise, or behind something else; false if all that was sent is sent
// again.
func (t Trace) Changed(sent Trace) (entry int, is bool) {
	for i := range min(len(t), len(sent)) {
		end := i == len(sent)-1 // where nothing was sent yet but what was made
		if t[i].made != sent[i].made || !end && t[i].fate != sent[i].fate {
			return i, true
		}
	}
	return 0, false
}

// ItemOf returns the item that an entry begins with; the number of items for one behind the last.
func (r *Request) ItemOf(entries []Entry, entry int) int {
	if entry >= len(entries) {
		return len(r.Items)
	}
	return entries[entry].Refs[0].Item
}

// Thoughtful returns the ids of the entries from a position on of which sealed thinking is sent.
func (p *Plan) Thoughtful(r *Request, from int) (ids map[string]bool) {
	for i := from; i < len(p.entries); i++ {
		f, e := &p.fates[i], p.entries[i]
		for j, ref := range e.Refs {
			if r.part(ref).sealed() && !f.gone && !slices.Contains(f.out, j) {
				if ids == nil {
					ids = map[string]bool{}
				}
				ids[e.ID] = true
			}
		}
	}
	return ids
}

// WithoutThinking returns the client's bytes without the sealed thinking of the items from a position on: the bytes
// themselves if there is none.
func (r *Request) WithoutThinking(from int) []byte {
	d := draft{request: r, gone: make([]bool, len(r.Items)), parts: map[Ref]bool{}}
	for i := from; i < len(r.Items); i++ {
		for j := range r.Items[i].Parts {
			if r.Items[i].Parts[j].sealed() {
				d.parts[Ref{i, j}] = true
			}
		}
		d.gone[i] = d.allGone(i)
	}
	if len(d.parts) == 0 {
		return r.Raw
	}
	d.items()
	d.changeParts()
	slices.SortFunc(d.edits, func(a, b Edit) int { return a.Start - b.Start })
	return Apply(r.Raw, d.edits)
}

// WithoutThinking is [Request.WithoutThinking] of a whole body; false if it has none, or cannot be read.
func WithoutThinking(api provider.API, raw []byte) ([]byte, bool) {
	r, err := Index(api, raw)
	if err != nil {
		return nil, false
	}
	out := r.WithoutThinking(0)
	return out, len(out) != len(raw)
}
