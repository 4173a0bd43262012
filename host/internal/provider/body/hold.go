package body

import (
	"slices"
	"unicode/utf8"

	"github.com/thresh-dev/thresh/sdk/content"
)

// What the rules of an API demand of a plan.

// hold makes a plan legal: see [Request.NewPlan].
func (r *Request) hold(p *Plan, lost map[Ref]bool) {
	// First everything but results: what happens to a result depends on its call.
	entryOf := make(map[Ref]int, len(p.entries)) // of calls
	for i, e := range p.entries {
		f := &p.fates[i]
		for j, ref := range e.Refs {
			part := r.part(ref)
			if part.Kind == Call {
				entryOf[ref] = i
			}
			// Pinned items and open exchanges are whole items, so that one look at any part decides for the entry.
			if part.stays() || r.Items[ref.Item].Pinned || ref.Item >= r.pairs.open {
				f.gone = false
			}
			if call, ok := r.pairs.extra[ref]; ok {
				p.fates[entryOf[call]].gone = false
			}
			if text, ok := f.texts[j]; ok && !r.mayRead(part, ref, text) {
				f.drop(j)
			}
		}
	}
	loading := r.keepLoaders(p, entryOf)
	r.keepOwn(p)
	r.keepPrompt(p)
	r.keepWords(p, entryOf)
	// Now the calls' entries are settled, and results follow them.
	for i, e := range p.entries {
		if e.Content.Speaker != content.Tool {
			continue
		}
		f := &p.fates[i]
		// Gone until a result in it has a call that stays.
		wasGone := f.gone
		f.gone = true
		for j, ref := range e.Refs {
			call, response := r.pairs.call[ref]
			if !response {
				f.gone = f.gone && wasGone // an attachment next to results, or a further one
				continue
			}
			if p.fates[entryOf[call]].gone {
				continue
			}
			f.gone = false
			switch {
			case loading[ref]:
				f.drop(j)
			case wasGone || lost[ref] || lost[call]:
				r.blank(p, i, j)
			}
		}
	}
	r.keepSections(p)
}

// stays reports whether a part never goes, whatever a view shows.
func (p *Part) stays() bool { return p.Kind == Fixed || p.Kind == Extra || p.Kind == Fence }

// keepLoaders keeps the latest part that made each tool known, and with a result its call: without it, the model would
// see calls of a tool that it does not know. It returns these parts.
func (r *Request) keepLoaders(p *Plan, entryOf map[Ref]int) (loading map[Ref]bool) {
	known := map[string]bool{}
	for i, e := range slices.Backward(p.entries) {
		for _, ref := range slices.Backward(e.Refs) {
			for _, tool := range r.part(ref).loads {
				if known[tool] {
					continue
				}
				known[tool] = true
				if loading == nil {
					loading = map[Ref]bool{}
				}
				loading[ref], p.fates[i].gone = true, false
				if call, ok := r.pairs.call[ref]; ok {
					p.fates[entryOf[call]].gone = false
				}
			}
		}
	}
	return loading
}

// keepOwn keeps the calls and the results of tools that the provider ran together, which may be in different turns.
func (r *Request) keepOwn(p *Plan) {
	with := map[string][]int{} // entries by the ids in them
	ids := make(map[int][]string)
	for i, e := range p.entries {
		for _, ref := range e.Refs {
			part := r.part(ref)
			if part.Kind != Own {
				continue
			}
			if id := r.tape.str(r.tape.at(part.node, part.kind.ID)); id != "" {
				with[id], ids[i] = append(with[id], i), append(ids[i], id)
			}
		}
	}
	var staying []int
	for i := range ids {
		if !p.fates[i].gone {
			staying = append(staying, i)
		}
	}
	for len(staying) > 0 {
		i := staying[len(staying)-1]
		staying = staying[:len(staying)-1]
		for _, id := range ids[i] {
			for _, other := range with[id] {
				if p.fates[other].gone {
					p.fates[other].gone = false
					staying = append(staying, other)
				}
			}
			delete(with, id) // each is looked at once
		}
	}
}

// keepPrompt makes what is left begin with words of a person, as most APIs demand. Instructions are none.
func (r *Request) keepPrompt(p *Plan) {
	for _, m := range p.made {
		if m.behind == -1 && m.entry.Speaker == content.Human {
			return
		}
	}
	said := len(p.entries) // the entry that the first made one of the model stands behind
	for _, m := range p.made {
		if m.entry.Speaker == content.AI {
			said = min(said, m.behind)
		}
	}
	prompt := -1
	for i, e := range p.entries {
		if i > said {
			break
		}
		pinned := r.Items[e.Refs[0].Item].Pinned
		if !p.fates[i].gone && (e.Content.Speaker == content.AI || pinned) {
			break
		}
		if e.Content.Speaker != content.Human || pinned {
			continue
		}
		if prompt = i; !p.fates[i].gone {
			return
		}
	}
	if prompt >= 0 {
		p.fates[prompt].gone = false
	}
}

// keepWords keeps the last words of a person that stood between two entries of the model, where roles alternate. Gemini
// takes no call behind another item of the model. entryOf has the entries of the calls.
func (r *Request) keepWords(p *Plan, entryOf map[Ref]int) {
	if r.form.Flat {
		return
	}
	behind, words := content.Human, -1 // who the last entry that stays is from, and the last words that go behind it
	for i, e := range p.entries {
		gone := p.fates[i].gone
		if e.Content.Speaker == content.Tool { // results stay exactly if their call does
			if call, ok := r.pairs.call[e.Refs[0]]; ok {
				gone = p.fates[entryOf[call]].gone
			}
		}
		switch {
		case gone && e.Content.Speaker == content.Human:
			words = i
		case gone:
		default:
			if behind == content.AI && words >= 0 && e.Content.Speaker == content.AI {
				p.fates[words].gone = false
			}
			behind, words = e.Content.Speaker, -1
		}
	}
}

// mayRead reports whether a part may have a new text. Words of the model are never rewritten: citations and signatures
// of what follows may refer to them. An empty text is none, because APIs refuse it.
func (r *Request) mayRead(p *Part, at Ref, text string) bool {
	return !p.Value.Empty() && text != "" && utf8.ValidString(text) && !r.Items[at.Item].Pinned &&
		(p.Kind == Response || p.Kind == Text && p.Speaker == content.Human)
}

// blank replaces a result that a strategy removed, if that is shorter and the model has seen the result.
func (r *Request) blank(p *Plan, entry, block int) {
	ref := p.entries[entry].Refs[block]
	v := r.part(ref).Value
	if ref.Item < r.pairs.open && v.End-v.Start > len(blanked)+16 {
		p.fates[entry].set(block, blanked)
		p.fates[entry].differs = true
	}
}
