package body

import (
	"bytes"
	"strings"

	"github.com/thresh-dev/thresh/sdk/content"
)

// Roles that alternate when a request comes, alternate when it goes: providers join neighbours of one role or refuse
// them, and the templates of local models know nothing else.

// voice is who an item is from, as roles count: instructions are from nobody, and a result that is an item of its own
// is a tool's.
func (r *Request) voice(item int) content.Speaker {
	i := &r.Items[item]
	switch {
	case i.Pinned:
		return ""
	case len(i.Parts) > 0 && i.Parts[0].Alone && i.Parts[0].Kind == Response:
		return content.Tool
	case r.speaker(item) == content.AI:
		return content.AI
	}
	return content.Human
}

// alternates reports whether no two messages of a person, or of the model, directly follow each other.
func (r *Request) alternates() bool {
	before := content.Speaker("")
	for i := range r.Items {
		now := r.voice(i)
		if now == before && (now == content.AI || now == content.Human) {
			return false
		}
		before = now
	}
	return true
}

// merge puts an entry of text that a strategy made, whose place is before an item that stays, into the item of the same
// role before or behind it, if there is one.
// Behind reasoning nothing may be put before a call, and nothing before reasoning: a line of the model's then ends the
// person's message.
func (d *draft) merge(at int, entry content.Content) bool {
	r := d.request
	if r.form.Flat {
		return false
	}
	next, prev := at, at-1
	for prev >= 0 && (d.gone[prev] || r.Items[prev].Pinned) {
		prev--
	}
	// A line of the model behind words that were put into the person's message goes there, too.
	if next < len(r.Items) {
		by := r.voice(next)
		if (by == entry.Speaker || by == content.Human && d.spoke[next] == by) && d.put(next, entry, true) {
			if by == content.Human { // a line in the model's message stands behind all that is put before it
				d.spoke[next] = by
			}
			return true
		}
	}
	by, from := content.Speaker(""), d.section(at)
	if prev >= 0 {
		by = r.voice(prev)
	}
	follows := next < len(r.Items) && r.voice(next) == content.AI
	if entry.Speaker == content.AI && follows { // a line of the model in front of its reasoning
		if said := d.before[from] != nil && d.spoke[from] == content.Human; said || from < at && by == content.AI {
			entry.Speaker = content.Human
			d.insert(from, entry)
			return true
		}
	}
	return (by == entry.Speaker && from == at || by == content.Human && follows && entry.Speaker == content.AI) &&
		d.before[at] == nil && d.put(prev, entry, false)
}

// insert puts an entry of text before an item: into the one that was put there last, if it is from the same.
func (d *draft) insert(at int, entry content.Content) {
	r, before := d.request, d.before[at]
	if n := len(before) - len("]}"); n > 0 && d.spoke[at] == entry.Speaker && !r.form.Flat {
		d.before[at] = append(join(before[:n], r.newParts(entry)), "]}"...)
		return
	}
	d.before[at], d.spoke[at] = join(before, r.newItem(entry)), entry.Speaker
}

// put writes the texts of an entry at the beginning or the end of an item that stays. false if the item has no place for
// them.
func (d *draft) put(item int, entry content.Content, front bool) bool {
	r := d.request
	i := &r.Items[item]
	by := r.voice(item)
	if front && by == content.AI && !r.form.CallsFollowUser && len(i.Parts) > 0 && i.Parts[0].Kind == Bound {
		return false
	}
	entry.Speaker = by
	if !i.parts.Empty() {
		if front {
			d.first[item] = join(d.first[item], r.newParts(entry))
		} else {
			d.last[item] = join(d.last[item], r.newParts(entry))
		}
		return true
	}
	var texts []string
	for _, b := range entry.Blocks {
		texts = append(texts, b.(content.Text).Text) // see writable
	}
	text := content.String(strings.Join(texts, "\n\n"))
	switch value := r.tape.get(i.node, r.form.Content); r.tape.kind(value) {
	case '"':
		span := r.tape.span(value)
		if old := d.now(span); front {
			text = glued(text, old)
		} else {
			text = glued(old, text)
		}
		d.set(span, text)
	case 'n':
		d.set(r.tape.span(value), text)
	default: // a message of calls alone, or of reasoning
		if len(i.Parts) == 0 || i.Parts[0].Kind != Call {
			return false
		}
		field := append(content.String(r.form.Content), ':')
		d.set(Span{i.Start + 1, i.Start + 1}, append(append(field, text...), ','))
	}
	return true
}

