package responses

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/host/internal/provider/messages"
	"github.com/thresh-dev/thresh/host/internal/provider/ordered"
	"github.com/thresh-dev/thresh/sdk/content"
	"github.com/thresh-dev/thresh/sdk/content/rawjson"
)

// writer writes items. A text, a call and its output are one item each, matched by the call id alone: merging and
// alternating as for the other APIs is not needed.
type writer struct {
	*messages.Plan
	out []json.RawMessage
}

// write writes the items of the input, and the instructions: the part of the system prompt that was no message. The API
// matches calls by id within a conversation; ids are kept wherever they are unique.
func write(p *messages.Plan, system []content.Block, exact bool) (r messages.Rendered) {
	w := writer{Plan: p}
	w.UniqueIDs(true, false)
	for i, m := range messages.SystemMessages(system) {
		// A block without a role was no message: it was given next to them. The API takes one text there.
		if i == 0 && !m.Blocks[0].Extra.Has(messages.FieldRole) {
			var texts []string
			for _, text := range m.Blocks {
				texts = append(texts, text.Text)
			}
			r.Instructions = content.String(strings.Join(texts, "\n\n"))
			continue
		}
		// A message of the developer is put back into the input in its place.
		w.turn(m.Turn(exact))
	}
	for _, t := range w.Turns {
		w.turn(t)
	}
	r.Messages = w.out
	return r
}

// turn writes one turn, its calls, and the responses after it, in the order of the model's output, which the API
// checks: reasoning is before the call that it led to.
func (w *writer) turn(t messages.Turn) {
	before := len(w.out)
	for len(t.Blocks) > 0 {
		n := messageLen(t)
		if n == 0 {
			w.item(t, t.Blocks[0])
			t.Blocks = t.Blocks[1:]
			continue
		}
		w.message(t, t.Blocks[:n])
		t.Blocks = t.Blocks[n:]
	}
	// An entry of thinking alone is common in recordings.
	if len(w.out) == before {
		w.Tally.Count(0, t.Entry, "entry without anything that could be written left out")
	}
	for _, a := range t.Answers {
		w.answer(a, t.Entry)
	}
}

// messageLen returns how many blocks at the beginning of a turn belong to one message: texts and attachments, up to the
// text that begins another message.
func messageLen(t messages.Turn) int {
	for i, block := range t.Blocks {
		switch block := block.(type) {
		case content.Text:
			// The block carries the fields of another message.
			if i > 0 && block.Extra.Has(messages.FieldItem) {
				return i
			}
		case content.Media:
		case content.Opaque:
			if !IsPart(block.Kind()) {
				return i
			}
		default:
			return i
		}
	}
	return len(t.Blocks)
}

func (w *writer) message(t messages.Turn, blocks []content.Block) {
	fields := t.Fields
	// A message of the model has its fields in its first text, a person's in the entry.
	if text, ok := blocks[0].(content.Text); ok && t.Role == messages.Assistant {
		if t.Exact {
			fields = ordered.Of(text.Extra.Get(messages.FieldItem))
		}
		blocks = slices.Clone(blocks)
		text.Extra = messages.Without(text.Extra, messages.FieldItem)
		blocks[0] = text
	}
	t.Blocks = blocks
	_, parts, _ := w.Parts(t)
	var m ordered.Builder
	m.Text("type", "message")
	m.Text("role", t.Role)
	text, isText := blocks[0].(content.Text)
	switch {
	case len(parts) == 0:
		return
	case len(blocks) == 1 && isText && (len(text.Extra.All()) == 0 || !t.Exact):
		m.Raw("content", content.String(text.Text))
	default:
		m.Raw("content", ordered.List(parts...))
	}
	if t.Exact {
		m.Rest(fields)
	}
	w.out = append(w.out, m.JSON())
}

