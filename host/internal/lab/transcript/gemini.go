package transcript

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/host/internal/provider/gemini"
	"github.com/thresh-dev/thresh/host/internal/provider/messages"
	"github.com/thresh-dev/thresh/host/internal/provider/ordered"
	"github.com/thresh-dev/thresh/sdk/content"
	"github.com/thresh-dev/thresh/sdk/content/rawjson"
)

// isGeminiType reports whether t is a message type of Gemini CLI. The conversation is "user" and "gemini"; the others
// are never sent to the model.
var isGeminiType = nameIn("user", "gemini", "info", "error", "warning")

// isGeminiField reports whether a field of every message is known. displayContent is what the screen shows instead.
var isGeminiField = nameIn("id", "type", "timestamp", "content", "displayContent")

var isGeminiAnswerField = nameIn("id", "type", "timestamp", "content", "displayContent", "model", "tokens", "thoughts",
	"toolCalls")

// isGeminiCallField reports whether a field of a call is known: first those that are read, then those for the screen.
var isGeminiCallField = nameIn("id", "name", "args", "result", "status", "timestamp", "displayName", "description",
	"resultDisplay", "renderOutputAsMarkdown", "agentId")

// readGemini reads a chat of Gemini CLI. One message holds calls together with their results:
//
//	{"sessionId": "s1", "projectHash": "…", "messages": [
//	 {"id": "m1", "type": "user", "timestamp": "…", "content": "go"},
//	 {"id": "m2", "type": "gemini", "content": "I read", "thoughts": [{"subject": "…", "description": "…"}],
//	  "model": "gemini-2.5-pro", "tokens": {"input": 9, "output": 7, "cached": 3, "thoughts": 2},
//	  "toolCalls": [{"id": "c1", "name": "read_file", "args": {…}, "status": "success",
//	   "result": [{"functionResponse": {"id": "c1", "name": "read_file", "response": {"output": "…"}}}]}]}]}
//
// It becomes two entries, one of the model with the calls and one of the tool with the results, as providers and
// strategies expect. Gemini CLI rewrites its file as a whole, so it is always complete. The form was learnt from
// published chats and from chats recorded with the agent.
func readGemini(b *builder, d *document) error {
	b.t.Format = GeminiCLI
	b.t.ID = d.top.Text("sessionId")
	b.otherFields(d.top, isGeminiTop)
	return d.each("messages", func(i, line int, raw []byte) error {
		if ordered.Kind(raw) != '{' {
			return noObject(line, i, raw)
		}
		b.geminiRecord(line, raw)
		return nil
	})
}

// isGeminiTop reports whether a field of a chat is known; besides the messages, they hold no conversation.
var isGeminiTop = nameIn("sessionId", "projectHash", "startTime", "lastUpdated", "messages", "summary", "directories",
	"kind", "activeExtensionName")

func (b *builder) geminiRecord(line int, raw []byte) {
	m := ordered.Of(raw)
	switch t := m.Text("type"); t {
	case "user":
		b.unread(line, "a user message", m, isGeminiField)
		meta := stamped(m.Raw("timestamp"))
		// A message that only repeats results has nothing left; a really empty one is kept as an entry.
		if p := b.geminiUser(m.Raw("content")); len(p.Blocks) > 0 || !isGeminiAnswers(m.Raw("content")) {
			b.UserEntries(line, p, content.Content{Metadata: meta.JSON()})
		}
	case "gemini":
		b.unread(line, "a gemini message", m, isGeminiAnswerField)
		b.geminiMessage(line, m)
	case "info", "error", "warning":
		b.tally.Routine(line, -1, "message of type "+t+", which the model never saw, left out")
	default:
		b.unknown(line, "message of the unknown type "+ordered.Clip([]byte(t)), raw)
	}
}

func isGeminiAnswers(raw []byte) bool { return ordered.FirstObject(raw).Has("functionResponse") }

// geminiUser reads the content of a user's message. Newer versions repeat there what tools returned.
func (b *builder) geminiUser(raw []byte) (p messages.Pieces) {
	if !isGeminiAnswers(raw) {
		p.Add(false, gemini.Blocks(raw)...)
		return p
	}
	parts, _ := ordered.Elements(raw)
	for _, part := range parts {
		if r := ordered.Of(part).Object("functionResponse"); r == nil {
			p.Add(false, gemini.Blocks(ordered.List(part))...)
		} else if !b.answered(r.Text("id")) {
			p.Add(true, gemini.Response(r, r.Text("id")))
		}
	}
	return p
}

