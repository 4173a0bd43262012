package transcript

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"slices"

	"github.com/thresh-dev/thresh/host/api"
	"github.com/thresh-dev/thresh/host/internal/provider/messages"
	"github.com/thresh-dev/thresh/host/internal/provider/ordered"
	"github.com/thresh-dev/thresh/sdk/content"
)

// Write writes a transcript as [Native] or as a request of a provider. The notes say what the format cannot hold and
// what was done about it; the native form holds everything. An error is w's, or [ErrUnsupportedFormat].
func Write(w io.Writer, t *Transcript, f Format) ([]Note, error) {
	buf := bufio.NewWriterSize(w, 64<<10)
	var notes []Note
	switch f {
	case Native:
		writeNative(buf, t)
	default:
		api := f.api()
		if api == nil {
			return nil, fmt.Errorf("%w: %s cannot be written; can be: %s", ErrUnsupportedFormat, f, formatNames(true))
		}
		r := messages.Render(api, t.System, t.Entries, false)
		writeRequest(buf, t, api, r)
		if n := len(t.Boundaries); n > 0 {
			r.Tally.Count(0, -1, fmt.Sprintf("list of %d compactions left out; the whole history is written", n))
		}
		for _, f := range t.Extra.All() {
			r.Tally.Routine(0, -1, fmt.Sprintf("top-level field %q left out", ordered.Clip([]byte(f.Name))))
		}
		notes = r.Tally.Notes()
	}
	if err := buf.Flush(); err != nil {
		return nil, fmt.Errorf("write transcript: %w", err)
	}
	return notes, nil
}

// writeRequest writes the request, one message per line. Tool schemas are written if they are in the provider's own form:
// providers support different parts of JSON Schema, so schemas are not converted.
func writeRequest(w *bufio.Writer, t *Transcript, api *messages.API, r messages.Rendered) {
	_ = w.WriteByte('{')
	switch {
	case r.Instructions != nil:
		_, _ = fmt.Fprintf(w, "\"instructions\":%s,\n", r.Instructions)
	case r.System != nil:
		_, _ = fmt.Fprintf(w, "\"system\":%s,\n", r.System)
	}
	switch {
	case len(t.Tools) == 0:
	// The first one tells: a request has its schemas in one form.
	case ordered.FirstObject(t.Tools).Has(api.Schema):
		_, _ = fmt.Fprintf(w, "\"tools\":%s,\n", t.Tools)
	default:
		// In the notes, as the model cannot call anything without them.
		r.Tally.Count(0, -1, "list of tool schemas in another provider's form left out")
	}
	_, _ = fmt.Fprintf(w, "%q:[", api.Form.List)
	for i, m := range r.Messages {
		if i > 0 {
			_ = w.WriteByte(',')
		}
		_ = w.WriteByte('\n')
		_, _ = w.Write(m)
	}
	_, _ = w.WriteString("\n]}\n")
}

// writeNative writes one entry per line: versions of a file can be compared line by line. It writes a plain list if the
// entries were read from one and there is nothing else to write. Write errors stay in w until it is flushed.
func writeNative(w *bufio.Writer, t *Transcript) {
	fields := nativeFields(t)
	if t.Bare && len(fields) == 0 {
		writeEntries(w, t.Entries)
		_ = w.WriteByte('\n')
		return
	}
	_ = w.WriteByte('{')
	for _, f := range fields {
		_, _ = w.Write(content.String(f.Name))
		_ = w.WriteByte(':')
		_, _ = w.Write(f.Value)
		_, _ = w.WriteString(",\n")
	}
	_, _ = w.WriteString(`"history":`)
	writeEntries(w, t.Entries)
	_, _ = w.WriteString("}\n")
}

// nativeFields returns the fields around the history: those that were read, then those that follow from t. A field that
// was read wins: a round trip changes nothing.
func nativeFields(t *Transcript) []content.Field {
	// Capped: t may be written again, or by another goroutine.
	fields := slices.Clip(t.Extra.All())
	add := func(name string, value json.RawMessage) {
		if len(value) > 0 && !t.Extra.Has(name) {
			fields = append(fields, content.Field{Name: name, Value: value})
		}
	}
	if t.ID != "" {
		add("id", content.String(t.ID))
	}
	// Where the session came from. A native file without it was always native.
	if t.Format != "" && t.Format != Native {
		add("format", content.String(string(t.Format)))
	}
	if t.Dir != "" {
		add("cwd", content.String(t.Dir))
	}
	add("tools", t.Tools)
	if len(t.Boundaries) > 0 {
		var list []byte
		for i, b := range t.Boundaries {
			list = append(list, "[,"[min(i, 1)])
			list = fmt.Appendf(list, `{"index":%d,"kind":%s`, b.Index, content.String(b.Kind))
			if len(b.Meta) > 0 {
				list = append(append(list, `,"meta":`...), b.Meta...)
			}
			list = append(list, '}')
		}
		add("boundaries", append(list, ']'))
	}
	add("system", api.Prompt(t.System...))
	return fields
}

func writeEntries(w *bufio.Writer, entries []content.Content) {
	_ = w.WriteByte('[')
	var buf []byte
	for i, c := range entries {
		if i > 0 {
			_ = w.WriteByte(',')
		}
		buf = c.AppendJSON(append(buf[:0], '\n'))
		_, _ = w.Write(buf)
	}
	_, _ = w.WriteString("\n]")
}
