package transcript

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/thresh-dev/thresh/sdk/content"
	"github.com/thresh-dev/thresh/sdk/content/rawjson"
)

// openAIWriter writes messages of the OpenAI chat API. Each result is a separate message there, which holds text only:
// media of results are written as a user message after them.
type openAIWriter struct {
	*planner
	out [][]byte
}

// renderOpenAI returns the messages, beginning with the system prompt. Compatible servers take any unique id.
func renderOpenAI(t *Transcript, exact bool) rendered {
	o := openAIWriter{planner: plan(t, OpenAIChat)}
	o.uniqueIDs(false)
	for _, m := range systemMessages(t.System) {
		o.turn(m.turn(exact))
	}
	for _, t := range o.turns {
		o.turn(t)
	}
	return rendered{messages: o.out, form: OpenAIChat, tally: &o.tally}
}

// turn returns a message of the system prompt as a turn. The fields of the message are in its first block.
func (m systemMessage) turn(exact bool) turn {
	// -1: notes about the system prompt name no entry.
	t := turn{entry: -1, role: m.role, exact: exact}
	for i, text := range m.blocks {
		if i == 0 {
			t.name = text.Extra.Get("name")
			if exact {
				t.fields = asObject(text.Extra.Get(fieldMessage))
			}
			// They are the message's; in a part they would be unknown fields.
			text.Extra = without(text.Extra, fieldRole, "name", fieldMessage)
		}
		t.blocks = append(t.blocks, text)
	}
	return t
}

// turn writes one turn, its calls, and the responses after it. A single text is written as a string, which all
// compatible servers accept.
func (o *openAIWriter) turn(t turn) {
	// A message that the reader could not take apart is written byte for byte.
	if whole := wholeMessage(t); whole != nil {
		o.out = append(o.out, whole)
		return
	}
	var m metadata
	m.text("role", t.role)
	if t.name != nil && (t.role != roleAssistant || t.exact) {
		m.raw("name", t.name)
	}
	text, parts, plain := o.parts(t)
	switch {
	case len(parts) == 1 && plain:
		m.raw("content", content.String(text))
	case len(parts) > 0:
		m.raw("content", list(parts))
	// A message of calls alone. Some compatible servers require the field.
	case t.role == roleAssistant && len(t.calls) > 0:
		m = append(m, `,"content":null`...)
	// A message without content would be refused.
	default:
		o.tally.count(0, t.entry, "entry without anything that could be written left out")
		return
	}
	var calls [][]byte
	for _, c := range t.calls {
		calls = append(calls, o.call(c, t.entry))
	}
	if len(calls) > 0 {
		m.raw("tool_calls", list(calls))
	}
	// Servers that show the thoughts of a model want them back with its calls.
	if t.exact {
		m.text("reasoning_content", thoughts(t))
		m.rest(t.fields)
	}
	o.out = append(o.out, m.json())
	// No other message may come between calls and their results.
	o.answers(t)
}

func wholeMessage(t turn) []byte {
	if !t.exact || len(t.blocks) != 1 {
		return nil
	}
	// A strategy may have replaced the block; then the message is written from what it is now.
	block, ok := t.blocks[0].(content.Opaque)
	if !ok || block.Kind() != kindMessage {
		return nil
	}
	return rawjson.Field(block.JSON, fieldMessage)
}

func thoughts(t turn) string {
	var out []string
	for _, block := range t.blocks {
		if thought, ok := block.(content.Thinking); ok {
			out = append(out, thought.Thought)
		}
	}
	return strings.Join(out, "\n")
}

func (o *openAIWriter) call(c *call, entry int) []byte {
	// Fields of another provider's call would make this one refuse the request.
	var item, function object
	if c.exact {
		item, function = asObject(c.Extra.Get(fieldItem)), asObject(c.Extra.Get("function"))
	}
	var inner, m metadata
	inner.raw("name", content.String(o.toolName(c, entry)))
	m.raw("id", content.String(c.outID))
	if item.text("type") == "custom" {
		inner.raw("input", content.String(argumentText(c.Parameters)))
		inner.rest(function)
		m.raw("custom", inner.json())
	} else {
		inner.raw("arguments", content.String(argumentText(c.Parameters)))
		inner.rest(function)
		m.text("type", firstText(item.text("type"), "function"))
		m.raw("function", inner.json())
		item = item.but("type")
	}
	m.rest(item)
	return m.json()
}

