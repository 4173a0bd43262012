package transcript

import (
	"bytes"
	"cmp"

	"github.com/thresh-dev/thresh/host/internal/provider/messages"
	"github.com/thresh-dev/thresh/host/internal/provider/ordered"
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

func isGeminiHead(o ordered.Object) bool {
	return o.Has("sessionId") && o.Has("projectHash") && !o.Has("messages")
}

func newGeminiLines(b *builder) lineReader { return &geminiLines{b: b, at: map[string]int{}} }

func (g *geminiLines) record(r record) error {
	switch set := r.Object.Object("$set"); {
	case isGeminiHead(r.Object):
		g.b.t.ID = cmp.Or(g.b.t.ID, r.Text("sessionId"))
	case set != nil:
		if list, ok := ordered.Elements(set.Raw("messages")); ok {
			g.replace(r.line, list)
		}
	case r.Has("$rewindTo"):
		// An unknown message was taken back already.
		if i, ok := g.at[r.Text("$rewindTo")]; ok {
			g.cut(i)
		}
	case isGeminiType(r.Text("type")):
		g.put(r.line, r.whole, false)
	default:
		g.b.unknown(r.line, "record of an unknown form", r.whole)
	}
	return nil
}

// put adds a message, or writes it again. With boundary it is the first of a new context, and never the new state of an
// old message.
func (g *geminiLines) put(line int, raw []byte, boundary bool) {
	m := geminiLine{line: line, id: ordered.Of(raw).Text("id"), raw: bytes.Clone(raw), boundary: boundary}
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
		same = same && g.messages[i].id == ordered.Of(raw).Text("id")
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
func isGeminiStream(t string, o ordered.Object) bool {
	switch t {
	case "init":
		return o.Has("session_id") && o.Has("model")
	case "tool_use":
		return o.Has("tool_name")
	case "tool_result":
		return o.Has("tool_id")
	case "error":
		return o.Has("severity") && o.Has("message")
	case "result":
		return o.Has("status") && (o.Has("stats") || o.Has("error"))
	case "message":
		// Others have messages of this type too, with more in them.
		_, text := rawjson.Text(o.Raw("content"))
		return text && o.Has("role") && o.Has("timestamp") &&
			len(o.But("type", "timestamp", "role", "content", "delta", "error")) == 0
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
	meta := stamped(r.Raw("timestamp"))
	switch t := r.Text("type"); t {
	case "init":
		g.b.t.ID, g.model = cmp.Or(g.b.t.ID, r.Text("session_id")), r.Copy("model")
	case "message":
		g.b.unread(r.line, "a message", r.Object, nameIn("type", "timestamp", "role", "content", "delta", "error"))
		g.message(r, meta)
	case "tool_use":
		g.b.unread(r.line, "a tool_use", r.Object, nameIn("type", "timestamp", "tool_name", "tool_id", "parameters"))
		meta.Raw("model", g.model)
		g.Say(r.line, meta.JSON(), content.ToolCall{ID: r.Text("tool_id"), Name: r.Text("tool_name"),
			Parameters: r.Copy("parameters")})
	case "tool_result":
		g.b.unread(r.line, "a tool_result", r.Object,
			nameIn("type", "timestamp", "tool_id", "status", "output", "error"))
		response := content.ToolResponse{CallID: r.Text("tool_id"), Result: r.Copy("output")}
		if r.Text("status") == "error" {
			response.Error = cmp.Or(r.Object.Object("error").Text("message"), messages.FlaggedError)
			response.Result = ordered.First(response.Result, content.String(response.Error))
		}
		g.Answer(r.line, meta.JSON(), response)
	case "error", "result":
		g.b.aside(r.line, "event of type "+t)
	default:
		g.b.unknown(r.line, "event of the unknown type "+ordered.Clip([]byte(t)), r.whole)
	}
	return nil
}

// message adds text. A piece of the model's text continues the piece before it.
func (g *geminiStream) message(r record, meta ordered.Builder) {
	text := content.Text{Text: r.Text("content")}
	if r.Text("role") != messages.Assistant {
		g.Ask(r.line, meta.JSON(), text)
		return
	}
	// Only the text block at the end grows. A call in between ends it, and the next piece begins another.
	if g.AI >= 0 && r.True("delta") {
		blocks := g.b.Entries[g.AI].Blocks
		if before, ok := blocks[len(blocks)-1].(content.Text); ok {
			before.Text += text.Text
			blocks[len(blocks)-1] = before
			return
		}
	}
	meta.Raw("model", g.model)
	g.Say(r.line, meta.JSON(), text)
}
