package chat

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/thresh-dev/thresh/host/internal/provider/messages"
	"github.com/thresh-dev/thresh/host/internal/provider/ordered"
	"github.com/thresh-dev/thresh/sdk/content"
	"github.com/thresh-dev/thresh/sdk/content/rawjson"
)

// writer writes messages. Each result is a separate message, which holds text only: media of results are written as a
// user message after them.
type writer struct {
	*messages.Plan
	out []json.RawMessage
}

// write writes the messages, beginning with the system prompt. Compatible servers take any unique id.
func write(p *messages.Plan, system []content.Block, exact bool) messages.Rendered {
	w := writer{Plan: p}
	w.UniqueIDs(false, false)
	for _, m := range messages.SystemMessages(system) {
		w.turn(m.Turn(exact))
	}
	for _, t := range w.Turns {
		w.turn(t)
	}
	return messages.Rendered{Messages: w.out}
}

// turn writes one turn, its calls, and the responses after it. A single text is written as a string, which all
// compatible servers accept.
func (w *writer) turn(t messages.Turn) {
	// A message that the reader could not take apart is written byte for byte.
	if whole := whole(t); whole != nil {
		w.out = append(w.out, whole)
		return
	}
	var m ordered.Builder
	m.Text("role", t.Role)
	if t.Name != nil && (t.Role != messages.Assistant || t.Exact) {
		m.Raw("name", t.Name)
	}
	text, parts, plain := w.Parts(t)
	switch {
	case len(parts) == 1 && plain:
		m.Raw("content", content.String(text))
	case len(parts) > 0:
		m.Raw("content", ordered.List(parts...))
	// A message of calls alone. Some compatible servers require the field.
	case t.Role == messages.Assistant && len(t.Calls) > 0:
		m = append(m, `,"content":null`...)
	// A message without content would be refused.
	default:
		w.Tally.Count(0, t.Entry, "entry without anything that could be written left out")
		return
	}
	var calls [][]byte
	for _, c := range t.Calls {
		calls = append(calls, w.call(c, t.Entry))
	}
	if len(calls) > 0 {
		m.Raw("tool_calls", ordered.List(calls...))
	}
	// Servers that show the thoughts of a model want them back with its calls.
	if t.Exact {
		m.Text("reasoning_content", thoughts(t))
		m.Rest(t.Fields)
	}
	w.out = append(w.out, m.JSON())
	// No other message may come between calls and their results.
	w.answers(t)
}

func whole(t messages.Turn) []byte {
	if !t.Exact || len(t.Blocks) != 1 {
		return nil
	}
	// A strategy may have replaced the block; then the message is written from what it is now.
	block, ok := t.Blocks[0].(content.Opaque)
	if !ok || block.Kind() != wholeMessage {
		return nil
	}
	return rawjson.Field(block.JSON, messages.FieldMessage)
}

func thoughts(t messages.Turn) string {
	var out []string
	for _, block := range t.Blocks {
		if thought, ok := block.(content.Thinking); ok {
			out = append(out, thought.Thought)
		}
	}
	return strings.Join(out, "\n")
}

func (w *writer) call(c *messages.Call, entry int) []byte {
	item := c.Item(messages.FieldItem)
	kind, value := cmp.Or(item.Text("type"), "function"), "arguments"
	var inner, m ordered.Builder
	inner.Raw("name", content.String(w.ToolName(c, entry)))
	m.Raw("id", content.String(c.OutID))
	m.Text("type", kind)
	if kind == "custom" {
		value = "input"
	} else {
		kind = "function"
	}
	inner.Raw(value, content.String(messages.ArgumentText(c.Parameters)))
	inner.Rest(c.Item("function"))
	m.Raw(kind, inner.JSON())
	m.Rest(item.But("type"))
	return m.JSON()
}

// answers writes the tool messages, then a user message with their media, because all tool messages must directly
// follow the calls.
func (w *writer) answers(t messages.Turn) {
	var media []content.Block
	for _, a := range t.Answers {
		var m ordered.Builder
		m.Text("role", Form.ResultRole)
		m.Raw("tool_call_id", content.String(a.Call.OutID))
		body, whole := w.Result(a, t.Entry)
		m.Raw("content", body)
		if a.Exact {
			m.Rest(ordered.Of(a.Extra.Get(messages.FieldMessage)))
		}
		w.out = append(w.out, m.JSON())
		// Without a result, the text that is written is the error's.
		if a.Failed() && !rawjson.IsNull(a.Result) && ordered.Kind(body) == '"' {
			w.Tally.Count(0, t.Entry, "result's error flag left out; its text is kept")
		}
		for _, f := range a.Extra.All() {
			if !a.Exact {
				w.Tally.Count(0, t.Entry, fmt.Sprintf("field %q of a result left out", ordered.Clip([]byte(f.Name))))
			}
		}
		for _, m := range a.Media {
			if !whole {
				media = append(media, m)
			}
		}
	}
	if len(media) > 0 {
		w.Tally.Count(0, t.Entry, "result's media written as a user message after the results")
		w.turn(messages.Turn{Entry: t.Entry, Role: messages.User, Blocks: media})
	}
}

// attach returns an image or a PDF as a part of a person's message; an agent's own message was accepted once.
func attach(_ *messages.Plan, t messages.Turn, m content.Media) (part []byte, ok bool) {
	link, image, fields := messages.Link(t, m)
	file := messages.File(m, link)
	switch {
	case t.Role != messages.User && !t.Exact:
		return nil, false
	case image:
		inner := append(ordered.Object{{Name: "url", Value: content.String(link)}}, fields...)
		return fmt.Appendf(nil, `{"type":"image_url","image_url":%s}`, inner.JSON()), true
	case file != nil:
		return fmt.Appendf(nil, `{"type":"file","file":%s}`, file.JSON()), true
	}
	return nil, false
}
