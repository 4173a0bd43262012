package transcript

import (
	"cmp"
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
		m.text("type", cmp.Or(item.text("type"), "function"))
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
		body, whole := o.result(a, t.entry)
		m.raw("content", body)
		if a.exact {
			m.rest(asObject(a.Extra.Get(fieldMessage)))
		}
		o.out = append(o.out, m.json())
		// Without a result, the text that is written is the error's.
		if a.Failed() && !rawjson.IsNull(a.Result) && kind(body) == '"' {
			o.tally.count(0, t.entry, "result's error flag left out; its text is kept")
		}
		for _, f := range a.Extra.All() {
			if !a.exact {
				o.tally.count(0, t.entry, fmt.Sprintf("field %q of a result left out", clip([]byte(f.Name))))
			}
		}
		for _, m := range a.media {
			if !whole {
				media = append(media, m)
			}
		}
	}
	if len(media) > 0 {
		o.tally.count(0, t.entry, "result's media written as a user message after the results")
		o.turn(turn{entry: t.entry, role: roleUser, blocks: media})
	}
}
