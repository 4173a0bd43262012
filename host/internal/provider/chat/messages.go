package chat

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"github.com/thresh-dev/thresh/host/internal/provider/messages"
	"github.com/thresh-dev/thresh/host/internal/provider/ordered"
	"github.com/thresh-dev/thresh/sdk/content"
)

// Name is the name of the form of messages in entries, files and answers. It never changes.
const Name = "openai-chat"

// Messages reads and writes the API's messages.
var Messages = messages.API{
	Form: &Form, Name: Name, Schema: "function", Check: check, Reader: reader, Media: Media, Write: write, Attach: attach,
}

// wholeMessage is the kind of a block that carries a message which cannot be taken apart.
const wholeMessage = "provider_message"

// check judges a message. There is a role for tools, and calls are outside of the content.
func check(o ordered.Object) (part int, err error) {
	role := o.Text("role")
	switch err := messages.CheckRole(&Form, o); {
	case err != nil:
		return -1, err
	case role == Form.ResultRole && o.Text("tool_call_id") == "":
		return -1, errors.New("a message of the role tool needs tool_call_id")
	case role == messages.Assistant && o.Has("function_call"):
		return -1, errors.New(`"function_call" is the old form of tool_calls, which is not read`)
	case role == messages.Assistant && o.Has("tool_calls"):
		if err := checkCalls(o.Raw("tool_calls")); err != nil {
			return -1, err
		}
	}
	// Next to calls, a refusal or sound, the API has null.
	if role == messages.Assistant && !o.Has("content") {
		return -1, nil
	}
	return messages.CheckParts(&Form, role, o.Raw("content"), func(kind string) error {
		if slices.Contains([]string{"tool_use", "tool_result", "thinking"}, kind) {
			return fmt.Errorf("%q is of the form anthropic", kind)
		}
		return nil
	})
}

// checkCalls judges the tool calls of a message. Tools that take text have "custom" in place of "function".
func checkCalls(raw []byte) error {
	calls, ok := ordered.Elements(raw)
	if !ok {
		return fmt.Errorf("tool_calls is %s, not a list", ordered.Clip(raw))
	}
	for i, raw := range calls {
		o := ordered.Of(raw)
		// Without an id the response could not be paired, and the call would be open for ever.
		if o.Text("id") == "" || called(o).Text("name") == "" {
			return fmt.Errorf("call %d of tool_calls needs id and a function with a name", i)
		}
	}
	return nil
}

func reader(b *messages.Builder) func(at int, o ordered.Object) {
	return func(at int, o ordered.Object) {
		role := o.Text("role")
		if role == Form.ResultRole {
			// Its further fields, the name of the tool among them, belong to the message: an entry may come to hold
			// other responses.
			r := content.ToolResponse{CallID: o.Text("tool_call_id"), ToolName: o.Text("name"),
				Extra: messages.Carried(messages.FieldMessage, o.But("role", "content", "tool_call_id"))}
			b.Add(at, content.Content{Speaker: content.Tool, Blocks: b.Result(r, o.Raw("content")), Metadata: b.Meta(role)})
			return
		}
		c := content.Content{Speaker: content.Human, Blocks: b.Content(o.Raw("content")).Blocks, Metadata: b.Meta(role)}
		// The name of a person is a separate field, as in recordings: writers of other forms look for it there.
		if name := o.Copy("name"); name != nil {
			c.Extra = content.FieldsOf(content.Field{Name: "name", Value: name})
		}
		c.Extra = c.Extra.With(messages.Carried(messages.FieldMessage,
			o.But("role", "content", "name", "tool_calls", "reasoning_content")).All()...)
		if role != messages.Assistant {
			if !b.Instructions(role, c.Blocks, c.Extra) {
				b.Add(at, c)
			}
			return
		}
		c.Speaker = content.AI
		if thought := o.Text("reasoning_content"); thought != "" {
			c.Blocks = append(messages.One(content.Thinking{Thought: thought}), c.Blocks...)
		}
		calls, _ := ordered.Elements(o.Raw("tool_calls"))
		for _, raw := range calls {
			call := ordered.Of(raw)
			block, _ := Call(raw)
			if made, ok := block.(content.ToolCall); ok {
				made.Extra, made.Parameters = exactCall(call), messages.ExactArguments(arguments(called(call)))
				block = made
			}
			c.Blocks = append(c.Blocks, block)
		}
		if len(c.Blocks) == 0 { // a refusal, or an answer in sound
			whole := ordered.Object{{Name: "type", Value: content.String(wholeMessage)},
				{Name: messages.FieldMessage, Value: o.JSON()}}
			c.Blocks, c.Extra = messages.One(content.Opaque{JSON: whole.JSON()}), content.Fields{}
		}
		b.Add(at, c)
	}
}

// Media reads an image or a file; ok is false if there is no data. Data is a data: URL or a link.
func Media(o ordered.Object) (content.Media, bool) {
	kind := o.Text("type")
	in := o.Object(kind)
	data := map[string]string{"image_url": "url", "file": "file_data"}[kind]
	if data == "" {
		return content.Media{}, false
	}
	m := messages.Attachment(in.Text(data))
	m.Extra = in.Extra(data)
	if kind == "file" {
		m.Filename, m.Extra = in.Text("filename"), messages.Without(m.Extra, "filename")
	}
	return m, m.Data != ""
}

// Call reads one of an answer's calls. One without a function is carried unchanged. ok is false if its arguments are not
// JSON; they are kept as text.
func Call(raw []byte) (block content.Block, ok bool) {
	o := ordered.Of(raw)
	function := called(o)
	if function == nil {
		return content.Opaque{JSON: bytes.Clone(raw)}, true
	}
	parameters, ok := messages.Arguments(arguments(function))
	return content.ToolCall{ID: o.Text("id"), Name: function.Text("name"), Parameters: parameters}, ok
}

// called returns what a call is of; nil if nothing. A tool that takes text is under "custom", and its arguments are
// "input".
func called(call ordered.Object) ordered.Object {
	if function := call.Object("function"); function != nil {
		return function
	}
	return call.Object("custom")
}

func arguments(function ordered.Object) []byte {
	if input := function.Raw("input"); input != nil {
		return input
	}
	return function.Raw("arguments")
}

// exactCall returns the further fields of a call: those next to the function, such as a signature of the thought behind
// it, and those in it. The type is kept only if it is not the usual one.
func exactCall(o ordered.Object) content.Fields {
	item := o.But("id", "function", "custom")
	if o.Text("type") == "function" {
		item = item.But("type")
	}
	return messages.Carried(messages.FieldItem, item).
		With(messages.Carried("function", called(o).But("name", "arguments", "input")).All()...)
}
