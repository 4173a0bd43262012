package messages

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/thresh-dev/thresh/host/internal/provider/ordered"
	"github.com/thresh-dev/thresh/sdk/content"
	"github.com/thresh-dev/thresh/sdk/content/rawjson"
)

// Parsed are messages of a provider as entries. It does not refer to the given messages.
type Parsed struct {
	// System is the system prompt in blocks of text: what it was before, and the leading messages of the system or the
	// developer. Such a message has its role, unless it is "system", in a field "role" of its first block.
	System  []content.Block
	Entries []content.Content
	// From has the position of the message that each entry was made from.
	From []int
}

// Before is what Parse needs to know of the conversation that it adds to: Parse keeps no state, so an agent's messages
// can be added in any number of calls. The zero value is an empty conversation.
type Before struct {
	System []content.Block
	// Begun says that the conversation has messages. Instructions are then pinned entries in it.
	Begun bool
	// Called returns the name of the tool that the latest call with an id called; "" if there is none. Nil is none.
	Called func(id string) string
}

// Error says which of an agent's many messages is not one of the provider's form.
type Error struct {
	// Message and Part count from 0; Part is -1 if the error is about the whole message.
	Message, Part int
	Err           error
}

func (e *Error) Error() string {
	if e.Part < 0 {
		return fmt.Sprintf("message %d: %v", e.Message, e.Err)
	}
	return fmt.Sprintf("message %d, part %d: %v", e.Message, e.Part, e.Err)
}

func (e *Error) Unwrap() error { return e.Err }

// Path is where the part is in the message; "" if the error is about the whole message.
func (e *Error) Path() string {
	if e.Part < 0 {
		return ""
	}
	return fmt.Sprintf("content[%d]", e.Part)
}

// Parse reads messages that an agent holds for a provider. Unlike the readers of recordings it refuses what the form
// does not have, with an [*Error], and carries every part and field that it does not know: [Render] gives back equal
// messages as long as no strategy changed their entries.
//
// Equal means equal to the provider: a string is the same as one text part, a null field the same as none, and
// consecutive messages of Anthropic with the same role are one. Blank text, which Anthropic refuses, is left out there.
func Parse(a *API, before Before, raw []json.RawMessage) (Parsed, error) {
	// Positions of messages take the place of lines.
	b := &Builder{API: a, System: slices.Clone(before.System), begun: before.Begun, called: before.Called}
	read := a.Reader(b)
	for i, message := range raw {
		o := ordered.Of(message)
		if ordered.Kind(message) != '{' {
			return Parsed{}, &Error{i, -1, fmt.Errorf("it is %s, not an object", ordered.Clip(message))}
		}
		// Before it is read: a refused message leaves nothing behind.
		if part, err := a.Check(o); err != nil {
			if !json.Valid(message) {
				part, err = -1, errors.New("it is not valid JSON")
			}
			return Parsed{}, &Error{i, part, err}
		}
		read(i, o)
	}
	return Parsed{b.System, b.Entries, b.Lines}, nil
}

// ParseSystem reads a system prompt as a provider takes it next to the messages: a string, or a list of text parts. An
// error is about the whole value or names the part; it is no [*Error].
func ParseSystem(raw json.RawMessage) ([]content.Block, error) {
	if text, ok := rawjson.Text(raw); ok {
		return One(content.Text{Text: text}), nil
	}
	list, ok := ordered.Elements(raw)
	if !ok {
		return nil, fmt.Errorf("system is %s, neither text nor a list of text parts", ordered.Clip(raw))
	}
	var out []content.Block
	for i, part := range list {
		o := ordered.Of(part)
		text, ok := rawjson.Text(o.Raw("text"))
		if kind := o.Text("type"); !ok || kind != "text" && kind != "input_text" {
			return nil, &content.PathError{Path: fmt.Sprintf("[%d]", i),
				Err: fmt.Errorf("system, part %d: %s is no text part", i, ordered.Clip(part))}
		}
		out = append(out, content.Text{Text: text, Extra: o.Extra("type", "text")})
	}
	return out, nil
}

// Rendered is a conversation in a provider's form.
type Rendered struct {
	// Messages are its messages, or the items of its input.
	Messages []json.RawMessage
	// System is Anthropic's system prompt, a list of text parts; Instructions is the Responses API's, a text. They are
	// nil if there is none, or if it is among the messages.
	System, Instructions json.RawMessage
	// Tally has what the form cannot hold, and what was done about it.
	Tally *Tally
}

// Render arranges a conversation for a provider, ready to be sent. What was added in the same form ([Parse]) comes back
// unchanged. With exact, so does a system prompt that was given in this form.
func Render(a *API, system []content.Block, entries []content.Content, exact bool) Rendered {
	p := plan(a, entries)
	r := a.Write(p, system, exact)
	r.Tally = &p.Tally
	return r
}

// SystemMessage is one of the messages that a system prompt was made of.
type SystemMessage struct {
	Role   string
	Blocks []content.Text
}

// SystemMessages returns the messages that a system prompt was made of. A block with a role begins one.
func SystemMessages(system []content.Block) []SystemMessage {
	var out []SystemMessage
	for _, block := range system {
		text, ok := block.(content.Text)
		if !ok {
			continue // only text gets here
		}
		role := ordered.Text(text.Extra.Get(FieldRole))
		if role != "" || len(out) == 0 {
			out = append(out, SystemMessage{Role: cmp.Or(role, System)})
		}
		m := &out[len(out)-1]
		m.Blocks = append(m.Blocks, text)
	}
	return out
}

// Turn returns the message as a turn. Its fields are in its first block.
func (m SystemMessage) Turn(exact bool) Turn {
	// -1: notes about the system prompt name no entry.
	t := Turn{Entry: -1, Role: m.Role, Exact: exact}
	for i, text := range m.Blocks {
		if i == 0 {
			t.Name = text.Extra.Get("name")
			if exact {
				t.Fields = ordered.Of(text.Extra.Get(FieldMessage))
			}
			// They are the message's; in a part they would be unknown fields.
			text.Extra = Without(text.Extra, FieldRole, "name", FieldMessage)
		}
		t.Blocks = append(t.Blocks, text)
	}
	return t
}