// answers writes the tool messages, then a user message with their media, because all tool messages must directly
// follow the calls.
func (o *openAIWriter) answers(t turn) {
	var media []content.Block
	for _, a := range t.answers {
		var m metadata
		m.text("role", "tool")
		m.raw("tool_call_id", content.String(a.call.outID))
		// Parts are written only as the agent gave them: not every server takes a list here.
		if body, ok := o.resultParts(a, t.entry); ok {
			m.raw("content", body)
			m.rest(asObject(a.Extra.Get(fieldMessage)))
			o.out = append(o.out, m.json())
			continue
		}
		m.raw("content", content.String(resultText(a.ToolResponse)))
		if a.exact {
			m.rest(asObject(a.Extra.Get(fieldMessage)))
		}
		o.out = append(o.out, m.json())
		// Without a result, the text that is written is the error's.
		if a.Failed() && !rawjson.IsNull(a.Result) {
			o.tally.count(0, t.entry, "result's error flag left out; its text is kept")
		}
		for _, f := range a.Extra.All() {
			if !a.exact {
				o.tally.count(0, t.entry, fmt.Sprintf("field %q of a result left out", clip([]byte(f.Name))))
			}
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

// resultParts returns the parts of a result that the agent gave as parts; ok is false for all others, and if the result
// was edited since.
func (o *openAIWriter) resultParts(a *answer, entry int) (body []byte, ok bool) {
	if !a.exact {
		return nil, false
	}
	return a.parts(func(text string, fields object) []byte {
		var m metadata
		m.text("type", "text")
		m.raw("text", content.String(text))
		m.rest(fields)
		return m.json()
	}, func(m content.Media) []byte {
		part, _ := openAIMediaPart(m, true)
		return part
	})
}

// parts returns the blocks of a turn as content parts. text is the last text, and plain says that there is only text
// without fields of its own. The API accepts other parts from the user only.
func (o *openAIWriter) parts(t turn) (text string, parts [][]byte, plain bool) {
	// A string has no room for fields.
	plain = true
	for _, block := range t.blocks {
		switch block := block.(type) {
		case content.Text:
			text = block.Text
			var m metadata
			m.text("type", "text")
			m.raw("text", content.String(text))
			for _, f := range block.Extra.All() {
				if t.exact {
					m.raw(f.Name, f.Value)
					plain = false
					continue
				}
				o.tally.count(0, t.entry, fmt.Sprintf("field %q of a text left out", clip([]byte(f.Name))))
			}
			parts = append(parts, m.json())
		case content.Media:
			// The API refuses attachments of the model or the tool; an agent's own message was accepted once.
			part, ok := openAIMediaPart(block, t.exact)
			if ok && (t.role == roleUser || t.exact) {
				parts, plain = append(parts, part), false
				continue
			}
			text = placeholder(block)
			parts = append(parts, fmt.Appendf(nil, `{"type":"text","text":%s}`, content.String(text)))
			o.tally.count(0, t.entry, "attachment that the format cannot hold replaced by a line of text")
		case content.Thinking:
			// [openAIWriter.turn] writes exact thinking as a field of the message.
			if !t.exact {
				o.tally.count(0, t.entry, "thinking left out")
			}
		case content.Opaque:
			if k := block.Kind(); t.exact || t.role == roleUser && k == "input_audio" {
				parts, plain = append(parts, block.JSON), false
				continue
			}
			o.tally.count(0, t.entry, fmt.Sprintf("block of the kind %q left out", clip([]byte(block.Kind()))))
		}
	}
	return text, parts, plain
}

// openAIMediaPart returns media as a content part; ok is false for types that the API does not take. PDFs must be
// inline. With exact, fields that another provider's media may have are written too.
func openAIMediaPart(m content.Media, exact bool) (part []byte, ok bool) {
	link := m.Data
	if m.Encoding != "url" {
		link = "data:" + m.MimeType + ";base64," + m.Data
	}
	var inner metadata
	switch {
	case strings.HasPrefix(m.MimeType, "image/"):
		inner.raw("url", content.String(link))
		// detail sets the resolution, and with it how many tokens the image costs.
		for _, f := range m.Extra.All() {
			if exact || f.Name == "detail" {
				inner.raw(f.Name, f.Value)
			}
		}
		return fmt.Appendf(nil, `{"type":"image_url","image_url":%s}`, inner.json()), true
	case m.MimeType == "application/pdf" && m.Encoding != "url":
		inner.raw("filename", content.String(firstText(m.Filename, "document.pdf")))
		inner.raw("file_data", content.String(link))
		return fmt.Appendf(nil, `{"type":"file","file":%s}`, inner.json()), true
	default:
		return nil, false
	}
}

// placeholder returns the text that replaces an attachment which the format cannot hold, with its type and name: the
// model knows what it cannot see. It is never empty, or a message of it alone would be refused.
func placeholder(m content.Media) string {
	return strings.TrimSpace("["+m.MimeType+" "+firstText(m.Filename, m.Caption)) + "]"
}

// argumentText returns parameters the way the API has them: JSON inside a string. Text that was not JSON is written
// unchanged; it is the inverse of argumentsOf.
func argumentText(raw json.RawMessage) string {
	if len(raw) == 0 {
		return "{}"
	}
	// A text that would read as other JSON must be quoted, or reading it back would give an object.
	if text, ok := rawjson.Text(raw); ok &&
		(kind([]byte(text)) == '"' || strings.TrimSpace(text) != text || checkJSON([]byte(text)) != nil) {
		return text
	}
	return string(raw)
}

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
