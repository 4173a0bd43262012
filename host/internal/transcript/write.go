package transcript

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"slices"

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
	case OpenAIChat, OpenAIResponses, AnthropicMessages:
		r := render(t, f, false)
		r.write(buf, t)
		notes = r.tally.notes()
	default:
		return nil, fmt.Errorf("%w: %s cannot be written; can be: %s", ErrUnsupportedFormat, f, formatNames(true))
	}
	if err := buf.Flush(); err != nil {
		return nil, fmt.Errorf("write transcript: %w", err)
	}
	return notes, nil
}

// rendered is a conversation in a provider's form. At most one of system and instructions is set; both are nil if the
// system prompt is among the messages.
type rendered struct {
	messages     [][]byte
	system       []byte // Anthropic's system prompt, as a list of blocks
	instructions []byte // of the Responses API, a text
	form         Format
	tally        *tally
}

// render arranges a transcript for one of the three providers. With exact, the system prompt was given in that form.
func render(t *Transcript, f Format, exact bool) rendered {
	switch f {
	case OpenAIChat:
		return renderOpenAI(t, exact)
	case OpenAIResponses:
		return renderResponses(t, exact)
	default:
		return renderAnthropic(t, exact)
	}
}

// write writes the request, one message per line. Tool schemas are written if they are in the provider's own form:
// providers support different parts of JSON Schema, so schemas are not converted.
func (r *rendered) write(w *bufio.Writer, t *Transcript) {
	list, own := "messages", "function"
	_ = w.WriteByte('{')
	switch {
	case r.instructions != nil:
		_, _ = fmt.Fprintf(w, "\"instructions\":%s,\n", r.instructions)
	case r.system != nil:
		_, _ = fmt.Fprintf(w, "\"system\":%s,\n", r.system)
	}
	switch r.form {
	case OpenAIResponses:
		list, own = "input", "parameters"
	case AnthropicMessages:
		own = "input_schema"
	}
	switch {
	case len(t.Tools) == 0:
	// The first one tells: a request has its schemas in one form.
	case firstObject(t.Tools).has(own):
		_, _ = fmt.Fprintf(w, "\"tools\":%s,\n", t.Tools)
	default:
		// In the notes, as the model cannot call anything without them.
		r.tally.count(0, -1, "list of tool schemas in another provider's form left out")
	}
	_, _ = fmt.Fprintf(w, "%q:[", list)
	for i, m := range r.messages {
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
	add("system", SystemJSON(t.System))
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
