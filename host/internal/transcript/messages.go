package transcript

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/thresh-dev/thresh/sdk/content"
	"github.com/thresh-dev/thresh/sdk/content/rawjson"
)

// readMessages reads a list of provider messages from the field name, or from the document itself if name is "". One
// reader serves OpenAI's and Anthropic's messages, since recorders mix them in one file:
//
//	{"role": "user", "content": "go"}
//	{"role": "assistant", "content": [{"type": "tool_use", "id": "c1", "name": "read", "input": {…}}]}
//	{"role": "assistant", "tool_calls": [{"id": "c1", "function": {"name": "read", "arguments": "{…}"}}]}
//	{"role": "tool", "tool_call_id": "c1", "content": "…"}
//
// The messages decide which of the two formats is reported. What recorders add to them was read off published
// recordings of mini-swe-agent, tau-bench, OpenHands' log of completions and Cline.
func readMessages(name string) documentReader {
	return func(b *builder, d *document) error {
		m := messages{b: b}
		m.system(d.line, d.top)
		err := d.each(name, func(i, line int, raw []byte) error {
			o := asObject(raw)
			if o == nil {
				return noObject(line, i, raw)
			}
			m.message(line, o)
			return nil
		})
		if err != nil {
			return err
		}
		// The response belongs after all messages, and head must know whether it was used.
		m.answer(d)
		m.head(d.top, name)
		return m.end()
	}
}

func newMessages(b *builder) lineReader { return &messages{b: b} }

func (m *messages) record(r record) error {
	m.message(r.line, r.object)
	return nil
}

// messages reads consecutive provider messages and collects what tells the two providers apart.
type messages struct {
	b *builder
	// Something was found that only this provider has. A file may show features of both, or of none.
	anthropic, openAI bool

	legacy   []string // ids made for unanswered calls of the old function_call form, which has none
	made     int      // how many
	answered bool     // the provider's response was read as the last message
	cline    cline
}

// isMessageField reports whether a field of a message is known: it is read, or a counter, a name or a state of a
// recorder.
var isMessageField = nameIn("role", "content", "tool_calls", "tool_call_id", "name", "function_call",
	"reasoning_content", "timestamp", "ts", "model", "modelInfo", "usage", "metrics", "id", "type", "index", "extra",
	"conversationHistoryDeletedRange", "refusal")

// message reads one message. An unknown role, such as the "exit" of mini-swe-agent, is read as the human's.
func (m *messages) message(line int, o object) {
	b := m.b
	m.learn(o)
	// An agent's own messages are carried whole.
	if b.form == "" {
		b.unread(line, "a message", o, isMessageField)
	}
	c := content.Content{Metadata: m.metadata(o)}
	c.Extra = m.extra(o)
	switch role := o.text("role"); role {
	case "assistant":
		c.Speaker, c.Blocks = content.AI, m.assistant(line, o, b.messageContent(line, o.raw("content")).blocks)
		if m.cline.known {
			c.Blocks = m.cline.called(c.Blocks)
		}
		if b.form != "" && len(c.Blocks) == 0 { // a refusal, or an answer in sound
			whole := object{{name: "type", value: content.String(kindMessage)}, {name: fieldMessage, value: o.json()}}
			c.Blocks, c.Extra = one(content.Opaque{JSON: whole.json()}), content.Fields{}
		}
		if n := len(b.t.Entries); b.form == AnthropicMessages && n > 0 && b.t.Entries[n-1].Speaker == content.AI {
			b.extend(n-1, c.Blocks, c.Extra.All()...) // to the provider they are one message
			return
		}
		b.add(line, c)
	case "tool", "function":
		// Old forms of OpenAI call the role "function", and their results have no id; see [messages.tool].
		m.tool(line, o, c)
	default:
		if role != "user" && role != "system" && role != "developer" {
			b.oddity(
				line, len(b.t.Entries), "unknown role",
				"unknown role %q; read as the human's, kept in metadata.role", clip([]byte(role)),
			)
		}
		p := b.messageContent(line, o.raw("content"))
		// A message without a role is no message of any provider: what it says counts as not understood.
		if role == "" {
			b.miss("messages without a role", len(o.raw("content")))
		}
		if b.form == "" {
			p = m.ofCline(p)
		}
		if !b.instructions(role, p.blocks, c.Extra) {
			b.userEntries(line, p, c)
		}
	}
}

// ofCline reads a person's message as Cline wrote it, if the first one is in Cline's form.
func (m *messages) ofCline(p pieces) pieces {
	if len(m.b.t.Entries) == 0 && len(p.blocks) > 0 {
		text, _ := p.blocks[0].(content.Text)
		m.cline.known = m.cline.begins(text.Text)
	}
	if !m.cline.known {
		return p
	}
	return m.cline.results(p)
}

// learn notices features that only one of the providers has. Plain text with the roles user and assistant fits both.
func (m *messages) learn(o object) {
	// Only OpenAI has calls outside of the content, and messages of these roles in the list.
	role := o.text("role")
	if o.has("tool_calls") || o.has("function_call") || role == "tool" || role == "system" || role == "developer" ||
		role == "function" {
		m.openAI = true
	}
	list, _ := elements(o.raw("content"))
	for _, raw := range list {
		switch asObject(raw).text("type") {
		case "tool_use", "tool_result", "thinking", "redacted_thinking", "image", "document":
			m.anthropic = true
		case "image_url", "input_audio":
			m.openAI = true
		}
	}
}

