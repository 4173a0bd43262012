package transcript

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

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
	var system [][]byte
	for _, m := range systemMessages(t.System) {
		for _, text := range m.blocks {
			// The API has no such field in a system block and would refuse the request.
			text.Extra = without(text.Extra, fieldRole)
			system = append(system, a.blocks(turn{entry: -1, role: roleSystem, blocks: one(text), exact: exact})...)
		}
	}
	turns := a.turns
	// An entry added as a message of this form was pinned in its place.
	for len(turns) > 0 && isInstruction(turns[0].role) && !turns[0].exact {
		system = append(system, a.blocks(turns[0])...)
		turns = turns[1:]
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
	a.add(role, t.entry, t.fields, a.blocks(t)...)
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

// blocks returns the blocks of a turn that the API accepts. It verifies thinking by its signature, so thinking without
// one is left out. Opaque blocks of the API's own kinds are written unchanged.
func (a *anthropicWriter) blocks(t turn) [][]byte {
	var out [][]byte
	for _, block := range t.blocks {
		switch block := block.(type) {
		case content.Text:
			// Also with exact: a strategy's edit may have left a blank text.
			if strings.TrimSpace(block.Text) == "" {
				a.tally.count(0, t.entry, "blank text left out: the API refuses it")
				continue
			}
			out = append(out, a.block(t.entry, t.exact, "text", block.Extra,
				field{name: "text", value: content.String(block.Text)}))
		case content.Thinking:
			// A signature of another provider would be refused as well, but nothing tells it from one of this provider.
			if !t.exact && (block.Signature == "" || t.role != roleAssistant) {
				a.tally.count(0, t.entry, "thinking without a signature left out")
				continue
			}
			fields := []field{{name: "thinking", value: content.String(block.Thought)}}
			if block.Signature != "" {
				fields = append(fields, field{name: "signature", value: content.String(block.Signature)})
			}
			if !t.exact {
				block.Extra = content.Fields{}
			}
			out = append(out, a.block(t.entry, t.exact, "thinking", block.Extra, fields...))
		case content.Media:
			out = append(out, a.media(t, block))
		case *call:
			out = append(out, a.toolUse(block, t.entry))
		case content.Opaque:
			switch k := block.Kind(); {
			case t.exact, isAnthropicKind(k):
				out = append(out, block.JSON)
			default:
				a.tally.count(0, t.entry, fmt.Sprintf("block of the kind %q left out", clip([]byte(k))))
			}
		}
	}
	return out
}

func isAnthropicKind(kind string) bool {
	switch kind {
	case "redacted_thinking", "server_tool_use", "web_search_tool_result", "search_result", "document":
		return true
	}
	return false
}

// block builds a block from its fields. Of the extra fields it writes only those of the API: unknown ones would make it
// refuse the whole request. With exact, everything is written back.
func (a *anthropicWriter) block(entry int, exact bool, kind string, extra content.Fields, fields ...field) []byte {
	var m metadata
	m.text("type", kind)
	for _, f := range fields {
		m.raw(f.name, f.value)
	}
	// Without cache_control the provider caches nothing, and every request pays for its whole prompt.
	for _, f := range extra.All() {
		switch {
		case f.Name == "cache_control", f.Name == "citations", exact:
			m.raw(f.Name, f.Value)
		default:
			a.tally.count(0, entry, fmt.Sprintf("field %q of a block left out", clip([]byte(f.Name))))
		}
	}
	return m.json()
}

// media returns an image or document block, or a text in place of media that the API does not accept there.
func (a *anthropicWriter) media(t turn, m content.Media) []byte {
	kind := ""
	switch {
	case t.role == roleAssistant:
	case strings.HasPrefix(m.MimeType, "image/"):
		kind = "image"
	case m.MimeType == "application/pdf":
		kind = "document"
	}
	if kind == "" {
		a.tally.count(0, t.entry, "attachment that the format cannot hold replaced by a line of text")
		return a.block(t.entry, false, "text", content.Fields{},
			field{name: "text", value: content.String(placeholder(m))})
	}
	// Data that is not a URL is base64, whatever its encoding is called.
	source := fmt.Appendf(
		nil, `{"type":"base64","media_type":%s,"data":%s}`, content.String(m.MimeType), content.String(m.Data),
	)
	if m.Encoding == "url" {
		source = fmt.Appendf(nil, `{"type":"url","url":%s}`, content.String(m.Data))
	}
	fields := []field{{name: "source", value: source}}
	if kind == "document" && m.Filename != "" {
		fields = append(fields, field{name: "title", value: content.String(m.Filename)})
	}
	return a.block(t.entry, t.exact, kind, m.Extra, fields...)
}

// toolUse returns a call as a block. input must be an object there, so other parameters are wrapped.
func (a *anthropicWriter) toolUse(c *call, entry int) []byte {
	// Calls of Codex, for example, can have text that is no JSON, or a list.
	input := c.Parameters
	if kind(input) != '{' {
		if len(input) > 0 {
			a.tally.count(0, entry, `call's parameters, which are not an object, wrapped in {"input": …}`)
			input = append(append(json.RawMessage(`{"input":`), input...), '}')
		} else {
			input = json.RawMessage("{}")
		}
	}
	return a.block(entry, c.exact, "tool_use", c.Extra,
		field{name: "id", value: content.String(c.outID)},
		field{name: "name", value: content.String(a.toolName(c, entry))},
		field{name: "input", value: input})
}

// toolResult returns a response as a block. Its content is text, or a list if it has media; the API refuses blank text
// in a list.
func (a *anthropicWriter) toolResult(r *answer, entry int) []byte {
	fields := []field{{name: "tool_use_id", value: content.String(r.call.outID)}}
	if body := a.resultContent(r, entry); body != nil {
		fields = append(fields, field{name: "content", value: body})
	}
	// An error text without the flag would be taken for a success.
	if r.Failed() {
		fields = append(fields, field{name: "is_error", value: []byte("true")})
		r.Extra = without(r.Extra, "is_error")
	}
	return a.block(entry, r.exact, "tool_result", without(r.Extra, fieldParts), fields...)
}

func (a *anthropicWriter) resultContent(r *answer, entry int) []byte {
	// A flag without words is no reason to make up a content.
	onlyFlag := r.Error == "" || r.Error == flaggedError
	if r.exact && len(r.media) == 0 && r.Result == nil && onlyFlag {
		return nil
	}
	text := func(text string, fields object) []byte {
		var m metadata
		m.text("type", "text")
		m.raw("text", content.String(text))
		m.rest(fields)
		return m.json()
	}
	media := func(m content.Media) []byte { return a.media(turn{entry: entry, role: roleUser, exact: r.exact}, m) }
	if r.exact {
		if parts, ok := r.parts(text, media); ok {
			return parts
		}
	}
	if len(r.media) == 0 {
		return content.String(resultText(r.ToolResponse))
	}
	var parts [][]byte
	if s := resultText(r.ToolResponse); strings.TrimSpace(s) != "" {
		parts = append(parts, text(s, nil))
	}
	for _, m := range r.media {
		parts = append(parts, media(m))
	}
	return list(parts)
}
