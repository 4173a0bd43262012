package transcript

import (
	"bytes"
	"cmp"

	"github.com/thresh-dev/thresh/sdk/content"
	"github.com/thresh-dev/thresh/sdk/content/rawjson"
)

// geminiLines reads the chats of Gemini CLI from version 0.40: a first line about the session, then messages.
//
//	{"sessionId": "s1", "projectHash": "…", "startTime": "…"}
//	{"id": "m2", "type": "gemini", "content": "", "toolCalls": [{"id": "c1", "status": "executing", …}]}
//	{"$rewindTo": "m2"}
//	{"$set": {"messages": […]}}
//
// A message is written again whenever it changes: the last state counts. A "$rewindTo" takes back a message and all
// behind it, and a "$set" with messages replaces the context, which is a compression unless it only repeats or shortens
// what is there. "$set" of other fields is bookkeeping. The form was learnt from chats recorded with the agent.
type geminiLines struct {
	b        *builder
	messages []geminiLine
	at       map[string]int // by id
}

// geminiLine is the last state of a message. boundary marks the first one of a context that replaced another.
type geminiLine struct {
	line     int
	id       string
	raw      []byte
	boundary bool
}

func isGeminiHead(o object) bool {
	return o.has("sessionId") && o.has("projectHash") && !o.has("messages")
}

func newGeminiLines(b *builder) lineReader { return &geminiLines{b: b, at: map[string]int{}} }

func (g *geminiLines) record(r record) error {
	switch set := r.object.object("$set"); {
	case isGeminiHead(r.object):
		g.b.t.ID = cmp.Or(g.b.t.ID, r.text("sessionId"))
	case set != nil:
		if list, ok := elements(set.raw("messages")); ok {
			g.replace(r.line, list)
		}
	case r.has("$rewindTo"):
		// An unknown message was taken back already.
		if i, ok := g.at[r.text("$rewindTo")]; ok {
			g.cut(i)
		}
	case isGeminiType(r.text("type")):
		g.put(r.line, r.whole, false)
	default:
		g.b.unknown(r.line, "record of an unknown form", r.whole)
	}
	return nil
}

// put adds a message, or writes it again. With boundary it is the first of a new context, and never the new state of an
// old message.
func (g *geminiLines) put(line int, raw []byte, boundary bool) {
	m := geminiLine{line: line, id: asObject(raw).text("id"), raw: bytes.Clone(raw), boundary: boundary}
	if i, ok := g.at[m.id]; ok && m.id != "" && !boundary {
		m.boundary, m.line = g.messages[i].boundary, g.messages[i].line
		g.messages[i] = m
		return
	}
	// Messages without an id share the place of "", which put never looks up.
	g.at[m.id] = len(g.messages)
	g.messages = append(g.messages, m)
}

func (g *geminiLines) cut(from int) {
	for _, m := range g.messages[from:] {
		delete(g.at, m.id)
	}
	g.messages = g.messages[:from]
}

// replace reads a new context. If it is what there was, or the beginning of it, nothing was compacted.
func (g *geminiLines) replace(line int, list [][]byte) {
	same := len(list) <= len(g.messages)
	for i, raw := range list {
		// By ids alone: a message that is written again in the list may have changed.
		same = same && g.messages[i].id == asObject(raw).text("id")
	}
	compacted := !same && len(g.messages) > 0
	if same {
		g.cut(len(list))
	}
	for i, raw := range list {
		if !same {
			g.put(line, raw, compacted && i == 0)
		}
	}
}

func (g *geminiLines) end() error {
	for _, m := range g.messages {
		// As Gemini CLI calls it. [Boundary.Replaces] is true for every kind but a microcompaction.
		if m.boundary {
			g.b.boundary("compression", nil)
		}
		g.b.geminiRecord(m.line, m.raw)
	}
	return nil
}

// isGeminiStream reports whether a record is an event of "gemini --output-format stream-json". Its types are words that
// others use too.
func isGeminiStream(t string, o object) bool {
	switch t {
	case "init":
		return o.has("session_id") && o.has("model")
	case "tool_use":
		return o.has("tool_name")
	case "tool_result":
		return o.has("tool_id")
	case "error":
		return o.has("severity") && o.has("message")
	case "result":
		return o.has("status") && (o.has("stats") || o.has("error"))
	case "message":
		// Others have messages of this type too, with more in them.
		_, text := rawjson.Text(o.raw("content"))
		return text && o.has("role") && o.has("timestamp") &&
			len(o.but("type", "timestamp", "role", "content", "delta", "error")) == 0
	}
	return false
}

// geminiStream reads what Gemini CLI prints with --output-format stream-json. Text arrives in pieces.
//
//	{"type": "init", "session_id": "s1", "model": "gemini-2.5-pro"}
//	{"type": "message", "role": "assistant", "content": "I ", "delta": true}
//	{"type": "tool_use", "tool_id": "c1", "tool_name": "read_file", "parameters": {…}}
//	{"type": "tool_result", "tool_id": "c1", "status": "success", "output": "…"}
//	{"type": "result", "status": "success", "stats": {…}}
//
// No event has thoughts or the usage of one request. The counts in "result" are for the whole run and are left out.
type geminiStream struct {
	speech
	// Of "init", as raw JSON, for the metadata of each answer.
	model []byte
}

func (g *geminiStream) record(r record) error {
	meta := stamped(r.raw("timestamp"))
	switch t := r.text("type"); t {
	case "init":
		g.b.t.ID, g.model = cmp.Or(g.b.t.ID, r.text("session_id")), r.copyOf("model")
	case "message":
		g.b.unread(r.line, "a message", r.object, nameIn("type", "timestamp", "role", "content", "delta", "error"))
		g.message(r, meta)
	case "tool_use":
		g.b.unread(r.line, "a tool_use", r.object, nameIn("type", "timestamp", "tool_name", "tool_id", "parameters"))
		meta.raw("model", g.model)
		g.say(r.line, meta, content.ToolCall{ID: r.text("tool_id"), Name: r.text("tool_name"),
			Parameters: r.copyOf("parameters")})
	case "tool_result":
		g.b.unread(r.line, "a tool_result", r.object,
			nameIn("type", "timestamp", "tool_id", "status", "output", "error"))
		response := content.ToolResponse{CallID: r.text("tool_id"), Result: r.copyOf("output")}
		if r.text("status") == "error" {
			response.Error = cmp.Or(r.object.object("error").text("message"), flaggedError)
			response.Result = firstOf(response.Result, content.String(response.Error))
		}
		g.answer(r.line, meta, response)
	case "error", "result":
		g.b.aside(r.line, "event of type "+t)
	default:
		g.b.unknown(r.line, "event of the unknown type "+clip([]byte(t)), r.whole)
	}
	return nil
}

// message adds text. A piece of the model's text continues the piece before it.
func (g *geminiStream) message(r record, meta metadata) {
	text := content.Text{Text: r.text("content")}
	if r.text("role") != roleAssistant {
		g.ask(r.line, meta, text)
		return
	}
	// Only the text block at the end grows. A call in between ends it, and the next piece begins another.
	if g.ai >= 0 && r.isTrue("delta") {
		blocks := g.b.t.Entries[g.ai].Blocks
		if before, ok := blocks[len(blocks)-1].(content.Text); ok {
			before.Text += text.Text
			blocks[len(blocks)-1] = before
			return
		}
	}
	meta.raw("model", g.model)
	g.say(r.line, meta, text)
}
