package transcript

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"

	"github.com/thresh-dev/thresh/sdk/content"
)

// Write writes a transcript as [Native], [OpenAIChat] or [AnthropicMessages]. The notes say what the format cannot hold
// and what was done about it; the native form holds everything and yields no notes. An error is one of w, or
// [ErrUnsupportedFormat].
func Write(w io.Writer, t *Transcript, f Format) ([]Note, error) {
	buf := bufio.NewWriterSize(w, 64<<10)
	var notes []Note
	switch f {
	case Native:
		writeNative(buf, t)
	case OpenAIChat:
		notes = writeOpenAI(buf, t)
	case AnthropicMessages:
		notes = writeAnthropic(buf, t)
	default:
		return nil, fmt.Errorf("%w: %s cannot be written; can be: %s", ErrUnsupportedFormat, f, formatNames(true))
	}
	if err := buf.Flush(); err != nil {
		return nil, fmt.Errorf("write transcript: %w", err)
	}
	return notes, nil
}

// writeNative writes one entry per line, so that versions of a file can be compared line by line. It writes a plain
// list if the entries were read from one and there is nothing else to write. Write errors stay in w until it is
// flushed; bufio keeps the first one.
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
// was read wins, so that a round trip changes nothing.
func nativeFields(t *Transcript) content.Fields {
	fields := t.Extra[:len(t.Extra):len(t.Extra)]
	add := func(name string, value json.RawMessage) {
		if len(value) > 0 && !t.Extra.Has(name) {
			fields = append(fields, content.Field{Name: name, Value: value})
		}
	}
	if t.ID != "" {
		add("id", content.String(t.ID))
	}
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
	return fields
}

// writeEntries writes the list. It reuses one buffer for all entries.
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