// answered reports whether the last entry holds a response to the call id. Results are recorded twice directly after
// each other, so no earlier entry matters.
func (b *builder) answered(id string) bool {
	last := b.Entries[max(len(b.Entries)-1, 0):]
	return len(last) > 0 && slices.ContainsFunc(last[0].Blocks, func(block content.Block) bool {
		r, ok := block.(content.ToolResponse)
		return ok && r.CallID == id
	})
}

// geminiMessage reads a message of the model: thoughts, then text, then calls. The usage is the request's; its prompt
// is tokens.input. The tool's entry has only the timestamp, so usage is not counted twice.
func (b *builder) geminiMessage(line int, m ordered.Object) {
	var meta ordered.Builder
	meta.Raw("timestamp", m.Raw("timestamp"))
	// Before model and usage are set: this is the metadata of the tool's entry.
	stamp := meta.JSON()
	meta.Raw("model", m.Raw("model"))
	meta.Raw("usage", m.Raw("tokens"))
	// Not nil: an entry without blocks is well-formed, one whose blocks are missing is not.
	said := []content.Block{}
	thoughts, _ := ordered.Elements(m.Raw("thoughts"))
	for _, raw := range thoughts {
		thought := ordered.Of(raw)
		said = append(said, content.Thinking{
			Thought: strings.TrimPrefix(thought.Text("subject")+": "+thought.Text("description"), ": "),
		})
	}
	if text := m.Raw("content"); !rawjson.IsNull(text) && string(text) != `""` {
		said = append(said, gemini.Blocks(text)...)
	}
	var answers []content.Block
	calls, _ := ordered.Elements(m.Raw("toolCalls"))
	for _, raw := range calls {
		call := ordered.Of(raw)
		if call == nil {
			said = append(said, content.Opaque{JSON: bytes.Clone(raw)})
			continue
		}
		b.unread(line, "a call", call, isGeminiCallField)
		said = append(
			said, content.ToolCall{ID: call.Text("id"), Name: call.Text("name"), Parameters: call.Copy("args")},
		)
		answers = append(answers, geminiAnswer(call)...)
	}
	// Before the responses, since the pairing is by position.
	b.Add(line, content.Content{Speaker: content.AI, Blocks: said, Metadata: meta.JSON()})
	if len(answers) > 0 {
		b.Add(line, content.Content{Speaker: content.Tool, Blocks: answers, Metadata: stamp})
	}
}

// geminiAnswer reads the response to a call; nil if the call was never run. One functionResponse is unwrapped; several
// become a JSON array. Parts that are not understood are kept inside it.
func geminiAnswer(call ordered.Object) []content.Block {
	r := content.ToolResponse{CallID: call.Text("id"), ToolName: call.Text("name")}
	parts, ok := ordered.Elements(call.Raw("result"))
	var responses []json.RawMessage
	var media []content.Block
	for _, raw := range parts {
		part := ordered.Of(raw)
		if m, ok := gemini.Media(part); ok {
			media = append(media, m)
		} else if response := part.Object("functionResponse").Copy("response"); response != nil {
			responses = append(responses, response)
		} else {
			responses = append(responses, bytes.Clone(raw))
		}
	}
	switch {
	case len(responses) == 1:
		r.Result = responses[0]
	case len(responses) > 1:
		r.Result, _ = json.Marshal(responses) // raw JSON always marshals
	case !ok:
		r.Result = call.Copy("result")
	}
	switch status := call.Text("status"); status {
	// Older versions have no status.
	case "", "success":
	case "error", "cancelled":
		// The message is in the result. A cancelled call may have none, and a failed response needs some text.
		if r.Error = ordered.Of(r.Result).Text("error"); r.Error == "" {
			r.Error = "status: " + status
		}
	default: // scheduled, executing, awaiting approval
		if r.Result == nil {
			return nil
		}
	}
	if r.Result == nil && r.Error == "" && len(media) == 0 {
		return nil
	}
	return append(messages.One(r), media...)
}
