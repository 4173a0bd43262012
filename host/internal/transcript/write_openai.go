package transcript

import (
	"bufio"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/thresh-dev/thresh/sdk/content"
	"github.com/thresh-dev/thresh/sdk/content/rawjson"
)

// openAIWriter writes messages of the OpenAI chat API. Each result is a separate message there. Such messages hold text
// only, so media of results go into a user message after them.
type openAIWriter struct {
	*planner
	w     *bufio.Writer
	count int // of messages written
}

// writeOpenAI writes {"tools": …, "messages": [...]}. Write errors stay in w until it is flushed.
func writeOpenAI(w *bufio.Writer, t *Transcript) []Note {
	o := openAIWriter{planner: plan(t), w: w}
	o.uniqueIDs(false)
	_ = w.WriteByte('{')
	o.tools(w, t, "function")
	_, _ = w.WriteString(`"messages":[`)
	for _, t := range o.turns {
		o.turn(t)
	}
	_, _ = w.WriteString("\n]}\n")
	return o.tally.notes()
}

// tools writes the tool schemas if they are in the provider's own form, recognised by the field own. They are not
// converted: providers support different parts of JSON Schema.
func (p *planner) tools(w *bufio.Writer, t *Transcript, own string) {
	switch {
	case len(t.Tools) == 0:
	case firstObject(t.Tools).has(own):
		_, _ = fmt.Fprintf(w, "\"tools\":%s,\n", t.Tools)
	default:
		p.tally.count(0, -1, "list of tool schemas in another provider's form left out")
	}
}

// turn writes one turn, its calls, and the responses after it. A single text is written as a string, which all
// compatible servers accept; lists of parts are used only when needed.
func (o *openAIWriter) turn(t turn) {
	var m metadata
	m.text("role", t.role)
	if t.name != nil && t.role != roleAssistant {
		m.raw("name", t.name)
	}
	text, parts, media := o.parts(t)
	switch {
	case len(parts) == 1 && !media:
		m.raw("content", content.String(text))
	case len(parts) > 0:
		m.raw("content", list(parts))
	case t.role == roleAssistant && len(t.calls) > 0:
		m = append(m, `,"content":null`...)
	default:
		o.tally.count(0, t.entry, "entry without anything that could be written left out")
		return
	}
	var calls [][]byte
	for _, c := range t.calls {
		calls = append(calls, fmt.Appendf(
			nil,
			`{"id":%s,"type":"function","function":{"name":%s,"arguments":%s}}`,
			content.String(
				c.outID,
			),
			content.String(o.toolName(c, t.entry)),
			content.String(argumentText(c.Parameters)),
		))
	}
	if len(calls) > 0 {
		m.raw("tool_calls", list(calls))
	}
	o.message(m)
	o.answers(t)
}

// answers writes the tool messages, then a user message with their media, because all tool messages must directly
// follow the calls.
func (o *openAIWriter) answers(t turn) {
	var media []content.Block
	for _, a := range t.answers {
		var m metadata
		m.text("role", "tool")
		m.raw("tool_call_id", content.String(a.call.outID))
		m.raw("content", content.String(resultText(a.ToolResponse)))
		o.message(m)
		if a.Failed() && !rawjson.IsNull(a.Result) {
			o.tally.count(0, t.entry, "result's error flag left out; its text is kept")
		}
		for _, f := range a.Extra {
			o.tally.count(0, t.entry, fmt.Sprintf("field %q of a result left out", clip([]byte(f.Name))))
		}
		for _, m := range a.media {
			media = append(media, m)
		}
	}
	if len(media) > 0 {
		o.tally.count(0, t.entry, "result's media written as a user message after the results")
		o.turn(turn{entry: t.entry, role: roleUser, blocks: media})
	}
}

// parts returns the blocks of a turn as content parts. text is the last text, for messages that have nothing else.
// media reports whether there are parts other than text; the API accepts those from the user only.
func (o *openAIWriter) parts(t turn) (text string, parts [][]byte, media bool) {
	for _, block := range t.blocks {
		switch block := block.(type) {
		case content.Text:
			text = block.Text
			parts = append(parts, fmt.Appendf(nil, `{"type":"text","text":%s}`, content.String(text)))
			for _, f := range block.Extra {
				o.tally.count(0, t.entry, fmt.Sprintf("field %q of a text left out", clip([]byte(f.Name))))
			}
		case content.Media:
			part, ok := openAIMediaPart(block)
			if ok && t.role == roleUser {
				parts, media = append(parts, part), true
				continue
			}
			text = placeholder(block)
			parts = append(parts, fmt.Appendf(nil, `{"type":"text","text":%s}`, content.String(text)))
			o.tally.count(0, t.entry, "attachment that the format cannot hold replaced by a line of text")
		case content.Thinking:
			o.tally.count(0, t.entry, "thinking left out")
		case content.Opaque:
			if k := block.Kind(); t.role == roleUser && k == "input_audio" {
				parts, media = append(parts, block.JSON), true
				continue
			}
			o.tally.count(0, t.entry, fmt.Sprintf("block of the kind %q left out", clip([]byte(block.Kind()))))
		}
	}
	return text, parts, media
}

// openAIMediaPart returns media as a content part; ok is false for types that the API does not take. PDFs must be
// inline.
func openAIMediaPart(m content.Media) ([]byte, bool) {
	link := m.Data
	if m.Encoding != "url" {
		link = "data:" + m.MimeType + ";base64," + m.Data
	}
	switch {
	case strings.HasPrefix(m.MimeType, "image/"):
		return fmt.Appendf(nil, `{"type":"image_url","image_url":{"url":%s}}`, content.String(link)), true
	case m.MimeType == "application/pdf" && m.Encoding != "url":
		name := firstText(m.Filename, "document.pdf")
		return fmt.Appendf(
			nil, `{"type":"file","file":{"filename":%s,"file_data":%s}}`, content.String(name), content.String(link),
		), true
	default:
		return nil, false
	}
}

// placeholder returns the text that replaces an attachment which the format cannot hold.
func placeholder(m content.Media) string {
	return strings.TrimSpace("["+m.MimeType+" "+firstText(m.Filename, m.Caption)) + "]"
}

// argumentText returns parameters the way the API has them: JSON inside a string. Text that was not JSON is written as
// it was read; it is the inverse of argumentsOf.
func argumentText(raw json.RawMessage) string {
	if len(raw) == 0 {
		return "{}"
	}
	if text, ok := rawjson.Text(raw); ok && checkJSON([]byte(text)) != nil {
		return text
	}
	return string(raw)
}

// message writes one message.
func (o *openAIWriter) message(m metadata) {
	if o.count > 0 {
		_ = o.w.WriteByte(',')
	}
	o.count++
	_ = o.w.WriteByte('\n')
	_, _ = o.w.Write(m.json())
}

// list returns values, which are JSON, as a JSON array.
func list(values [][]byte) []byte {
	out := []byte{'['}
	for i, v := range values {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, v...)
	}
	return append(out, ']')
}
