package transcript

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/sdk/content"
	"github.com/thresh-dev/thresh/sdk/content/rawjson"
)

// responsesWriter writes items of the OpenAI Responses API. A text, a call and its output are one item each, matched by
// the call id alone: merging and alternating as for the other APIs is not needed. The form is documented by OpenAI.
type responsesWriter struct {
	*planner
	out [][]byte
}

// renderResponses returns the items of the input, and the instructions: the part of the system prompt that was no
// message.
func renderResponses(t *Transcript, exact bool) rendered {
	w := responsesWriter{planner: plan(t, OpenAIResponses)}
	// The API matches calls by id within a conversation; ids are kept wherever they are unique.
	w.uniqueIDs(false)
	r := rendered{form: OpenAIResponses, tally: &w.tally}
	for i, m := range systemMessages(t.System) {
		// A block without a role was no message: it was given next to them. The API takes one text there.
		if i == 0 && !m.blocks[0].Extra.Has(fieldRole) {
			var texts []string
			for _, text := range m.blocks {
				texts = append(texts, text.Text)
			}
			r.instructions = content.String(strings.Join(texts, "\n\n"))
			continue
		}
		// A message of the developer is put back into the input in its place.
		w.turn(m.turn(exact))
	}
	for _, t := range w.turns {
		w.turn(t)
	}
	r.messages = w.out
	return r
}

// turn writes one turn, its calls, and the responses after it, in the order of the model's output, which the API
// checks: reasoning is before the call that it led to.
func (w *responsesWriter) turn(t turn) {
	before := len(w.out)
	for len(t.blocks) > 0 {
		n := w.messageLen(t)
		if n == 0 {
			w.item(t, t.blocks[0])
			t.blocks = t.blocks[1:]
			continue
		}
		w.message(t, t.blocks[:n])
		t.blocks = t.blocks[n:]
	}
	// An entry of thinking alone is common in recordings.
	if len(w.out) == before {
		w.tally.count(0, t.entry, "entry without anything that could be written left out")
	}
	for _, a := range t.answers {
		w.answer(a, t.entry)
	}
}

// messageLen returns how many blocks at the beginning of a turn belong to one message: texts and attachments, up to the
// text that begins another message.
func (w *responsesWriter) messageLen(t turn) int {
	for i, block := range t.blocks {
		switch block := block.(type) {
		case content.Text:
			// The block carries the fields of another message.
			if i > 0 && block.Extra.Has(fieldItem) {
				return i
			}
		case content.Media:
		case content.Opaque:
			if !isResponsesPart(block.Kind()) {
				return i
			}
		default:
			return i
		}
	}
	return len(t.blocks)
}

func (w *responsesWriter) message(t turn, blocks []content.Block) {
	fields := t.fields
	// A message of the model has its fields in its first text, a person's in the entry.
	if text, ok := blocks[0].(content.Text); ok && t.role == roleAssistant {
		if t.exact {
			fields = asObject(text.Extra.Get(fieldItem))
		}
		blocks = slices.Clone(blocks)
		text.Extra = without(text.Extra, fieldItem)
		blocks[0] = text
	}
	t.blocks = blocks
	_, parts, _ := w.parts(t)
	var m metadata
	m.text("type", "message")
	m.text("role", t.role)
	text, isText := blocks[0].(content.Text)
	switch {
	case len(parts) == 0:
		return
	case len(blocks) == 1 && isText && (len(text.Extra.All()) == 0 || !t.exact):
		m.raw("content", content.String(text.Text))
	default:
		m.raw("content", list(parts))
	}
	if t.exact {
		m.rest(fields)
	}
	w.out = append(w.out, m.json())
}

// item writes a block that is an item of its own. Reasoning is sent back in encrypted form or by its id; other thinking
// the API does not take.
func (w *responsesWriter) item(t turn, block content.Block) {
	switch block := block.(type) {
	case *call:
		w.out = append(w.out, w.call(block, t.entry))
	case content.Thinking:
		// The API refuses plain reasoning.
		encrypted := block.Extra.Get("encryptedContent")
		if encrypted == nil && !t.exact {
			w.tally.count(0, t.entry, "thinking left out")
			return
		}
		item := asObject(block.Extra.Get(fieldItem))
		// Fields of another provider are not understood by this one.
		if !t.exact {
			item = nil
		}
		var m metadata
		m.text("type", "reasoning")
		// The joined thoughts no longer tell where one part ended.
		if item.raw("summary") == nil {
			var summary [][]byte
			if block.Thought != "" {
				summary = append(summary, fmt.Appendf(nil, `{"type":"summary_text","text":%s}`,
					content.String(block.Thought)))
			}
			m.raw("summary", list(summary))
		}
		m.raw("encrypted_content", encrypted)
		m.rest(item)
		w.out = append(w.out, m.json())
	case content.Opaque:
		if t.exact {
			w.out = append(w.out, block.JSON)
			return
		}
		w.tally.count(0, t.entry, fmt.Sprintf("block of the kind %q left out", clip([]byte(block.Kind()))))
	}
}

// call returns a call as an item. Calls of the API's own tools have an action in place of arguments. outID is unique in
// the conversation.
func (w *responsesWriter) call(c *call, entry int) []byte {
	var item object
	if c.exact {
		item = asObject(c.Extra.Get(fieldItem))
	}
	var m metadata
	// Without a type it is a call of a function, like every call that came in another form.
	t := cmp.Or(item.text("type"), "function_call")
	m.text("type", t)
	m.raw("call_id", content.String(c.outID))
	switch {
	case t == "function_call":
		m.raw("name", content.String(w.toolName(c, entry)))
		m.raw("arguments", content.String(argumentText(c.Parameters)))
	// The reader wrapped the text as {"input": …}.
	case t == "custom_tool_call":
		m.raw("name", content.String(w.toolName(c, entry)))
		// Text that a tool takes by a grammar, such as a patch.
		m.raw("input", rawjson.Field(c.Parameters, "input"))
	default:
		m.raw("action", c.Parameters)
	}
	m.rest(item.but("type"))
	return m.json()
}

// answer writes a response as an item. It follows its call, wherever it was recorded.
func (w *responsesWriter) answer(a *answer, entry int) {
	var item object
	if a.exact {
		item = asObject(a.Extra.Get(fieldItem))
	}
	t := item.text("type")
	// An output must be of its call's kind, or the API does not match the two.
	if t == "" {
		t = "function_call_output"
		if called := asObject(a.call.Extra.Get(fieldItem)).text("type"); a.call.exact && called != "" {
			t = called + "_output" // a response that the host made up
		}
	}
	var m metadata
	m.text("type", t)
	m.raw("call_id", content.String(a.call.outID))
	body, _ := w.result(a, entry)
	m.raw("output", body)
	m.rest(item.but("type"))
	w.out = append(w.out, m.json())
}
