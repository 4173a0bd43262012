package responses

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/host/internal/provider"
	"github.com/thresh-dev/thresh/host/internal/provider/messages"
	"github.com/thresh-dev/thresh/host/internal/provider/ordered"
	"github.com/thresh-dev/thresh/sdk/content"
)

// Name is the name of the form of messages in entries, files and answers. It never changes.
const Name = "openai-responses"

// Messages reads and writes the API's items.
var Messages = messages.API{
	Form: &Form, Name: Name, Schema: "parameters", Check: check, Reader: NewReader, Media: Media, Write: write, Attach: attach,
}

// IsPart reports whether parts of messages can be of a kind. Anything else is an item.
func IsPart(kind string) bool {
	return strings.HasPrefix(kind, "input_") || strings.HasPrefix(kind, "output_") || kind == "refusal"
}

// Item returns the row of a type of items; nil if there is none.
func Item(kind string) *provider.Kind {
	if i := slices.IndexFunc(items, func(k provider.Kind) bool { return k.Type == kind }); i >= 0 {
		return &items[i]
	}
	return nil
}

// check judges an item. Items of unknown types pass.
func check(o ordered.Object) (part int, err error) {
	t := o.Text("type")
	k := Item(t)
	switch {
	case t == "message" || t == "" && o.Has("role"):
		if err := messages.CheckRole(&Form, o); err != nil {
			return -1, err
		}
		return messages.CheckParts(&Form, o.Text("role"), o.Raw("content"), func(kind string) error {
			if !IsPart(kind) {
				return fmt.Errorf("%q is no part of the form openai-responses, which has input_text, output_text and "+
					"so on",
					ordered.Clip([]byte(kind)))
			}
			return nil
		})
	case t == "":
		return -1, errors.New(`"type" is missing`)
	case k == nil:
	// Calls without a name may be run by the provider, and then have no call_id.
	case k.Is == provider.Call && k.Name != "" && (o.Text(k.ID) == "" || o.Text(k.Name) == ""):
		return -1, fmt.Errorf("a %s needs %s and %s", t, k.ID, k.Name)
	case k.Is == provider.Result && !k.Keep && o.Text(k.ID) == "":
		return -1, fmt.Errorf("a %s needs %s", t, k.ID)
	}
	return -1, nil
}

// reader reads items. They are smaller than messages: consecutive ones of the model are one entry, and so are
// consecutive outputs.
type reader struct {
	messages.Speech
	meta json.RawMessage // marks an entry as added in this form; what its blocks carry is then written back
}

// NewReader returns a reader of items that adds to b.
func NewReader(b *messages.Builder) func(at int, o ordered.Object) {
	r := &reader{messages.NewSpeech(b), b.Meta("")}
	return r.item
}

func (r *reader) item(at int, o ordered.Object) {
	t := o.Text("type")
	k := Item(t)
	switch id := o.Text("call_id"); {
	case t == "message" || t == "":
		r.message(at, o)
	case t == "reasoning":
		block := Reasoning(o)
		block.Extra = block.Extra.With(content.Field{Name: messages.FieldItem,
			Value: o.But("type", "encrypted_content").OrEmpty()})
		r.Say(at, r.meta, block)
	case k != nil && k.Quoted: // a function
		r.Say(at, r.meta, content.ToolCall{ID: id, Name: o.Text(k.Name), Parameters: messages.ExactArguments(o.Raw(k.Value)),
			Extra: messages.Carried(messages.FieldItem, o.But("type", k.ID, k.Name, k.Value))})
	case k != nil && k.Is == provider.Call && k.Name != "":
		r.Say(at, r.meta, content.ToolCall{ID: id, Name: o.Text(k.Name), Parameters: Arguments(o),
			Extra: messages.Carried(messages.FieldItem, o.But(k.ID, k.Name, k.Value))})
	// Built-in tools that the agent runs, such as a shell: the type is the tool's name in the taxonomy.
	case strings.HasSuffix(t, "_call") && id != "":
		r.Say(at, r.meta, content.ToolCall{ID: id, Name: t, Parameters: o.Copy("action"),
			Extra: messages.Carried(messages.FieldItem, o.But("call_id", "action"))})
	case strings.HasSuffix(t, "_output") && id != "":
		item := o.But("call_id", "output")
		if t == "function_call_output" {
			item = item.But("type")
		}
		response := content.ToolResponse{CallID: id, Extra: messages.Carried(messages.FieldItem, item)}
		r.Answer(at, r.meta, r.Result(response, o.Raw("output"))...)
	default: // of the model, or run by the provider
		r.Say(at, r.meta, content.Opaque{JSON: o.JSON()})
	}
}

// message reads a message. One of the model joins the entry at hand; its first text marks where it begins.
func (r *reader) message(at int, o ordered.Object) {
	role, item := o.Text("role"), o.But("type", "role", "content")
	blocks := r.Content(o.Raw("content")).Blocks
	if role == messages.Assistant {
		// The mark needs a text. Without one, the message is carried as an item of its own.
		if !messages.OnlyText(blocks) { // a refusal, for example
			r.Say(at, r.meta, content.Opaque{JSON: append(ordered.Object{{Name: "type", Value: content.String("message")}},
				o.But("type")...).JSON()})
			return
		}
		// There is at least one text: [messages.OnlyText] and the check saw to that.
		first := blocks[0].(content.Text)
		first.Extra = content.FieldsOf(content.Field{Name: messages.FieldItem, Value: item.OrEmpty()}).
			With(first.Extra.All()...)
		blocks[0] = first
		r.Say(at, r.meta, blocks...)
		return
	}
	extra := messages.Carried(messages.FieldMessage, item)
	if r.Instructions(role, blocks, extra) {
		return
	}
	// A person or an instruction ends both entries at hand. Messages of people are never joined: an entry has room for
	// the fields of one message.
	r.Pause()
	r.Add(at, content.Content{Speaker: content.Human, Blocks: blocks, Metadata: r.Meta(role), Extra: extra})
}

// Media reads an image; ok is false if there is no data.
func Media(o ordered.Object) (content.Media, bool) {
	if o.Text("type") != "input_image" {
		return content.Media{}, false
	}
	m := messages.Attachment(o.Text("image_url"))
	m.Extra = o.Extra("type", "image_url")
	return m, m.Data != ""
}

// Reasoning reads a reasoning item. The summary is often empty and the thoughts are encrypted; the ciphertext is kept,
// because it counts tokens and the provider wants it back.
func Reasoning(item ordered.Object) content.Thinking {
	var texts []string
	list, _ := ordered.Elements(item.Raw("summary"))
	for _, raw := range list {
		if text := ordered.Of(raw).Text("text"); text != "" {
			texts = append(texts, text)
		}
	}
	block := content.Thinking{Thought: strings.Join(texts, "\n")}
	if encrypted := item.Copy("encrypted_content"); encrypted != nil {
		block.Extra = content.FieldsOf(content.Field{Name: "encryptedContent", Value: encrypted})
	}
	return block
}

// Arguments reads a call's arguments: JSON in a string, or the raw text of a custom tool such as apply_patch, which is
// wrapped as {"input": …}: parameters are an object for every tool, as strategies look for paths in them.
func Arguments(item ordered.Object) json.RawMessage {
	if input := item.Raw("input"); input != nil {
		return append(append([]byte(`{"input":`), input...), '}')
	}
	arguments, _ := messages.Arguments(item.Raw("arguments"))
	return arguments
}
