package body

import (
	"bytes"

	"github.com/thresh-dev/thresh/internal/lazyregexp"
)

// anHour matches a cache marker of Anthropic's API for an hour instead of five minutes.
var anHour = lazyregexp.New(`"cache_control"\s*:\s*\{[^{}]*"ttl"\s*:\s*"1h"`)

// CachesForAnHour reports whether the last cache marker of the conversation, or if it has none one before it, asks the
// provider to keep the prompt for an hour.
func (r *Request) CachesForAnHour() bool {
	for i := len(r.Items) - 1; i >= 0; i-- {
		for j := len(r.Items[i].Parts) - 1; j >= 0; j-- {
			if p := r.Items[i].Parts[j]; !p.marker.Empty() {
				return anHour().Match(r.Raw[p.Start:p.End])
			}
		}
	}
	before, _ := r.rest()
	return anHour().Match(before)
}

// moveMarks gives the cache markers of parts that go to the block before, so that what comes before it stays cached. A
// block that has a marker keeps it, and a marker with nothing before it is lost. So there are never more than before.
// Anthropic refuses a request with more than four.
func (d *draft) moveMarks() {
	r := d.request
	for i := range r.Items {
		for j := range r.Items[i].Parts {
			p := &r.Items[i].Parts[j]
			if p.marker.Empty() || !d.parts[Ref{i, j}] {
				continue
			}
			if to, ok := d.markerPlace(Ref{i, j}); ok && r.part(to).marker.Empty() && d.markers[to] == nil {
				d.markers[to] = r.Raw[p.marker.Start:p.marker.End]
			}
		}
	}
	for ref, marker := range d.markers {
		d.edits = append(d.edits, d.putMarker(ref, marker))
	}
}

// markerPlace returns the last part before another that stays and can have a marker. Instructions are not touched.
// false if there is none. It searches backwards, over the borders of items.
func (d *draft) markerPlace(before Ref) (Ref, bool) {
	r := d.request
	for i := before.Item; i >= 0; i-- {
		j := len(r.Items[i].Parts)
		if i == before.Item {
			j = before.Part
		}
		for j--; j >= 0; j-- {
			if ref := (Ref{i, j}); !d.parts[ref] && r.part(ref).takesMarker && !r.Items[i].Pinned {
				return ref, true
			}
		}
	}
	return Ref{}, false
}

// putMarker writes a marker into a part. A text alone becomes an array of one part, because a string cannot have one.
// The marker is the client's, such as its lifetime, and is copied as it stands.
func (d *draft) putMarker(ref Ref, marker []byte) Edit {
	r := d.request
	p := r.part(ref)
	field := append([]byte(`,"cache_control":`), marker...)
	if !p.Alone {
		// Before the closing brace. The part has members already, so that a comma is right.
		end := p.End - 1
		return Edit{Span{end, end}, field}
	}
	text := r.Raw[p.Start:p.End]
	for i, e := range d.edits {
		if e.Span == p.Value { // it has a new text as well: one edit for both
			text = e.New
			d.edits = append(d.edits[:i], d.edits[i+1:]...)
			break
		}
	}
	return Edit{p.Span, bytes.Join([][]byte{[]byte(`[{"type":"text","text":`), text, field, []byte(`}]`)}, nil)}
}
