package transcript

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/sdk/content"
	"github.com/thresh-dev/thresh/sdk/content/rawjson"
)

// How the readers of messages differ for messages that an agent adds: nothing that they read may be lost.

// exactBlock returns the blocks that a part was read as, if the part can be written back from them; otherwise the part
// is carried unchanged. For recordings it returns blocks.
func (b *builder) exactBlock(raw []byte, blocks []content.Block) []content.Block {
	if b.form == "" {
		return blocks
	}
	switch block := blocks[0].(type) {
	case content.ToolCall:
		return blocks
	case content.ToolResponse:
		return b.exactToolResult(block, asObject(raw))
	case content.Text:
		if strings.TrimSpace(block.Text) == "" {
			return blocks // providers refuse it anyway
		}
	}
	// Writing the block tells whether it holds all of the part, whatever fields the provider may add one day. The role
	// decides what is written, and is not known here: either will do.
	t := turn{exact: true, blocks: blocks}
	for _, role := range []string{roleUser, roleAssistant} {
		t.role = role
		_, written, _ := (&planner{form: b.form}).parts(t)
		if len(written) == 1 && same(written[0], raw) {
			return blocks
		}
	}
	return one(content.Opaque{JSON: bytes.Clone(raw)})
}

func (b *builder) exactToolResult(r content.ToolResponse, o object) []content.Block {
	r.Extra = o.without("type", "tool_use_id", "content")
	// True is in Error; an explicit false must be written back.
	if o.isTrue("is_error") {
		r.Extra = without(r.Extra, "is_error")
	}
	return b.exactResult(r, o.raw("content"))
}

// exactToolMessage completes the response that a chat message of a tool was read as, and returns it with the
// attachments that follow it. Its further fields, the name of the tool among them, belong to the message: an entry may
// come to hold other responses.
func (b *builder) exactToolMessage(r content.ToolResponse, o object) []content.Block {
	if others := o.but("role", "content", "tool_call_id").json(); others != nil {
		r.Extra = r.Extra.With(content.Field{Name: fieldMessage, Value: others})
	}
	return b.exactResult(r, o.raw("content"))
}

// exactMedia returns the attachment in a part of a result; ok only if it would be written back the same.
func (b *builder) exactMedia(part []byte) (m content.Media, ok bool) {
	if b.form == AnthropicMessages {
		m, ok = anthropicMedia(asObject(part))
	} else {
		m, ok = openAIMedia(asObject(part))
	}
	if ok {
		_, ok = b.exactBlock(part, one(m))[0].(content.Media)
	}
	return m, ok
}

// exactCall returns the further fields of a chat message's tool call: those next to the function, such as a signature
// of the thought behind it, and those in it. The type is kept only if it is not the usual one.
func exactCall(o, function object) content.Fields {
	var out []content.Field
	item := o.but("id", "function", "custom")
	if o.text("type") == "function" {
		item = item.but("type")
	}
	if raw := item.json(); raw != nil {
		out = append(out, content.Field{Name: fieldItem, Value: raw})
	}
	if raw := function.but("name", "arguments", "input").json(); raw != nil {
		out = append(out, content.Field{Name: "function", Value: raw})
	}
	return content.FieldsOf(out...)
}

// exactArguments returns the raw arguments of a call if its parameters would be written differently: some models write
// nothing for no arguments, or spaces around them.
func exactArguments(parameters json.RawMessage, raw []byte) json.RawMessage {
	if text, ok := rawjson.Text(raw); ok && argumentText(parameters) != text {
		return bytes.Clone(raw)
	}
	return parameters
}

// exactFields returns the further fields of a message. The name of a person is a separate field, as in recordings:
// writers of other forms look for it there.
func (m *messages) exactFields(o object) content.Fields {
	known := []string{"role", "content"}
	var out []content.Field
	if m.b.form == OpenAIChat {
		known = append(known, "name", "tool_calls", "reasoning_content")
		if name := o.copyOf("name"); name != nil {
			out = append(out, content.Field{Name: "name", Value: name})
		}
	}
	if raw := slices.Clone(o).but(known...).json(); raw != nil {
		out = append(out, content.Field{Name: fieldMessage, Value: raw})
	}
	return content.FieldsOf(out...)
}