// metadata collects timestamp, model and usage from the places where recorders keep them. "role" keeps roles that a
// history has no speaker for.
func (m *messages) metadata(o object) []byte {
	var meta metadata
	// An agent put instructions into the middle on purpose, and a strategy must not remove them.
	if role := o.text("role"); !slices.Contains([]string{"user", "assistant", "tool", "function"}, role) {
		meta.text("role", role)
		meta.flag("pinned", isInstruction(role))
	}
	if m.b.form != "" {
		meta.text(fieldFormat, string(m.b.form))
		return meta.json()
	}
	response := o.object("extra").object("response") // mini-swe-agent keeps the provider's answer there
	// Cline has "ts" and "modelInfo", mini-swe-agent has everything in "extra".
	meta.raw("timestamp", firstOf(o.raw("timestamp"), o.raw("ts"), o.object("extra").raw("timestamp")))
	meta.raw("model", firstOf(o.raw("model"), o.object("modelInfo").raw("id"), response.raw("model")))
	meta.raw("usage", firstOf(o.raw("usage"), o.raw("metrics"), response.raw("usage")))
	return meta.json()
}

func firstOf(values ...[]byte) []byte {
	for _, v := range values {
		if !rawjson.IsNull(v) {
			return v
		}
	}
	return nil
}

// extra keeps fields of a provider's message that an entry has no place for. In a tool's message "name" is the tool.
func (m *messages) extra(o object) content.Fields {
	var out []content.Field
	if m.b.form != "" {
		return m.exactFields(o)
	}
	for _, name := range []string{"name", "refusal"} {
		if value := o.copyOf(name); value != nil && o.text("role") != "tool" && o.text("role") != "function" {
			out = append(out, content.Field{Name: name, Value: value})
		}
	}
	return content.FieldsOf(out...)
}

// assistant returns the blocks of an answer: thoughts, then text (body), then calls. Calls of the old function_call
// form have no id; they get one, which the next result without an id answers.
func (m *messages) assistant(line int, o object, body []content.Block) []content.Block {
	blocks := []content.Block{}
	if thought := o.text("reasoning_content"); thought != "" {
		blocks = append(blocks, content.Thinking{Thought: thought})
	}
	calls := m.b.openAICalls(line, o.raw("tool_calls"))
	// The form that OpenAI used before tool calls; an answer has at most one.
	if call := o.object("function_call"); call != nil {
		m.made++
		id := fmt.Sprintf("function_%d", m.made)
		m.legacy = append(m.legacy, id)
		parameters, _ := argumentsOf(call.raw("arguments"))
		calls = append(calls, content.ToolCall{ID: id, Name: call.text("name"), Parameters: parameters})
	}
	// Providers refuse an empty text block when it is sent back.
	if text, ok := rawjson.Text(o.raw("content")); ok && text == "" && len(calls)+len(blocks) > 0 && m.b.form == "" {
		body = nil // next to calls, recorders write "" where the API has null
	}
	return append(append(blocks, body...), calls...)
}

// tool reads a tool's result into c, which has the metadata. In the old function form it has no id and answers the
// oldest open call.
func (m *messages) tool(line int, o object, c content.Content) {
	r := content.ToolResponse{CallID: o.text("tool_call_id"), ToolName: o.text("name")}
	if r.CallID == "" && len(m.legacy) > 0 {
		r.CallID, m.legacy = m.legacy[0], m.legacy[1:]
	}
	c.Speaker = content.Tool
	if m.b.form != "" {
		c.Blocks, c.Extra = m.b.exactToolMessage(r, o), content.Fields{}
	} else {
		c.Blocks = withResult(r, o.raw("content"), openAIMedia)
	}
	m.b.add(line, c)
}

// system reads a system prompt outside of the messages: Anthropic's "system", or Cline's "system_prompt".
func (m *messages) system(line int, top object) {
	for _, name := range []string{"system", "system_prompt"} {
		raw := top.raw(name)
		if k := kind(raw); k != '"' && k != '[' {
			continue
		}
		m.anthropic = m.anthropic || name == "system"
		m.b.t.System = append(m.b.t.System, m.b.systemBlocks(line, raw)...)
	}
}

// answer reads the provider's response from a log of one request, as OpenHands writes it: messages is the request, and
// the response is the last message of the conversation. Only the first choice counts; agents continue with that one.
func (m *messages) answer(d *document) {
	response := d.top.object("response")
	choices, _ := elements(response.raw("choices"))
	if len(choices) == 0 {
		return
	}
	message := asObject(choices[0]).object("message")
	if message == nil {
		return
	}
	line := d.lineAt(d.at("response"))
	m.b.remark(line, len(m.b.t.Entries), "the provider's response is read as the last message")
	m.answered = true
	// Behind the message's own fields: a lookup takes the first of a name, so a role of its own wins.
	message = append(
		slices.Clone(message), field{name: "usage", value: response.raw("usage")},
		field{name: "role", value: []byte(`"assistant"`)},
	)
	m.message(line, message)
}

// head keeps the tool schemas and the session's id, and notes the other fields of the document.
func (m *messages) head(top object, list string) {
	b := m.b
	b.t.Tools = top.copyOf("tools")
	b.t.ID = cmp.Or(top.text("sessionId"), top.text("id"))
	b.otherFields(top, func(name string) bool {
		return name == list || name == "response" && m.answered ||
			slices.Contains([]string{"tools", "system", "system_prompt", "sessionId", "id"}, name)
	})
}

// end sets the format. A file with features of both providers, or of neither, is reported as OpenAI chat, the more
// common one.
func (m *messages) end() error {
	m.b.t.Format = OpenAIChat
	// Files of Cline show features of Anthropic too.
	if m.cline.known {
		m.b.t.Format = Cline
		return nil
	}
	if m.anthropic && !m.openAI {
		m.b.t.Format = AnthropicMessages
	}
	return nil
}