// item writes a block that is an item of its own. Reasoning is sent back in encrypted form or by its id; other thinking
// the API does not take.
func (w *writer) item(t messages.Turn, block content.Block) {
	switch block := block.(type) {
	case *messages.Call:
		w.out = append(w.out, w.call(block, t.Entry))
	case content.Thinking:
		// The API refuses plain reasoning.
		encrypted := block.Extra.Get("encryptedContent")
		if encrypted == nil && !t.Exact {
			w.Tally.Count(0, t.Entry, "thinking left out")
			return
		}
		item := ordered.Of(block.Extra.Get(messages.FieldItem))
		// Fields of another provider are not understood by this one.
		if !t.Exact {
			item = nil
		}
		var m ordered.Builder
		m.Text("type", "reasoning")
		// The joined thoughts no longer tell where one part ended.
		if item.Raw("summary") == nil {
			var summary [][]byte
			if block.Thought != "" {
				summary = append(summary, fmt.Appendf(nil, `{"type":"summary_text","text":%s}`,
					content.String(block.Thought)))
			}
			m.Raw("summary", ordered.List(summary...))
		}
		m.Raw("encrypted_content", encrypted)
		m.Rest(item)
		w.out = append(w.out, m.JSON())
	case content.Opaque:
		if t.Exact {
			w.out = append(w.out, block.JSON)
			return
		}
		w.LeaveOut(t, block)
	}
}

// call returns a call as an item. Calls of the API's own tools have an action in place of arguments. Its id is unique in
// the conversation.
func (w *writer) call(c *messages.Call, entry int) []byte {
	item := c.Item(messages.FieldItem)
	var m ordered.Builder
	// Without a type it is a call of a function, like every call that came in another form.
	t := cmp.Or(item.Text("type"), "function_call")
	m.Text("type", t)
	m.Raw("call_id", content.String(c.OutID))
	switch t {
	case "function_call":
		m.Raw("name", content.String(w.ToolName(c, entry)))
		m.Raw("arguments", content.String(messages.ArgumentText(c.Parameters)))
	// Text that a tool takes by a grammar, such as a patch. The reader wrapped it as {"input": …}.
	case "custom_tool_call":
		m.Raw("name", content.String(w.ToolName(c, entry)))
		m.Raw("input", rawjson.Field(c.Parameters, "input"))
	default:
		m.Raw("action", c.Parameters)
	}
	m.Rest(item.But("type"))
	return m.JSON()
}

// answer writes a response as an item. It follows its call, wherever it was recorded.
func (w *writer) answer(a *messages.Answer, entry int) {
	var item ordered.Object
	if a.Exact {
		item = ordered.Of(a.Extra.Get(messages.FieldItem))
	}
	// An output must be of its call's kind, or the API does not match the two.
	t := cmp.Or(item.Text("type"), "function_call_output")
	if called := a.Call.Item(messages.FieldItem).Text("type"); called != "" && item.Text("type") == "" {
		t = called + "_output" // a response that the host made up
	}
	var m ordered.Builder
	m.Text("type", t)
	m.Raw("call_id", content.String(a.Call.OutID))
	// A search of tools has its result elsewhere.
	if !a.Exact || a.Result != nil || a.Failed() || len(a.Media) > 0 {
		body, _ := w.Result(a, entry)
		m.Raw("output", body)
	}
	m.Rest(item.But("type"))
	w.out = append(w.out, m.JSON())
}

// attach returns an image or a PDF as a part of a person's message.
func attach(_ *messages.Plan, t messages.Turn, m content.Media) (part []byte, ok bool) {
	link, image, fields := messages.Link(t, m)
	file := messages.File(m, link)
	switch {
	case t.Role != messages.User:
		return nil, false
	case image:
		file = append(ordered.Object{{Name: "type", Value: content.String("input_image")},
			{Name: "image_url", Value: content.String(link)}}, fields...)
	case file != nil:
		file = append(ordered.Object{{Name: "type", Value: content.String("input_file")}}, file...)
	default:
		return nil, false
	}
	return file.JSON(), true
}
