package transcript

import (
	"bytes"
	"errors"

	"github.com/thresh-dev/thresh/host/internal/provider/ordered"
	"github.com/thresh-dev/thresh/host/internal/transcriptlog"
	"github.com/thresh-dev/thresh/sdk/content"
	"github.com/thresh-dev/thresh/sdk/content/rawjson"
)

// readNative reads a list of entries, or an object with the list in "history". Unknown fields of the object are kept: a
// native file survives a round trip unchanged.
func readNative(b *builder, d *document) error {
	b.t.Format = Native
	list := "history"
	if d.top == nil {
		list, b.t.Bare = "", true
	}
	err := d.each(list, func(i, line int, raw []byte) error { return b.entry(i, line, raw) })
	if err != nil || d.top == nil {
		return err
	}
	b.t.ID = d.top.Text("id")
	b.t.workedIn(d.top.Text("cwd"))
	if err := b.nativeSystem(d); err != nil {
		return err
	}
	var extra []content.Field
	for _, f := range d.top {
		if f.Name != "history" && f.Name != "system" {
			extra = append(extra, content.Field{Name: f.Name, Value: bytes.Clone(f.Value)})
		}
	}
	b.t.Extra = content.FieldsOf(extra...)
	b.nativeBoundaries(d.top)
	return nil
}

// entry reads one entry of the native form. A malformed entry is an error: only thresh and agents that use it write the
// native form.
func (b *builder) entry(i, line int, raw []byte) error {
	// The host gave the id when it logged the entry.
	_, raw = transcriptlog.CutID(raw)
	var c content.Content
	if err := c.UnmarshalJSON(raw); err != nil {
		return failEntry(line, i, err.Error())
	}
	// Completing a tool's name would change what is written back.
	b.Unnamed = true
	b.Add(line, c)
	return nil
}

// nativeBoundaries reads the compactions that a conversion from another format noted. Wrong ones are noted and not
// used: the history is whole without them.
func (b *builder) nativeBoundaries(top ordered.Object) {
	raw := top.Raw("boundaries")
	list, ok := ordered.Elements(raw)
	if !ok && !rawjson.IsNull(raw) {
		b.note(0, -1, "boundaries is not a list; it is carried unchanged and not used")
	}
	for i, raw := range list {
		boundary, err := parseBoundary(raw, len(b.Entries))
		if err != nil {
			b.note(0, -1, "boundaries[%d] is not used: %v", i, err)
			continue
		}
		b.t.Boundaries = append(b.t.Boundaries, boundary)
	}
}

// parseBoundary reads one boundary. Its index may equal the number of entries: a compaction after the last of them.
func parseBoundary(raw []byte, entries int) (Boundary, error) {
	o := ordered.Of(raw)
	// By digits: 1.5 must not be rounded to a position.
	index, ok := ordered.Whole(o.Raw("index"))
	if !ok || index > entries {
		return Boundary{}, errors.New("its index is not a position in the history")
	}
	return Boundary{Index: index, Kind: o.Text("kind"), Meta: o.Copy("meta")}, nil
}

// nativeLines reads one entry per line, as the host's transcript log writes them. A line with only a system prompt
// replaces the one before.
type nativeLines struct{ b *builder }

func (n *nativeLines) record(r record) error {
	n.b.t.Bare = true
	if isSystemLine(r.Object) {
		// The parsed blocks refer to the buffer of the line.
		if raw := bytes.Clone(r.Object[0].Value); !n.b.setSystem(raw) {
			return failAt(r.line, ErrMalformed, "%s", noSystem(raw))
		}
		return nil
	}
	return n.b.entry(len(n.b.Entries), r.line, r.whole)
}

func (n *nativeLines) end() error { return nil }
