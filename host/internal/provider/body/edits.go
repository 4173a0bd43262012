package body

import (
	"fmt"
	"slices"

	"github.com/thresh-dev/thresh/sdk/content"
)

// From a plan to edits of bytes. Commas are the difficulty: removing or inserting elements of an array must leave
// exactly one between two that stay, and the white space around what is left as it was.

// Edit replaces a span of a body. An empty span inserts, an empty New removes.
type Edit struct {
	Span
	New []byte
}

// Apply returns a body with edits made. The edits are in order and do not overlap. Without edits it is the body itself.
// raw itself is never written to: a failed edit must leave the client's bytes to send.
func Apply(raw []byte, edits []Edit) []byte {
	if len(edits) == 0 {
		return raw
	}
	// Allocated once: bodies have megabytes.
	size := len(raw)
	for _, e := range edits {
		size += len(e.New) - (e.End - e.Start)
	}
	out := make([]byte, 0, size)
	at := 0
	for _, e := range edits {
		out = append(append(out, raw[at:e.Start]...), e.New...)
		at = e.End
	}
	return append(out, raw[at:]...)
}

// Edits returns a plan as edits of the request's bytes. A plan that changes nothing has none. They are in order, do not
// overlap, and refer to the original bytes.
func (r *Request) Edits(p *Plan) []Edit {
	d := draft{request: r, gone: make([]bool, len(r.Items)), parts: map[Ref]bool{}, before: map[int][]byte{},
		spoke: map[int]content.Speaker{}, first: map[int][]byte{}, last: map[int][]byte{}, markers: map[Ref][]byte{}}
	for i, e := range p.entries {
		for _, j := range p.fates[i].out {
			d.parts[e.Refs[j]] = true
		}
		for j, ref := range e.Refs {
			if p.fates[i].gone {
				d.parts[ref] = true
			} else if text, ok := p.fates[i].texts[j]; ok {
				part, text := r.part(ref), r.newText(r.part(ref), text)
				switch marker := r.Raw[part.marker.Start:part.marker.End]; {
				case part.inner == 0:
				case part.Alone: // a marker within a result stays within it
					text = fmt.Appendf(nil, `[{"type":"text","text":%s,"cache_control":%s}]`, text, marker)
				default:
					d.markers[ref] = marker
				}
				d.edits = append(d.edits, Edit{part.Value, text})
			}
		}
	}
	for i := range r.Items {
		d.gone[i] = d.allGone(i)
	}
	// Made entries stand at the borders of items. A view has them between exchanges, so that they part none.
	for _, m := range p.made {
		at := d.beside(r.behind(p, m), m.entry.Speaker)
		if !d.merge(at, m.entry) {
			d.insert(at, m.entry)
		}
	}
	d.moveMarks()
	d.items()
	d.changeParts()
	// Edits are found by kind, and [Apply] needs them by position.
	slices.SortFunc(d.edits, func(a, b Edit) int { return a.Start - b.Start })
	return d.edits
}

// draft collects the edits of a request. It lives for one call of [Request.Edits].
type draft struct {
	request *Request
	gone    []bool                  // the items that go
	parts   map[Ref]bool            // the parts that go
	before  map[int][]byte          // new items, by the position of the item that they stand before
	spoke   map[int]content.Speaker // who the last of these is from
	first   map[int][]byte          // new parts at the beginning of items that stay, and at their end
	last    map[int][]byte
	markers map[Ref][]byte // markers that parts get
	edits   []Edit
}

// join returns the elements of an array one behind the other.
func join(elements, more []byte) []byte {
	if len(elements) == 0 {
		return more
	}
	return append(append(elements, ','), more...)
}

// allGone reports whether every part of an item goes, and with them the item. An item without parts stays.
func (d *draft) allGone(item int) bool {
	parts := d.request.Items[item].Parts
	for j := range parts {
		if !d.parts[Ref{item, j}] {
			return false
		}
	}
	return len(parts) > 0
}

