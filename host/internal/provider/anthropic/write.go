package anthropic

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/host/internal/provider/messages"
	"github.com/thresh-dev/thresh/host/internal/provider/ordered"
	"github.com/thresh-dev/thresh/sdk/content"
)

// writer writes messages. Roles must alternate, beginning with the user, so turns of the same role are merged into one
// message. Results are the first blocks of the user message after the calls.
type writer struct {
	*messages.Plan
	role   string // of the message at hand; "": none was begun
	body   [][]byte
	fields ordered.Object // its other fields
	out    []json.RawMessage
	sections
}

// write writes the messages and the blocks of the system prompt. The leading entries of the system and the developer
// belong to the prompt: other programs convert recordings like that. The API also checks the characters of ids.
func write(p *messages.Plan, prompt []content.Block, exact bool) (r messages.Rendered) {
	w := writer{Plan: p}
	w.UniqueIDs(true, true)
	var system [][]byte
	for _, m := range messages.SystemMessages(prompt) {
		for _, text := range m.Blocks {
			// The API has no such field in a system block and would refuse the request.
			text.Extra = messages.Without(text.Extra, messages.FieldRole)
			_, parts, _ := w.Parts(messages.Turn{Entry: -1, Role: messages.System, Blocks: messages.One(text), Exact: exact})
			system = append(system, parts...)
		}
	}
	turns := w.Turns
	// An entry added as a message of this form was pinned in its place.
	for len(turns) > 0 && messages.Instruction(turns[0].Role) && !turns[0].Exact {
		_, parts, _ := w.Parts(turns[0])
		system, turns = append(system, parts...), turns[1:]
	}
	for _, t := range turns {
		w.turn(t)
	}
	w.flush()
	if len(system) > 0 {
		r.System = ordered.List(system...)
	}
	r.Messages = w.out
	return r
}

// turn adds one turn and the responses to its calls. System entries after the beginning that were not added as messages
// of this form become user messages: not every model takes the role within the messages.
func (w *writer) turn(t messages.Turn) {
	role := messages.User
	switch {
	case t.Role == messages.Assistant:
		role = messages.Assistant
	// An agent that sends these in the middle uses a model that takes them.
	case messages.Instruction(t.Role) && t.Exact:
		w.instruct(t)
		return
	case messages.Instruction(t.Role):
		w.Tally.Count(0, t.Entry, "entry of the role "+t.Role+" after the beginning written as a user message")
	}
	if t.Name != nil {
		w.Tally.Count(0, t.Entry, `field "name" of an entry left out`)
	}
	_, parts, _ := w.Parts(t)
	w.add(role, t.Entry, t.Fields, parts...)
	// Parallel calls have all their results in one message, or the API refuses the next request.
	for _, answer := range t.Answers {
		w.add(messages.User, t.Entry, nil, w.toolResult(answer, t.Entry))
	}
}

// add adds blocks to the current message if it has the same role, else to a new one. The API refuses a conversation
// that begins with the model, so it gets a user message in front.
func (w *writer) add(role string, entry int, fields ordered.Object, blocks ...[]byte) {
	// Everything in the turn was left out: a change of role would split the messages around it for nothing.
	if len(blocks) == 0 {
		return
	}
	if w.role != role {
		w.flush()
		// A view can begin with the model after a compress, and recordings in the middle of a session.
		if !w.begun && role == messages.Assistant {
			w.Tally.Count(
				0, entry, "line of text put before the model's first message: the API requires a user message first",
			)
			w.line(messages.User, "[the beginning is not in the transcript]")
		}
		w.answer(role, entry)
	}
	w.begun = true
	w.role = role
	w.body = append(w.body, blocks...)
	for _, f := range fields { // of messages that become one, the last to have a field decides
		if i := slices.IndexFunc(w.fields, func(g ordered.Field) bool { return g.Name == f.Name }); i >= 0 {
			w.fields[i] = f
		} else {
			w.fields = append(w.fields, f)
		}
	}
}

