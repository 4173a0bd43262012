package transcript

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/thresh-dev/thresh/sdk/content"
	"github.com/thresh-dev/thresh/sdk/content/rawjson"
)

// Parsed are messages of a provider as entries. It does not refer to the given messages.
type Parsed struct {
	// System is the system prompt: what it was before, and the leading messages of the system or the developer. See
	// [Transcript.System].
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

// MessageError says which of an agent's many messages is not one of the provider's form.
type MessageError struct {
	// Message and Part count from 0; Part is -1 if the error is about the whole message.
	Message, Part int
	Err           error
}

func (e *MessageError) Error() string {
	if e.Part < 0 {
		return fmt.Sprintf("message %d: %v", e.Message, e.Err)
	}
	return fmt.Sprintf("message %d, part %d: %v", e.Message, e.Part, e.Err)
}

func (e *MessageError) Unwrap() error { return e.Err }

// Parse reads messages that an agent holds for a provider. Unlike the readers of recordings it refuses what the form
// does not have, with a [*MessageError], and carries every part and field that it does not know: [Render] gives back
// equal messages as long as no strategy changed their entries. The form is [AnthropicMessages], [OpenAIChat] or
// [OpenAIResponses].
//
// Equal means equal to the provider: a string is the same as one text part, a null field the same as none, and
// consecutive messages of Anthropic with the same role are one. Blank text, which Anthropic refuses, is left out there.
func Parse(f Format, before Before, raw []json.RawMessage) (Parsed, error) {
	// Positions of messages take the place of lines.
	b := newBuilder()
	b.form, b.begun, b.called = f, before.Begun, before.Called
	b.t.System = slices.Clone(before.System)
	read, err := b.formReader()
	if err != nil {
		return Parsed{}, err
	}
	for i, message := range raw {
		o := asObject(message)
		if kind(message) != '{' {
			return Parsed{}, &MessageError{i, -1, fmt.Errorf("it is %s, not an object", clip(message))}
		}
		// Before it is read: a refused message leaves nothing behind.
		if part, err := checkMessage(f, o); err != nil {
			if !json.Valid(message) {
				part, err = -1, errors.New("it is not valid JSON")
			}
			return Parsed{}, &MessageError{i, part, err}
		}
		read(i, o)
	}
	return Parsed{b.t.System, b.t.Entries, b.t.Lines}, nil
}

// formReader returns the reader of one message of the builder's form. It takes the message's position in place of a
// line.
func (b *builder) formReader() (func(i int, o object), error) {
	switch b.form {
	case AnthropicMessages, OpenAIChat:
		m := messages{b: b}
		return m.message, nil
	case OpenAIResponses:
		r := newResponses(b)
		return r.item, nil
	default:
		return nil, fmt.Errorf("%w: %q is no form of messages; want anthropic, openai-chat or openai-responses",
			ErrUnsupportedFormat, b.form)
	}
}

// ParseSystem reads a system prompt as a provider takes it next to the messages: a string, or a list of text parts. An
// error is about the whole value or names the part; it is no [*MessageError].
func ParseSystem(raw json.RawMessage) ([]content.Block, error) {
	if text, ok := rawjson.Text(raw); ok {
		return one(content.Text{Text: text}), nil
	}
	list, ok := elements(raw)
	if !ok {
		return nil, fmt.Errorf("system is %s, neither text nor a list of text parts", clip(raw))
	}
	var out []content.Block
	for i, part := range list {
		o := asObject(part)
		text, ok := rawjson.Text(o.raw("text"))
		if kind := o.text("type"); !ok || kind != "text" && kind != "input_text" {
			return nil, fmt.Errorf("system, part %d: %s is no text part", i, clip(part))
		}
		out = append(out, content.Text{Text: text, Extra: o.without("type", "text")})
	}
	return out, nil
}

type ProviderRequest struct {
	// Messages are its messages, or the items of its input.
	Messages []json.RawMessage
	// System is Anthropic's system prompt, a list of text parts; Instructions is the Responses API's, a text. They are
	// nil if there is none, or if it is among the messages.
	System, Instructions json.RawMessage
}

// Render arranges a conversation for a provider, ready to be sent. What was added in the same form ([Parse]) comes back
// unchanged; the notes say what of the rest the form cannot hold and was left out.
func Render(f Format, system []content.Block, entries []content.Content) (ProviderRequest, []Note) {
	r := render(&Transcript{System: system, Entries: entries}, f, true)
	out := ProviderRequest{Messages: make([]json.RawMessage, len(r.messages)), System: r.system,
		Instructions: r.instructions}
	for i, m := range r.messages {
		out.Messages[i] = m
	}
	return out, r.tally.notes()
}
