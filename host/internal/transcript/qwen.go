package transcript

import (
	"bytes"
	"cmp"

	"github.com/thresh-dev/thresh/sdk/content"
)

// isQwenRecord reports whether a record of type t is Qwen Code's: like Claude Code's, with a message in Gemini's form.
func isQwenRecord(t string, o object) bool {
	switch t {
	case "user", "assistant", "tool_result":
		return o.object("message").has("parts")
	// Claude Code has records of type system too, without a payload of this name.
	case "system":
		return o.has("systemPayload")
	}
	return false
}

// isQwenField reports whether a field is read, or holds nothing of the conversation: where and how the session ran, and
// copies of results for the screen.
var isQwenField = nameIn("uuid", "parentUuid", "sessionId", "timestamp", "type", "subtype", "cwd", "version",
	"gitBranch", "message", "usageMetadata", "model", "contextWindowSize", "toolCallResult", "systemPayload",
	"promptId", "daemonPromptId", "provenance", "goalContext", "backgroundTurn", "deliveredTurn", "forkedFrom",
	"agentId", "agentName", "agentColor", "isSidechain", "agentRunId", "agentRound", "externalInputKind")

// qwen reads a session of Qwen Code: records like Claude Code's, with messages of Gemini's API.
//
//	{"uuid": "2", "sessionId": "s1", "type": "assistant", "cwd": "/w", "model": "qwen3", "contextWindowSize": 131072,
//	 "usageMetadata": {"promptTokenCount": 100, "cachedContentTokenCount": 40, "candidatesTokenCount": 7},
//	 "message": {"role": "model", "parts": [{"functionCall": {"name": "read_file", "args": {…}}}]}}
//	{"uuid": "3", "type": "tool_result", "message": {"role": "user", "parts": [{"functionResponse": {"name":
//	 "read_file", "response": {"output": "…"}}}]}, "toolCallResult": {…}}
//	{"uuid": "4", "type": "system", "subtype": "chat_compression", "systemPayload": {"compressedHistory": […]}}
//
// Left out are other records of the type system, which are telemetry and commands, copies of results for the screen,
// and sub-agents. Calls without an id, which Gemini's API allows, get one. The form was learnt from a session recorded
// with the agent.
type qwen struct {
	speech
	open map[string][]string // made ids of unanswered calls, by tool
	made int
}

func newQwen(b *builder) lineReader { return &qwen{speech: newSpeech(b), open: map[string][]string{}} }

func (q *qwen) record(r record) error {
	b := q.b
	b.t.ID = cmp.Or(b.t.ID, r.text("sessionId"))
	b.t.workedIn(r.text("cwd"))
	// A sub-agent has a context of its own; its records are among the session's.
	if r.isTrue("isSidechain") {
		b.tally.routine(r.line, -1, "record of a sub-agent left out")
		return nil
	}
	b.unread(r.line, "a record", r.object, isQwenField)
	meta := stamped(r.raw("timestamp"))
	parts := r.object.object("message").raw("parts")
	switch t := r.text("type"); t {
	case "user":
		q.ask(r.line, meta, b.geminiParts(r.line, parts, q)...)
	case "assistant":
		meta.raw("model", r.raw("model"))
		meta.raw("usage", r.raw("usageMetadata"))
		b.t.window(r.raw("contextWindowSize"))
		// One record is one answer: consecutive records of the model are two requests.
		q.pause()
		q.say(r.line, meta, b.geminiParts(r.line, parts, q)...)
	case "tool_result":
		q.answer(r.line, meta, b.geminiParts(r.line, parts, q)...)
	case "system":
		q.system(r)
	default:
		b.unknown(r.line, "record of the unknown type "+clip([]byte(t)), r.whole)
	}
	return nil
}

// system reads events. Only a compression changes the conversation: its record holds the new context.
func (q *qwen) system(r record) {
	payload := r.object.object("systemPayload")
	// The list is what the next request had instead of everything before.
	list, ok := elements(payload.raw("compressedHistory"))
	if r.text("subtype") != "chat_compression" || !ok {
		q.b.aside(r.line, "record of type system")
		return
	}
	q.pause()
	q.b.boundary("chat_compression", payload.copyOf("info"))
	for _, raw := range list {
		message := asObject(raw)
		meta := stamped(r.raw("timestamp"))
		meta.flag("fromCompaction", true)
		blocks := q.b.geminiParts(r.line, message.raw("parts"), q)
		switch {
		case message.text("role") == "model":
			q.pause()
			q.say(r.line, meta, blocks...)
		case len(blocks) > 0 && blocks[0].Kind() == content.KindToolResponse:
			q.answer(r.line, meta, blocks...)
		default:
			q.ask(r.line, meta, blocks...)
		}
	}
	q.pause()
}

// geminiParts reads parts of the Gemini API. ids gives calls and responses without an id one that pairs them;
// [builder.geminiContent] has no calls.
func (b *builder) geminiParts(line int, raw []byte, ids *qwen) []content.Block {
	list, ok := elements(raw)
	if !ok {
		return b.geminiContent(line, raw)
	}
	// Not nil: an entry without parts is recorded as one without blocks.
	blocks := []content.Block{}
	for _, raw := range list {
		o := asObject(raw)
		call, response := o.object("functionCall"), o.object("functionResponse")
		switch {
		case call != nil:
			blocks = append(blocks, content.ToolCall{ID: ids.callID(call), Name: call.text("name"),
				Parameters: call.copyOf("args")})
		case response != nil:
			r := content.ToolResponse{CallID: ids.answerID(response), ToolName: response.text("name"),
				Result: response.copyOf("response")}
			// The API has no flag for a failed call; Qwen Code puts the message into the response.
			r.Error = asObject(r.Result).text("error")
			blocks = append(blocks, r)
		case o.isTrue("thought"):
			blocks = append(blocks, content.Thinking{Thought: o.text("text"), Signature: o.text("thoughtSignature")})
		default:
			blocks = append(blocks, b.geminiContent(line, list1(raw))...)
		}
	}
	return blocks
}

func list1(raw []byte) []byte { return bytes.Join([][]byte{{'['}, raw, {']'}}, nil) }

// callID returns the id of a call; the API allows none.
func (q *qwen) callID(call object) string {
	if id := call.text("id"); id != "" {
		return id
	}
	id, name := madeID(&q.made), call.text("name")
	q.open[name] = append(q.open[name], id)
	return id
}

// answerID returns the id of the call that a response answers: without one, the oldest open call of that tool.
func (q *qwen) answerID(response object) string {
	name := response.text("name")
	if id := response.text("id"); id != "" || len(q.open[name]) == 0 {
		return id
	}
	id := q.open[name][0]
	q.open[name] = q.open[name][1:]
	return id
}