// flush ends the current message, if it has blocks. The API refuses messages without any.
func (w *writer) flush() {
	if len(w.body) == 0 {
		return
	}
	var m ordered.Builder
	m.Text("role", w.role)
	m.Raw("content", ordered.List(w.body...))
	m.Rest(w.fields)
	w.out = append(w.out, m.JSON())
	w.body, w.fields = w.body[:0], nil
}

// line writes a message of one text.
func (w *writer) line(role, text string) {
	w.role, w.body = role, [][]byte{fmt.Appendf(nil, `{"type":"text","text":%s}`, content.String(text))}
	w.flush()
	w.begun = true
}

// toolUse returns a call as a block. input must be an object there, so other parameters are wrapped.
func toolUse(p *messages.Plan, t messages.Turn, c *messages.Call) []byte {
	// Calls of Codex, for example, can have text that is no JSON, or a list.
	input := c.Parameters
	if ordered.Kind(input) != '{' {
		if len(input) > 0 {
			p.Tally.Count(0, t.Entry, `call's parameters, which are not an object, wrapped in {"input": …}`)
			input = append(append(json.RawMessage(`{"input":`), input...), '}')
		} else {
			input = json.RawMessage("{}")
		}
	}
	return p.Block(t, "tool_use", c.Extra,
		ordered.Field{Name: "id", Value: content.String(c.OutID)},
		ordered.Field{Name: "name", Value: content.String(p.ToolName(c, t.Entry))},
		ordered.Field{Name: "input", Value: input})
}

// toolResult returns a response as a block.
func (w *writer) toolResult(a *messages.Answer, entry int) []byte {
	fields := []ordered.Field{{Name: "tool_use_id", Value: content.String(a.Call.OutID)}}
	// A flag without words is no reason to make up a content.
	onlyFlag := a.Error == "" || a.Error == messages.FlaggedError
	if !a.Exact || len(a.Media) > 0 || a.Result != nil || !onlyFlag {
		body, _ := w.Result(a, entry)
		fields = append(fields, ordered.Field{Name: "content", Value: body})
	}
	extra := a.Fields()
	// An error text without the flag would be taken for a success.
	if a.Failed() {
		fields = append(fields, ordered.Field{Name: "is_error", Value: []byte("true")})
		extra = messages.Without(extra, "is_error")
	}
	return w.Block(messages.Turn{Entry: entry, Exact: a.Exact}, "tool_result", extra, fields...)
}

// think returns the model's reasoning as a block. The API verifies it by its signature. One of another provider would be
// refused as well, but nothing tells it from one of this provider.
func think(p *messages.Plan, t messages.Turn, block content.Thinking) []byte {
	if !t.Exact && (block.Signature == "" || t.Role != messages.Assistant) {
		p.Tally.Count(0, t.Entry, "thinking without a signature left out")
		return nil
	}
	fields := []ordered.Field{{Name: "thinking", Value: content.String(block.Thought)}}
	if block.Signature != "" {
		fields = append(fields, ordered.Field{Name: "signature", Value: content.String(block.Signature)})
	}
	if !t.Exact {
		block.Extra = content.Fields{}
	}
	return p.Block(t, "thinking", block.Extra, fields...)
}

// attach returns an image or a PDF as a block. The model has none.
func attach(p *messages.Plan, t messages.Turn, m content.Media) (part []byte, ok bool) {
	pdf := m.MimeType == "application/pdf"
	if t.Role == messages.Assistant || !pdf && !strings.HasPrefix(m.MimeType, "image/") {
		return nil, false
	}
	// Data that is not a URL is base64, whatever its encoding is called.
	source := fmt.Appendf(
		nil, `{"type":"base64","media_type":%s,"data":%s}`, content.String(m.MimeType), content.String(m.Data),
	)
	if m.Encoding == "url" {
		source = fmt.Appendf(nil, `{"type":"url","url":%s}`, content.String(m.Data))
	}
	kind, fields := "image", []ordered.Field{{Name: "source", Value: source}}
	if pdf {
		kind = "document"
		if m.Filename != "" {
			fields = append(fields, ordered.Field{Name: "title", Value: content.String(m.Filename)})
		}
	}
	return p.Block(t, kind, m.Extra, fields...), true
}