// glued is one text of two, as JSON.
func glued(a, b []byte) []byte {
	return bytes.Join([][]byte{a[:len(a)-1], b[1:]}, []byte(`\n\n`))
}

// now is what stands in a span after the edits so far.
func (d *draft) now(span Span) []byte {
	for _, e := range d.edits {
		if e.Span == span {
			return e.New
		}
	}
	return d.request.Raw[span.Start:span.End]
}

// set replaces what stands in a span.
func (d *draft) set(span Span, text []byte) {
	for i, e := range d.edits {
		if e.Span == span {
			d.edits[i].New = text
			return
		}
	}
	d.edits = append(d.edits, Edit{span, text})
}

// joined finds the messages of a person that follow each other because what stood between them went, and makes them one:
// what it returns takes the place of all between the contents of two, by the position of the second.
func (d *draft) joined() map[int]Edit {
	r := d.request
	if r.form.Flat {
		return nil
	}
	out := map[int]Edit{}
	var run []int
	for i := range r.Items {
		if d.before[i] != nil {
			d.joinRun(run, out)
			run = nil
		}
		if d.gone[i] {
			continue
		}
		if n := len(run); n == 0 || run[n-1]+1 == i || !d.joinable(run[n-1], i) {
			d.joinRun(run, out)
			run = nil
		}
		run = append(run, i)
	}
	d.joinRun(run, out)
	return out
}

// joinable reports whether two items are messages of a person with nothing but a role and a content.
func (d *draft) joinable(a, b int) bool {
	r := d.request
	for _, i := range []int{a, b} {
		item := &r.Items[i]
		if r.voice(i) != content.Human || r.tape.count(item.node) != 2 || len(item.Parts) == 0 {
			return false
		}
	}
	role := func(i int) int32 { return r.tape.get(r.Items[i].node, "role") }
	first := func(i int) bool { return role(i) < r.tape.get(r.Items[i].node, r.form.Content) }
	// What is left is the first one's beginning and the last one's end: one of them must have the role.
	return r.tape.str(role(a)) == r.tape.str(role(b)) && first(a) == first(b)
}

// joinRun makes one message of several.
func (d *draft) joinRun(run []int, out map[int]Edit) {
	if len(run) < 2 {
		return
	}
	r := d.request
	content := func(i int) Span { return r.tape.span(r.tape.get(r.Items[i].node, r.form.Content)) }
	texts := true
	for _, i := range run {
		texts = texts && d.now(content(i))[0] == '"' && r.Items[i].parts.Empty()
	}
	end := 0 // of the content before
	for n, i := range run {
		span, first, last := content(i), n == 0, n == len(run)-1
		start, glue := span.Start, []byte(`\n\n`)
		if !texts {
			glue = []byte{','}
		}
		switch old := d.now(span); {
		case !r.Items[i].parts.Empty():
			start++
			if first {
				start--
			}
		case texts:
			if !first {
				old = old[1:]
			}
			if !last {
				old = old[:len(old)-1]
			}
			d.set(span, old)
		default:
			if old[0] == '[' { // it has got a marker
				old = old[1 : len(old)-1]
			} else {
				old = r.newPart("human", old)
			}
			if first {
				old = append([]byte{'['}, old...)
			}
			if last {
				old = append(old, ']')
			}
			d.set(span, old)
		}
		if !first {
			out[i] = Edit{Span{end, start}, glue}
		}
		if end = span.End; !r.Items[i].parts.Empty() {
			end--
		}
	}
}
