package transcript

import (
	"cmp"

	"github.com/thresh-dev/thresh/host/internal/provider/gemini"
	"github.com/thresh-dev/thresh/host/internal/provider/ordered"
	"github.com/thresh-dev/thresh/sdk/content"
)

// isQwenRecord reports whether a record of type t is Qwen Code's: like Claude Code's, with a message in Gemini's form.
func isQwenRecord(t string, o ordered.Object) bool {
	switch t {
	case "user", "assistant", "tool_result":
		return o.Object("message").Has("parts")
	// Claude Code has records of type system too, without a payload of this name.
	case "system":
		return o.Has("systemPayload")
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
	ids gemini.IDs
}

func newQwen(b *builder) lineReader { return &qwen{speech: newSpeech(b)} }

func (q *qwen) record(r record) error {
	b := q.b
	b.t.ID = cmp.Or(b.t.ID, r.Text("sessionId"))
	b.t.workedIn(r.Text("cwd"))
	// A sub-agent has a context of its own; its records are among the session's.
	if r.True("isSidechain") {
		b.tally.Routine(r.line, -1, "record of a sub-agent left out")
		return nil
	}
	b.unread(r.line, "a record", r.Object, isQwenField)
	meta := stamped(r.Raw("timestamp"))
	parts := r.Object.Object("message").Raw("parts")
	switch t := r.Text("type"); t {
	case "user":
		q.Ask(r.line, meta.JSON(), q.ids.Blocks(parts)...)
	case "assistant":
		meta.Raw("model", r.Raw("model"))
		meta.Raw("usage", r.Raw("usageMetadata"))
		b.t.window(r.Raw("contextWindowSize"))
		// One record is one answer: consecutive records of the model are two requests.
		q.Pause()
		q.Say(r.line, meta.JSON(), q.ids.Blocks(parts)...)
	case "tool_result":
		q.Answer(r.line, meta.JSON(), q.ids.Blocks(parts)...)
	case "system":
		q.system(r)
	default:
		b.unknown(r.line, "record of the unknown type "+ordered.Clip([]byte(t)), r.whole)
	}
	return nil
}

// system reads events. Only a compression changes the conversation: its record holds the new context.
func (q *qwen) system(r record) {
	payload := r.Object.Object("systemPayload")
	// The list is what the next request had instead of everything before.
	list, ok := ordered.Elements(payload.Raw("compressedHistory"))
	if r.Text("subtype") != "chat_compression" || !ok {
		q.b.aside(r.line, "record of type system")
		return
	}
	q.Pause()
	q.b.boundary("chat_compression", payload.Copy("info"))
	for _, raw := range list {
		message := ordered.Of(raw)
		meta := stamped(r.Raw("timestamp"))
		meta.Flag("fromCompaction", true)
		blocks := q.ids.Blocks(message.Raw("parts"))
		switch {
		case message.Text("role") == "model":
			q.Pause()
			q.Say(r.line, meta.JSON(), blocks...)
		case len(blocks) > 0 && blocks[0].Kind() == content.KindToolResponse:
			q.Answer(r.line, meta.JSON(), blocks...)
		default:
			q.Ask(r.line, meta.JSON(), blocks...)
		}
	}
	q.Pause()
}
