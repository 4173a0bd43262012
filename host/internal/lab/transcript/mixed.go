package transcript

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/thresh-dev/thresh/host/internal/provider/anthropic"
	"github.com/thresh-dev/thresh/host/internal/provider/messages"
	"github.com/thresh-dev/thresh/host/internal/provider/ordered"
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
		m := mixed{b: b}
		m.system(d.line, d.top)
		err := d.each(name, func(i, line int, raw []byte) error {
			o := ordered.Of(raw)
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

func newMessages(b *builder) lineReader { return &mixed{b: b} }

func (m *mixed) record(r record) error {
	m.message(r.line, r.Object)
	return nil
}

// mixed reads consecutive provider messages and collects what tells the two providers apart.
type mixed struct {
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
func (m *mixed) message(line int, o ordered.Object) {
	b := m.b
	m.learn(o)
	b.unread(line, "a message", o, isMessageField)
	c := content.Content{Metadata: m.metadata(o), Extra: m.extra(o)}
	switch role := o.Text("role"); role {
	case "assistant":
		c.Speaker, c.Blocks = content.AI, m.assistant(line, o, b.messageContent(line, o.Raw("content")).Blocks)
		if m.cline.known {
			c.Blocks = m.cline.called(c.Blocks)
		}
		b.Add(line, c)
	case "tool", "function":
		// Old forms of OpenAI call the role "function", and their results have no id; see [mixed.tool].
		m.tool(line, o, c)
	default:
		if role != "user" && role != "system" && role != "developer" {
			b.oddity(
				line, len(b.Entries), "unknown role",
				"unknown role %q; read as the human's, kept in metadata.role", ordered.Clip([]byte(role)),
			)
		}
		p := m.ofCline(b.messageContent(line, o.Raw("content")))
		// A message without a role is no message of any provider: what it says counts as not understood.
		if role == "" {
			b.miss("messages without a role", len(o.Raw("content")))
		}
		if !b.Instructions(role, p.Blocks, c.Extra) {
			b.UserEntries(line, p, c)
		}
	}
}

// ofCline reads a person's message as Cline wrote it, if the first one is in Cline's form.
func (m *mixed) ofCline(p messages.Pieces) messages.Pieces {
	if len(m.b.Entries) == 0 && len(p.Blocks) > 0 {
		text, _ := p.Blocks[0].(content.Text)
		m.cline.known = m.cline.begins(text.Text)
	}
	if !m.cline.known {
		return p
	}
	return m.cline.results(p)
}

// learn notices features that only one of the providers has. Plain text with the roles user and assistant fits both.
func (m *mixed) learn(o ordered.Object) {
	// Only OpenAI has calls outside of the content, and messages of these roles in the list.
	role := o.Text("role")
	if o.Has("tool_calls") || o.Has("function_call") || role == "tool" || role == "system" || role == "developer" ||
		role == "function" {
		m.openAI = true
	}
	list, _ := ordered.Elements(o.Raw("content"))
	for _, raw := range list {
		kind := ordered.Of(raw).Text("type")
		m.anthropic = m.anthropic || kind != content.KindText && anthropic.Form.Part(kind) != nil
		m.openAI = m.openAI || kind == "image_url" || kind == "input_audio"
	}
}

// metadata collects timestamp, model and usage from the places where recorders keep them. "role" keeps roles that a
// history has no speaker for.
func (m *mixed) metadata(o ordered.Object) []byte {
	var meta ordered.Builder
	// An agent put instructions into the middle on purpose, and a strategy must not remove them.
	if role := o.Text("role"); !slices.Contains([]string{"user", "assistant", "tool", "function"}, role) {
		meta.Text("role", role)
		meta.Flag("pinned", messages.Instruction(role))
	}
	response := o.Object("extra").Object("response") // mini-swe-agent keeps the provider's answer there
	// Cline has "ts" and "modelInfo", mini-swe-agent has everything in "extra".
	meta.Raw("timestamp", ordered.First(o.Raw("timestamp"), o.Raw("ts"), o.Object("extra").Raw("timestamp")))
	meta.Raw("model", ordered.First(o.Raw("model"), o.Object("modelInfo").Raw("id"),
		o.Object("modelInfo").Raw("modelId"), response.Raw("model")))
	meta.Raw("usage", ordered.First(o.Raw("usage"), o.Raw("metrics"), response.Raw("usage")))
	return meta.JSON()
}

// extra keeps fields of a provider's message that an entry has no place for. In a tool's message "name" is the tool.
func (m *mixed) extra(o ordered.Object) content.Fields {
	var out []content.Field
	for _, name := range []string{"name", "refusal"} {
		if value := o.Copy(name); value != nil && o.Text("role") != "tool" && o.Text("role") != "function" {
			out = append(out, content.Field{Name: name, Value: value})
		}
	}
	return content.FieldsOf(out...)
}

// assistant returns the blocks of an answer: thoughts, then text (body), then calls. Calls of the old function_call
// form have no id; they get one, which the next result without an id answers.
func (m *mixed) assistant(line int, o ordered.Object, body []content.Block) []content.Block {
	blocks := []content.Block{}
	if thought := o.Text("reasoning_content"); thought != "" {
		blocks = append(blocks, content.Thinking{Thought: thought})
	}
	calls := m.b.calls(line, o.Raw("tool_calls"))
	// The form that OpenAI used before tool calls; an answer has at most one.
	if call := o.Object("function_call"); call != nil {
		m.made++
		id := fmt.Sprintf("function_%d", m.made)
		m.legacy = append(m.legacy, id)
		parameters, _ := messages.Arguments(call.Raw("arguments"))
		calls = append(calls, content.ToolCall{ID: id, Name: call.Text("name"), Parameters: parameters})
	}
	// Providers refuse an empty text block when it is sent back.
	if text, ok := rawjson.Text(o.Raw("content")); ok && text == "" && len(calls)+len(blocks) > 0 {
		body = nil // next to calls, recorders write "" where the API has null
	}
	return append(append(blocks, body...), calls...)
}

// tool reads a tool's result into c, which has the metadata. In the old function form it has no id and answers the
// oldest open call.
func (m *mixed) tool(line int, o ordered.Object, c content.Content) {
	r := content.ToolResponse{CallID: o.Text("tool_call_id"), ToolName: o.Text("name")}
	if r.CallID == "" && len(m.legacy) > 0 {
		r.CallID, m.legacy = m.legacy[0], m.legacy[1:]
	}
	c.Speaker = content.Tool
	c.Blocks = messages.WithResult(r, o.Raw("content"), media)
	m.b.Add(line, c)
}

// system reads a system prompt outside of the messages: Anthropic's "system", or Cline's "system_prompt".
func (m *mixed) system(line int, top ordered.Object) {
	for _, name := range []string{"system", "system_prompt"} {
		raw := top.Raw(name)
		if k := ordered.Kind(raw); k != '"' && k != '[' {
			continue
		}
		m.anthropic = m.anthropic || name == "system"
		m.b.System = append(m.b.System, m.b.systemBlocks(line, raw)...)
	}
}

// answer reads the provider's response from a log of one request, as OpenHands writes it: messages is the request, and
// the response is the last message of the conversation. Only the first choice counts; agents continue with that one.
func (m *mixed) answer(d *document) {
	response := d.top.Object("response")
	choices, _ := ordered.Elements(response.Raw("choices"))
	if len(choices) == 0 {
		return
	}
	message := ordered.Of(choices[0]).Object("message")
	if message == nil {
		return
	}
	line := d.lineAt(d.at("response"))
	m.b.remark(line, len(m.b.Entries), "the provider's response is read as the last message")
	m.answered = true
	// Behind the message's own fields: a lookup takes the first of a name, so a role of its own wins.
	message = append(
		slices.Clone(message), ordered.Field{Name: "usage", Value: response.Raw("usage")},
		ordered.Field{Name: "role", Value: []byte(`"assistant"`)},
	)
	m.message(line, message)
}

// head keeps the tool schemas and the session's id, and notes the other fields of the document.
func (m *mixed) head(top ordered.Object, list string) {
	b := m.b
	b.t.Tools = top.Copy("tools")
	b.t.ID = cmp.Or(top.Text("sessionId"), top.Text("id"))
	b.otherFields(top, func(name string) bool {
		return name == list || name == "response" && m.answered ||
			slices.Contains([]string{"tools", "system", "system_prompt", "sessionId", "id"}, name)
	})
}

// end sets the format. A file with features of both providers, or of neither, is reported as OpenAI chat, the more
// common one.
func (m *mixed) end() error {
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
