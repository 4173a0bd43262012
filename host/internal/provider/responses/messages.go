package responses

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/host/internal/provider"
	"github.com/thresh-dev/thresh/host/internal/provider/messages"
	"github.com/thresh-dev/thresh/host/internal/provider/ordered"
	"github.com/thresh-dev/thresh/sdk/content"
	"github.com/thresh-dev/thresh/sdk/content/rawjson"
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

// item returns the row of a type of items; nil if there is none.
func item(kind string) *provider.Kind {
	if i := slices.IndexFunc(items, func(k provider.Kind) bool { return k.Type == kind }); i >= 0 {
		return &items[i]
	}
	return nil
}

// check judges an item. Items of unknown types pass.
func check(o ordered.Object) (part int, err error) {
	t := o.Text("type")
	k := item(t)
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
	k := item(t)
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
	w.UniqueIDs(false)
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
	body, _ := w.Result(a, entry)
	m.Raw("output", body)
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