// items takes out items and puts in new ones. Between two items that stay next to each other nothing changes.
func (d *draft) items() {
	r := d.request
	spans := make([]Span, len(r.Items))
	for i := range r.Items {
		spans[i] = r.Items[i].Span
	}
	array := r.list
	if n := len(r.dropped); n > 0 { // as if the list began behind them: nothing goes there, and the first item stays
		array.Start = r.Items[0].Start - 1
	}
	d.list(array, spans, func(i int) bool { return d.gone[i] }, d.before, d.joined())
}

// list takes elements out of an array and puts new ones in. array includes its brackets. before has new elements by the
// position of the element that they stand before; len(elements) is the end. joined has what makes an element one with
// the one before it.
func (d *draft) list(array Span, elements []Span, gone func(int) bool, before map[int][]byte, joined map[int]Edit) {
	// Each round decides about the gap before one element: what stands between two that stay is left alone, with its
	// comma and white space, unless something there goes or comes.
	at := array.Start + 1 // the end of the last element that stays
	first, changed := true, false
	var between []byte // what stands before the next element that stays
	for i := 0; i <= len(elements); i++ {
		if item := before[i]; item != nil {
			if changed = true; len(between) > 0 {
				between = append(between, ',')
			}
			between = append(between, item...)
		}
		last := i == len(elements)
		if !last && gone(i) {
			changed = true
			continue
		}
		end := array.End - 1
		if !last {
			end = elements[i].Start
		}
		if join, ok := joined[i]; ok {
			d.edits, changed = append(d.edits, join), false
		}
		if changed {
			if !first && (len(between) > 0 || !last) {
				between = append([]byte{','}, between...)
			}
			if !last && len(between) > 0 && between[len(between)-1] != ',' {
				between = append(between, ',')
			}
			d.edits = append(d.edits, Edit{Span{at, end}, between})
		}
		if !last {
			at, first, changed, between = elements[i].End, false, false, nil
		}
	}
}

// changeParts takes parts out of items that stay, and puts new ones in. The order of the items does not matter here:
// edits are sorted at the end.
func (d *draft) changeParts() {
	r := d.request
	touched := map[int]bool{}
	for item := range d.first {
		touched[item] = true
	}
	for item := range d.last {
		touched[item] = true
	}
	for ref := range d.parts {
		touched[ref.Item] = !d.gone[ref.Item]
	}
	for item, stays := range touched {
		if !stays {
			continue
		}
		array := r.Items[item].parts
		var spans []Span // calls may stand in an array of their own, behind the parts
		for _, p := range r.Items[item].Parts {
			if p.Start >= array.Start && p.End <= array.End {
				spans = append(spans, p.Span)
			}
		}
		before := map[int][]byte{0: d.first[item]}
		before[len(spans)] = join(before[len(spans)], d.last[item])
		d.list(array, spans, func(j int) bool { return d.parts[Ref{item, j}] }, before, nil)
	}
}

// newText returns the JSON that stands for a new text of a part. Where responses are objects and take no plain text, it
// goes into the member that it is also read from.
func (r *Request) newText(p *Part, text string) []byte {
	out := content.String(text)
	if r.form.Wrap != "" && p.Kind == Response {
		return fmt.Appendf(nil, `{%q:%s}`, r.form.Wrap, out)
	}
	return out
}

// newItem writes an entry of text as an item.
func (r *Request) newItem(c content.Content) []byte {
	kind, role := "", "user"
	if c.Speaker == content.AI {
		role = r.form.Assistant
	}
	if r.form.Flat {
		kind = `"type":"message",`
	}
	return fmt.Appendf(nil, `{%s"role":%q,%q:[%s]}`, kind, role, r.form.Content, r.newParts(c))
}

// newParts writes the texts of an entry as parts.
func (r *Request) newParts(c content.Content) (parts []byte) {
	for _, b := range c.Blocks {
		text := content.String(b.(content.Text).Text) // see writable
		parts = join(parts, r.newPart(c.Speaker, text))
	}
	return parts
}

// newPart writes a text, which is JSON, as a part.
func (r *Request) newPart(by content.Speaker, text []byte) []byte {
	if kind := r.form.TextType(by); kind != "" {
		return fmt.Appendf(nil, `{"type":%q,"text":%s}`, kind, text)
	}
	return fmt.Appendf(nil, `{"text":%s}`, text)
}
