package transcript

import (
	"bufio"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/thresh-dev/thresh/sdk/content"
)

// anthropicWriter writes messages of the Anthropic API. Roles must alternate there, beginning with the user, so turns
// of the same role are merged into one message. Results are the first blocks of the user message after the calls.
type anthropicWriter struct {
	*planner
	w     *bufio.Writer
	role  string   // of the message at hand
	body  [][]byte // its blocks
	count int      // of messages written
}

// writeAnthropic writes {"system": …, "tools": …, "messages": [...]}. Write errors stay in w until it is flushed.
func writeAnthropic(w *bufio.Writer, t *Transcript) []Note {
	a := anthropicWriter{planner: plan(t), w: w}
	a.uniqueIDs(true)
	_ = w.WriteByte('{')
	a.tools(w, t, "input_schema")
	turns := a.system()
	_, _ = w.WriteString(`"messages":[`)
	for _, t := range turns {
		a.turn(t)
	}
	a.flush()
	_, _ = w.WriteString("\n]}\n")
	return a.tally.notes()
}

// system writes the leading system entries as the API's system prompt and returns the turns after them.
func (a *anthropicWriter) system() []turn {
	turns := a.turns
	var blocks [][]byte
	for len(turns) > 0 && (turns[0].role == roleSystem || turns[0].role == roleDeveloper) {
		blocks = append(blocks, a.blocks(turns[0])...)
		turns = turns[1:]
	}
	if len(blocks) > 0 {
		_, _ = fmt.Fprintf(a.w, "\"system\":%s,\n", list(blocks))
	}
	return turns
}

// turn adds one turn and the responses to its calls. System entries after the beginning become user messages, because
// the API has a system prompt only outside of the messages.
func (a *anthropicWriter) turn(t turn) {
	role := roleUser
	switch t.role {
	case roleAssistant:
		role = roleAssistant
	case roleSystem, roleDeveloper:
		a.tally.count(0, t.entry, "entry of the role "+t.role+" after the beginning written as a user message")
	}
	if t.name != nil {
		a.tally.count(0, t.entry, `field "name" of an entry left out`)
	}
	a.add(role, t.entry, a.blocks(t)...)
	for _, c := range t.calls {
		a.add(role, t.entry, a.toolUse(c, t.entry))
	}
	for _, answer := range t.answers {
		a.add(roleUser, t.entry, a.toolResult(answer, t.entry))
	}
}

// add adds blocks to the current message if it has the same role, else to a new one. A conversation that begins with
// the model gets a user message in front, because the API refuses it otherwise.
func (a *anthropicWriter) add(role string, entry int, blocks ...[]byte) {
	if len(blocks) == 0 {
		return
	}
	if a.role != role {
		a.flush()
		if a.count == 0 && role == roleAssistant {
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
}

// flush writes the current message, if it has blocks. The API refuses messages without any.
func (a *anthropicWriter) flush() {
	if len(a.body) == 0 {
		return
	}
	if a.count > 0 {
		_ = a.w.WriteByte(',')
	}
	a.count++
	_, _ = fmt.Fprintf(a.w, "\n{\"role\":%q,\"content\":%s}", a.role, list(a.body))
	a.body = a.body[:0]
}

// blocks returns the blocks of a turn that the API accepts. It verifies thinking by its signature, so thinking without
// one is left out. Opaque blocks of the API's own kinds are written as they are.
func (a *anthropicWriter) blocks(t turn) [][]byte {
	var out [][]byte
	for _, block := range t.blocks {
		switch block := block.(type) {
		case content.Text:
			if strings.TrimSpace(block.Text) == "" {
				a.tally.count(0, t.entry, "blank text left out: the API refuses it")
				continue
			}
			out = append(out, a.block(t.entry, "text", block.Extra,
				field{name: "text", value: content.String(block.Text)}))
		case content.Thinking:
			if block.Signature == "" || t.role != roleAssistant {
				a.tally.count(0, t.entry, "thinking without a signature left out")
				continue
			}
			out = append(out, a.block(t.entry, "thinking", nil,
				field{name: "thinking", value: content.String(block.Thought)},
				field{name: "signature", value: content.String(block.Signature)}))
		case content.Media:
			out = append(out, a.media(t, block))
		case content.Opaque:
			switch k := block.Kind(); k {
			case "redacted_thinking", "server_tool_use", "web_search_tool_result", "search_result", "document":
				out = append(out, block.JSON)
			default:
				a.tally.count(0, t.entry, fmt.Sprintf("block of the kind %q left out", clip([]byte(k))))
			}
		}
	}
	return out
}

// block builds a block from its fields. Of the extra fields only those that the API has are written; unknown ones would
// make it refuse the whole request.
func (a *anthropicWriter) block(entry int, kind string, extra content.Fields, fields ...field) []byte {
	var m metadata
	m.text("type", kind)
	for _, f := range fields {
		m.raw(f.name, f.value)
	}
	for _, f := range extra {
		switch f.Name {
		case "cache_control", "citations":
			m.raw(f.Name, f.Value)
		default:
			a.tally.count(0, entry, fmt.Sprintf("field %q of a block left out", clip([]byte(f.Name))))
		}
	}
	return m.json()
}

// media returns an image or document block, or a text that stands in for media that the API does not accept there.
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
		return a.block(t.entry, "text", nil, field{name: "text", value: content.String(placeholder(m))})
	}
	source := fmt.Appendf(
		nil, `{"type":"base64","media_type":%s,"data":%s}`, content.String(m.MimeType), content.String(m.Data),
	)
	if m.Encoding == "url" {
		source = fmt.Appendf(nil, `{"type":"url","url":%s}`, content.String(m.Data))
	}
	return a.block(t.entry, kind, m.Extra, field{name: "source", value: source})
}

// toolUse returns a call as a block. input must be an object there, so other parameters are wrapped.
func (a *anthropicWriter) toolUse(c *call, entry int) []byte {
	input := c.Parameters
	if kind(input) != '{' {
		if len(input) > 0 {
			a.tally.count(0, entry, `call's parameters, which are not an object, wrapped in {"input": …}`)
			input = append(append(json.RawMessage(`{"input":`), input...), '}')
		} else {
			input = json.RawMessage("{}")
		}
	}
	return a.block(entry, "tool_use", c.Extra,
		field{name: "id", value: content.String(c.outID)},
		field{name: "name", value: content.String(a.toolName(c, entry))},
		field{name: "input", value: input})
}

// toolResult returns a response as a block. Its content is text, or a list if it has media; blank text is left out of a
// list, because the API refuses it.
func (a *anthropicWriter) toolResult(r *answer, entry int) []byte {
	body := []byte(content.String(resultText(r.ToolResponse)))
	if len(r.media) > 0 {
		var parts [][]byte
		if text := resultText(r.ToolResponse); strings.TrimSpace(text) != "" {
			parts = append(parts, fmt.Appendf(nil, `{"type":"text","text":%s}`, content.String(text)))
		}
		for _, m := range r.media {
			parts = append(parts, a.media(turn{entry: entry, role: roleUser}, m))
		}
		body = list(parts)
	}
	fields := []field{{name: "tool_use_id", value: content.String(r.call.outID)}, {name: "content", value: body}}
	if r.Failed() {
		fields = append(fields, field{name: "is_error", value: []byte("true")})
	}
	return a.block(entry, "tool_result", r.Extra, fields...)
}
