package transcript

import (
	"strings"

	"github.com/thresh-dev/thresh/sdk/content"
	"github.com/thresh-dev/thresh/sdk/content/rawjson"
)

// isResponsesPart reports whether parts of messages of the Responses API can be of a kind. Anything else is an item.
func isResponsesPart(kind string) bool {
	return strings.HasPrefix(kind, "input_") || strings.HasPrefix(kind, "output_") || kind == "refusal"
}

// responses reads the items of a request of the Responses API. Items are smaller than messages: consecutive ones of the
// model are one entry, and so are consecutive outputs, as for [codex].
type responses struct{ speech }

// newResponses returns a reader that adds to b. A file is read as an agent's messages are: the form has no other
// reader.
func newResponses(b *builder) *responses {
	b.t.Format, b.form = OpenAIResponses, OpenAIResponses
	return &responses{newSpeech(b)}
}

// isResponsesItem reports whether o is an item that no other form has.
func isResponsesItem(o object) bool {
	switch o.text("type") {
	case "function_call", "function_call_output", "custom_tool_call", "custom_tool_call_output", "reasoning":
		return !o.has("role")
	case "message":
		return o.has("role") && isResponsesPart(firstObject(o.raw("content")).text("type"))
	}
	return false
}

func readResponses(list string) documentReader {
	return func(b *builder, d *document) error {
		r := newResponses(b)
		// Given next to the input and not as a message: the block has no role, which tells the writer.
		if text := d.top.text("instructions"); text != "" {
			b.t.System = one(content.Text{Text: text})
		}
		err := d.each(list, func(_, line int, raw []byte) error {
			return r.record(record{line: line, whole: raw, object: asObject(raw)})
		})
		b.t.Tools = d.top.copyOf("tools")
		b.otherFields(d.top, nameIn(list, "instructions", "tools"))
		return err
	}
}

func (r *responses) record(rec record) error {
	o := rec.object
	if o == nil {
		o = object{{name: "type", value: content.String("unknown")}, {name: "value", value: rec.whole}}
	}
	if _, err := checkItem(o); err != nil {
		return failEntry(rec.line, len(r.b.t.Entries), err.Error())
	}
	r.item(rec.line, o)
	return nil
}

func (r *responses) item(line int, o object) {
	switch t := o.text("type"); {
	case t == "message" || t == "":
		r.message(line, o)
	case t == "reasoning":
		// Codex records the items that it exchanges with this API, so the two share the form.
		block := codexReasoning(o).(content.Thinking)
		r.say(line, withItem(block, o.but("type", "encrypted_content")))
	case t == "function_call":
		parameters, _ := argumentsOf(o.raw("arguments"))
		parameters = exactArguments(parameters, o.raw("arguments"))
		r.call(line, o, o.text("name"), content.ToolCall{Parameters: parameters},
			o.but("type", "call_id", "name", "arguments"))
	// Parameters are an object for every tool, as strategies look for paths in them.
	case t == "custom_tool_call":
		r.call(line, o, o.text("name"), content.ToolCall{Parameters: codexArguments(o)},
			o.but("call_id", "name", "input"))
	// Built-in tools that the agent runs, such as a shell: the type is the tool's name in the taxonomy.
	case strings.HasSuffix(t, "_call") && o.text("call_id") != "":
		r.call(line, o, t, content.ToolCall{Parameters: o.copyOf("action")}, o.but("call_id", "action"))
	case strings.HasSuffix(t, "_output") && o.text("call_id") != "":
		r.output(line, o)
	default: // of the model, or run by the provider
		r.say(line, content.Opaque{JSON: o.json()})
	}
}

func withItem(block content.Thinking, item object) content.Block {
	block.Extra = block.Extra.With(content.Field{Name: fieldItem, Value: item.orEmpty()})
	return block
}

func (r *responses) call(line int, o object, name string, call content.ToolCall, item object) {
	call.ID, call.Name = o.text("call_id"), name
	if raw := item.json(); raw != nil {
		call.Extra = content.FieldsOf(content.Field{Name: fieldItem, Value: raw})
	}
	r.say(line, call)
}

// meta marks an entry as added in this form; [Render] then writes back what its blocks carry.
func (r *responses) meta() metadata {
	var meta metadata
	meta.text(fieldFormat, string(OpenAIResponses))
	return meta
}

func (r *responses) say(line int, blocks ...content.Block) { r.speech.say(line, r.meta(), blocks...) }

func (r *responses) output(line int, o object) {
	response := content.ToolResponse{CallID: o.text("call_id")}
	item := o.but("call_id", "output")
	if o.text("type") == "function_call_output" {
		item = item.but("type")
	}
	if raw := item.json(); raw != nil {
		response.Extra = response.Extra.With(content.Field{Name: fieldItem, Value: raw})
	}
	r.answer(line, r.meta(), r.b.exactResult(response, o.raw("output"))...)
}

// message reads a message. One of the model joins the entry at hand; its first text marks where it begins.
func (r *responses) message(line int, o object) {
	role := o.text("role")
	item := o.but("type", "role", "content").json()
	blocks := r.parts(o.raw("content"))
	if role == roleAssistant {
		// The mark needs a text. Without one, the message is carried as an item of its own.
		if !onlyText(blocks) { // a refusal, for example
			r.say(line, content.Opaque{JSON: append(object{{name: "type", value: content.String("message")}},
				o.but("type")...).json()})
			return
		}
		// There is at least one text: [onlyText] and [checkParts] saw to that.
		first := blocks[0].(content.Text)
		first.Extra = content.FieldsOf(content.Field{Name: fieldItem, Value: firstOf(item, []byte("{}"))}).With(first.Extra.All()...)
		blocks[0] = first
		r.say(line, blocks...)
		return
	}
	var extra content.Fields
	if item != nil {
		extra = content.FieldsOf(content.Field{Name: fieldMessage, Value: item})
	}
	if r.b.instructions(role, blocks, extra) {
		return
	}
	// A person or an instruction ends both entries at hand. Messages of people are never joined: an entry has room for
	// the fields of one message.
	r.pause()
	var meta metadata
	if role != roleUser {
		meta.text(fieldRole, role)
		meta.flag("pinned", true)
	}
	meta.text(fieldFormat, string(OpenAIResponses))
	r.b.add(line, content.Content{Speaker: content.Human, Blocks: blocks, Metadata: meta.json(), Extra: extra})
}

// parts reads a string or a list of parts. It never returns an empty list, because [checkParts] refuses one.
func (r *responses) parts(raw []byte) []content.Block {
	if text, ok := rawjson.Text(raw); ok {
		return one(content.Text{Text: text})
	}
	var out []content.Block
	list, _ := elements(raw)
	for _, raw := range list {
		o := asObject(raw)
		// A part that is not understood is carried unchanged.
		var block content.Block = content.Opaque{JSON: append([]byte(nil), raw...)}
		switch o.text("type") {
		case "input_text", "output_text":
			if text, ok := rawjson.Text(o.raw("text")); ok {
				block = content.Text{Text: text, Extra: o.without("type", "text")}
			}
		case "input_image":
			if m, ok := openAIMedia(o); ok {
				block = m
			}
		}
		out = append(out, r.b.exactBlock(raw, one(block))...)
	}
	return out
}
