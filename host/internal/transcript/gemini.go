package transcript

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

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
	b.t.ID = d.top.text("sessionId")
	b.otherFields(d.top, isGeminiTop)
	return d.each("messages", func(i, line int, raw []byte) error {
		if kind(raw) != '{' {
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
	m := asObject(raw)
	switch t := m.text("type"); t {
	case "user":
		b.unread(line, "a user message", m, isGeminiField)
		meta := stamped(m.raw("timestamp"))
		// A message that only repeats results has nothing left; a really empty one is kept as an entry.
		if p := b.geminiUser(line, m.raw("content")); len(p.blocks) > 0 || !isGeminiAnswers(m.raw("content")) {
			b.userEntries(line, p, content.Content{Metadata: meta.json()})
		}
	case "gemini":
		b.unread(line, "a gemini message", m, isGeminiAnswerField)
		b.geminiMessage(line, m)
	case "info", "error", "warning":
		b.tally.routine(line, -1, "message of type "+t+", which the model never saw, left out")
	default:
		b.unknown(line, "message of the unknown type "+clip([]byte(t)), raw)
	}
}

func isGeminiAnswers(raw []byte) bool { return firstObject(raw).has("functionResponse") }

// geminiUser reads the content of a user's message. Newer versions repeat there what tools returned.
func (b *builder) geminiUser(line int, raw []byte) (p pieces) {
	if !isGeminiAnswers(raw) {
		p.add(false, b.geminiContent(line, raw)...)
		return p
	}
	parts, _ := elements(raw)
	for _, part := range parts {
		if r := asObject(part).object("functionResponse"); r == nil {
			p.add(false, b.geminiContent(line, list1(part))...)
		} else if !b.answered(r.text("id")) {
			p.add(true, content.ToolResponse{CallID: r.text("id"), ToolName: r.text("name"),
				Result: r.copyOf("response"), Error: r.object("response").text("error")})
		}
	}
	return p
}

// answered reports whether the last entry holds a response to the call id. Results are recorded twice directly after
// each other, so no earlier entry matters.
func (b *builder) answered(id string) bool {
	last := b.t.Entries[max(len(b.t.Entries)-1, 0):]
	return len(last) > 0 && slices.ContainsFunc(last[0].Blocks, func(block content.Block) bool {
		r, ok := block.(content.ToolResponse)
		return ok && r.CallID == id
	})
}

// geminiMessage reads a message of the model: thoughts, then text, then calls. The usage is the request's; its prompt
// is tokens.input. The tool's entry has only the timestamp, so usage is not counted twice.
func (b *builder) geminiMessage(line int, m object) {
	var meta metadata
	meta.raw("timestamp", m.raw("timestamp"))
	// Before model and usage are set: this is the metadata of the tool's entry.
	stamp := meta.json()
	meta.raw("model", m.raw("model"))
	meta.raw("usage", m.raw("tokens"))
	// Not nil: an entry without blocks is well-formed, one whose blocks are missing is not.
	said := []content.Block{}
	thoughts, _ := elements(m.raw("thoughts"))
	for _, raw := range thoughts {
		thought := asObject(raw)
		said = append(said, content.Thinking{
			Thought: strings.TrimPrefix(thought.text("subject")+": "+thought.text("description"), ": "),
		})
	}
	if text := m.raw("content"); !rawjson.IsNull(text) && string(text) != `""` {
		said = append(said, b.geminiContent(line, text)...)
	}
	var answers []content.Block
	calls, _ := elements(m.raw("toolCalls"))
	for _, raw := range calls {
		call := asObject(raw)
		if call == nil {
			said = append(said, content.Opaque{JSON: bytes.Clone(raw)})
			continue
		}
		b.unread(line, "a call", call, isGeminiCallField)
		said = append(
			said, content.ToolCall{ID: call.text("id"), Name: call.text("name"), Parameters: call.copyOf("args")},
		)
		answers = append(answers, geminiAnswer(call)...)
	}
	// Before the responses, since the pairing is by position.
	b.add(line, content.Content{Speaker: content.AI, Blocks: said, Metadata: meta.json()})
	if len(answers) > 0 {
		b.add(line, content.Content{Speaker: content.Tool, Blocks: answers, Metadata: stamp})
	}
}

// geminiAnswer reads the response to a call; nil if the call was never run. One functionResponse is unwrapped; several
// become a JSON array. Parts that are not understood are kept inside it.
func geminiAnswer(call object) []content.Block {
	r := content.ToolResponse{CallID: call.text("id"), ToolName: call.text("name")}
	parts, ok := elements(call.raw("result"))
	var responses []json.RawMessage
	var media []content.Block
	for _, raw := range parts {
		part := asObject(raw)
		if m, ok := geminiMedia(part); ok {
			media = append(media, m)
		} else if response := part.object("functionResponse").copyOf("response"); response != nil {
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
		r.Result = call.copyOf("result")
	}
	switch status := call.text("status"); status {
	// Older versions have no status.
	case "", "success":
	case "error", "cancelled":
		// The message is in the result. A cancelled call may have none, and a failed response needs some text.
		if r.Error = asObject(r.Result).text("error"); r.Error == "" {
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
	return append(one(r), media...)
}

// geminiContent reads a message's content: a string, or a list of parts. Other values and unknown parts are carried
// unchanged. The result is never nil.
func (b *builder) geminiContent(line int, raw []byte) []content.Block {
	if text, ok := rawjson.Text(raw); ok {
		return one(content.Text{Text: text})
	}
	blocks := []content.Block{}
	parts, ok := elements(raw)
	if !ok && !rawjson.IsNull(raw) {
		parts = [][]byte{raw}
	}
	for _, raw := range parts {
		part := asObject(raw)
		if text, ok := rawjson.Text(part.raw("text")); ok {
			blocks = append(blocks, content.Text{Text: text, Extra: part.without("text")})
		} else if m, ok := geminiMedia(part); ok {
			blocks = append(blocks, m)
		} else {
			blocks = append(blocks, content.Opaque{JSON: bytes.Clone(raw)})
		}
	}
	return blocks
}

func geminiMedia(part object) (content.Media, bool) {
	if data := part.object("inlineData"); data.has("data") {
		return content.Media{MimeType: data.text("mimeType"), Data: data.text("data"), Encoding: "base64"}, true
	}
	if file := part.object("fileData"); file.has("fileUri") {
		return content.Media{MimeType: file.text("mimeType"), Data: file.text("fileUri"), Encoding: "url"}, true
	}
	return content.Media{}, false
}
