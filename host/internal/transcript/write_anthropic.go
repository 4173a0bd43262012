package transcript

import (
	"encoding/json"
	"slices"

	"github.com/thresh-dev/thresh/sdk/content"
)

// anthropicWriter writes messages of the Anthropic API. Roles must alternate there, beginning with the user, so turns
// of the same role are merged into one message. Results are the first blocks of the user message after the calls.
type anthropicWriter struct {
	*planner
	role   string // of the message at hand; "": none was begun
	body   [][]byte
	fields object // its other fields
	out    [][]byte
}

// renderAnthropic returns the messages, and the blocks of the system prompt. The leading entries of the system and the
// developer belong to the prompt: other programs convert recordings like that. The API also checks the characters of
// ids, hence uniqueIDs(true).
func renderAnthropic(t *Transcript, exact bool) rendered {
	a := anthropicWriter{planner: plan(t, AnthropicMessages)}
	a.uniqueIDs(true)
	a.countOwn()
	var system [][]byte
	for _, m := range systemMessages(t.System) {
		for _, text := range m.blocks {
			// The API has no such field in a system block and would refuse the request.
			text.Extra = without(text.Extra, fieldRole)
			_, parts, _ := a.parts(turn{entry: -1, role: roleSystem, blocks: one(text), exact: exact})
			system = append(system, parts...)
		}
	}
	turns := a.turns
	// An entry added as a message of this form was pinned in its place.
	for len(turns) > 0 && isInstruction(turns[0].role) && !turns[0].exact {
		_, parts, _ := a.parts(turns[0])
		system, turns = append(system, parts...), turns[1:]
	}
	for _, t := range turns {
		a.turn(t)
	}
	a.flush()
	r := rendered{messages: a.out, form: AnthropicMessages, tally: &a.tally}
	if len(system) > 0 {
		r.system = list(system)
	}
	return r
}

// turn adds one turn and the responses to its calls. System entries after the beginning become user messages, because
// the API only has a system prompt outside of the messages.
func (a *anthropicWriter) turn(t turn) {
	role := roleUser
	switch {
	case t.role == roleAssistant:
		role = roleAssistant
	// An agent that sends these in the middle uses a model that takes them.
	case isInstruction(t.role) && t.exact:
		role = t.role
	case isInstruction(t.role):
		a.tally.count(0, t.entry, "entry of the role "+t.role+" after the beginning written as a user message")
	}
	if t.name != nil {
		a.tally.count(0, t.entry, `field "name" of an entry left out`)
	}
	_, parts, _ := a.parts(t)
	a.add(role, t.entry, t.fields, parts...)
	// Parallel calls have all their results in one message, or the API refuses the next request.
	for _, answer := range t.answers {
		a.add(roleUser, t.entry, nil, a.toolResult(answer, t.entry))
	}
}

// add adds blocks to the current message if it has the same role, else to a new one. The API refuses a conversation
// that begins with the model, so it gets a user message in front.
func (a *anthropicWriter) add(role string, entry int, fields object, blocks ...[]byte) {
	// Everything in the turn was left out: a change of role would split the messages around it for nothing.
	if len(blocks) == 0 {
		return
	}
	if a.role != role {
		a.flush()
		// A view can begin with the model after a compress, and recordings in the middle of a session.
		if len(a.out) == 0 && role == roleAssistant {
			a.tally.count(
				0, entry, "line of text put before the model's first message: the API requires a user message first",
			)
			a.role, a.body = roleUser, [][]byte{
				[]byte(`{"type":"text","text":"[the beginning is not in the transcript]"}`),
			}
			a.flush()
		}
	}
	a.role = role
	a.body = append(a.body, blocks...)
	for _, f := range fields { // of messages that become one, the last to have a field decides
		if i := slices.IndexFunc(a.fields, func(g field) bool { return g.name == f.name }); i >= 0 {
			a.fields[i] = f
		} else {
			a.fields = append(a.fields, f)
		}
	}
}

// flush ends the current message, if it has blocks. The API refuses messages without any.
func (a *anthropicWriter) flush() {
	if len(a.body) == 0 {
		return
	}
	var m metadata
	m.text("role", a.role)
	m.raw("content", list(a.body))
	m.rest(a.fields)
	a.out = append(a.out, m.json())
	a.body, a.fields = a.body[:0], nil
}

// toolUse returns a call as a block. input must be an object there, so other parameters are wrapped.
func (p *planner) toolUse(t turn, c *call) []byte {
	// Calls of Codex, for example, can have text that is no JSON, or a list.
	input := c.Parameters
	if kind(input) != '{' {
		if len(input) > 0 {
			p.tally.count(0, t.entry, `call's parameters, which are not an object, wrapped in {"input": …}`)
			input = append(append(json.RawMessage(`{"input":`), input...), '}')
		} else {
			input = json.RawMessage("{}")
		}
	}
	return p.block(t, "tool_use", c.Extra,
		field{name: "id", value: content.String(c.outID)},
		field{name: "name", value: content.String(p.toolName(c, t.entry))},
		field{name: "input", value: input})
}

// toolResult returns a response as a block.
func (a *anthropicWriter) toolResult(r *answer, entry int) []byte {
	fields := []field{{name: "tool_use_id", value: content.String(r.call.outID)}}
	// A flag without words is no reason to make up a content.
	onlyFlag := r.Error == "" || r.Error == flaggedError
	if !r.exact || len(r.media) > 0 || r.Result != nil || !onlyFlag {
		body, _ := a.result(r, entry)
		fields = append(fields, field{name: "content", value: body})
	}
	// An error text without the flag would be taken for a success.
	if r.Failed() {
		fields = append(fields, field{name: "is_error", value: []byte("true")})
		r.Extra = without(r.Extra, "is_error")
	}
	return a.block(turn{entry: entry, exact: r.exact}, "tool_result", without(r.Extra, fieldParts), fields...)
}
