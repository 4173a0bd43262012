package host

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/thresh-dev/thresh/host/internal/provider/anthropic"
	"github.com/thresh-dev/thresh/host/internal/provider/chat"
	"github.com/thresh-dev/thresh/host/internal/provider/messages"
	"github.com/thresh-dev/thresh/host/internal/provider/responses"
	"github.com/thresh-dev/thresh/sdk/content"
)

// Form is a provider's form of messages.
type Form string

// The forms of messages.
const (
	// Anthropic is the form of the Messages API.
	Anthropic Form = "anthropic"
	// OpenAIChat is the form of the Chat Completions API, which many servers share.
	OpenAIChat Form = "openai-chat"
	// OpenAIResponses is the form of the items of the Responses API.
	OpenAIResponses Form = "openai-responses"
)

// ErrForm: the form of messages is unknown.
var ErrForm = fmt.Errorf("unknown form of messages; want %s, %s or %s", Anthropic, OpenAIChat, OpenAIResponses)

// api returns the API of a form. The agent chose the form with the messages, so an unknown one is an error about the
// entry.
func (f Form) api() (*messages.API, error) {
	switch f {
	case Anthropic:
		return &anthropic.Messages, nil
	case OpenAIChat:
		return &chat.Messages, nil
	case OpenAIResponses:
		return &responses.Messages, nil
	default:
		return nil, &Error{Kind: KindEntry, Err: fmt.Errorf("%.40q: %w", string(f), ErrForm)}
	}
}

// Messages are messages as an agent holds them for its provider.
type Messages struct {
	Form     Form
	Messages []json.RawMessage
	// System replaces the session's system prompt: Anthropic's "system" or the "instructions" of the Responses API, a
	// string or a list of text parts. Nil changes nothing.
	System json.RawMessage
	// Key is as in [AddOptions].
	Key string
}

// AddMessages appends messages in a provider's form, all or none, as [Session.Add] appends entries. Messages of the
// system or the developer that come before all others become part of the system prompt; later ones are pinned.
//
// A message not of the form is refused with an error that wraps [ErrInvalidEntry], with its position in [Error.Entry]
// and [Error.Part]. Unknown parts and fields are carried, and returned by [Prepared.Request].
func (s *Session) AddMessages(ctx context.Context, m Messages) (State, error) {
	form, err := m.Form.api()
	if err != nil {
		return State{}, err
	}
	revision, tokens, err := s.window.AddMessages(ctx, form, m.Key, m.System, m.Messages)
	return State{revision, tokens}, err
}

// ParseSystem reads a provider's system prompt, for [Session.SetSystem]: a string, or a list of text parts.
func ParseSystem(raw json.RawMessage) ([]content.Block, error) {
	blocks, err := messages.ParseSystem(raw)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrInvalidEntry, err)
	}
	return blocks, nil
}

// Request is a prepared history in a provider's form.
type Request struct {
	// Messages are the messages, or the items of the input.
	Messages []json.RawMessage
	// System is Anthropic's system prompt, a list of text parts, and Instructions the Responses API's, a text. They are
	// nil if there is none, or it is among the messages.
	System, Instructions json.RawMessage
	// Notes say what the form cannot hold, and how many messages this turn took out. What was added in the same form is
	// returned unchanged, without notes; a line of text is put beside instructions that stand where Anthropic's API takes
	// none.
	Notes []string
}

// Request returns the prepared history in a provider's form, ready to be sent.
func (p Prepared) Request(f Form) (Request, error) {
	form, err := f.api()
	if err != nil {
		return Request{}, err
	}
	made := messages.Render(form, p.System, p.History, true)
	r := Request{Messages: made.Messages, System: made.System, Instructions: made.Instructions}
	// Routine notes, about what every message of the form lacks, would be in each answer.
	for _, n := range made.Tally.Notes() {
		if !n.Routine {
			r.Notes = append(r.Notes, n.Message)
		}
	}
	if g := p.Outcome.Gone; g != nil {
		r.Notes = append(r.Notes, fmt.Sprintf("this turn took messages out of the conversation: %d of people, %d of the model",
			g.Human, g.AI))
	}
	return r, nil
}
