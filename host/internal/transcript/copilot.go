package transcript

import (
	"cmp"
	"strings"

	"github.com/thresh-dev/thresh/sdk/content"
)

// isCopilotEvent reports whether a record of type t is an event of Copilot CLI. The types are two words with a dot, and
// the content is in "data".
func isCopilotEvent(t string, o object) bool {
	return o.has("data") && (strings.HasPrefix(t, "session.") || strings.Contains(t, ".message"))
}

// isCopilotBookkeeping reports whether an event holds nothing of the conversation: "tool.execution_start" repeats the
// call.
func isCopilotBookkeeping(t string) bool {
	for _, group := range []string{"session.", "hook.", "permission.", "assistant.turn_"} {
		if strings.HasPrefix(t, group) {
			return true
		}
	}
	switch t {
	case "tool.execution_start", "tool.user_requested", "abort", "assistant.intent",
		"assistant.reasoning", "assistant.usage", "assistant.message_delta", "assistant.reasoning_delta",
		"user_input.requested", "user_input.completed", "subagent.started", "subagent.completed", "skill.invoked":
		return true
	}
	return false
}

var (
	isCopilotUserField = nameIn("content", "transformedContent", "attachments", "supportedNativeDocumentMimeTypes",
		"interactionId", "parentAgentTaskId", "source", "agentMode")
	isCopilotAnswerField = nameIn("content", "toolRequests", "reasoningText", "reasoningOpaque", "model", "messageId",
		"interactionId", "turnId", "outputTokens", "requestId", "serviceRequestId", "apiCallId", "parentToolCallId",
		"encryptedContent", "phase")
	isCopilotResultField = nameIn("toolCallId", "success", "result", "error", "model", "interactionId", "turnId",
		"toolTelemetry", "isUserRequested", "parentToolCallId")
)

// copilot reads the events of a session of Copilot CLI.
//
//	{"type": "user.message", "data": {"content": "go", "transformedContent": "<date…> go"}, "timestamp": "…"}
//	{"type": "assistant.message", "data": {"content": "", "model": "m", "reasoningOpaque": "…",
//	 "toolRequests": [{"toolCallId": "c1", "name": "view", "arguments": {…}}]}}
//	{"type": "tool.execution_complete", "data": {"toolCallId": "c1", "success": true,
//	 "result": {"content": "…", "detailedContent": "…"}}}
//
// The system prompt is recorded whole. Left out are hooks, permissions, deltas, which the whole events repeat, and
// sub-agents. The tokens of an answer are not read: a usage needs the prompt's too. The form was learnt from a
// published session.
type copilot struct{ speech }

func (c *copilot) record(r record) error {
	data, b := r.object.object("data"), c.b
	meta := stamped(r.raw("timestamp"))
	// A sub-agent's messages name the call that started it, of which the main model saw only the result. Checked first:
	// their events have the types of the main conversation.
	if data.has("parentToolCallId") {
		b.tally.routine(r.line, -1, "event of a sub-agent left out")
		return nil
	}
	switch t := r.text("type"); {
	case t == "session.start":
		b.t.ID = cmp.Or(b.t.ID, data.text("sessionId"))
		b.t.workedIn(data.object("context").text("cwd"))
	case t == "system.message":
		b.instructions(roleSystem, one(content.Text{Text: data.text("content")}), content.Fields{})
	case t == "user.message":
		b.unread(r.line, "a user.message", data, isCopilotUserField)
		// What was sent has the date and the like in front of what was typed.
		c.ask(r.line, meta, content.Text{Text: cmp.Or(data.text("transformedContent"), data.text("content"))})
	case t == "system.notification":
		// Sent to the model though no person typed it.
		meta.flag("isMeta", true)
		c.ask(r.line, meta, content.Text{Text: data.text("content")})
	case t == "assistant.message":
		b.unread(r.line, "an assistant.message", data, isCopilotAnswerField)
		meta.raw("model", data.raw("model"))
		c.pause() // each is a separate message
		c.say(r.line, meta, copilotAnswer(data)...)
	case t == "tool.execution_complete":
		b.unread(r.line, "a tool.execution_complete", data, isCopilotResultField)
		c.answer(r.line, meta, copilotResult(data))
	case isCopilotBookkeeping(t):
		// The group only, so a file with many kinds of events has few notes.
		group, _, _ := strings.Cut(t, ".")
		b.tally.routine(r.line, -1, "event of type "+group+".…, which is not part of the conversation, left out")
	default:
		b.unknown(r.line, "event of the unknown type "+clip([]byte(t)), r.whole)
	}
	return nil
}

// copilotAnswer returns the blocks of the model's message. The opaque reasoning is sent back to the provider.
func copilotAnswer(data object) []content.Block {
	blocks := []content.Block{}
	if data.has("reasoningText") || data.has("reasoningOpaque") {
		thought := content.Thinking{Thought: data.text("reasoningText")}
		if opaque := data.copyOf("reasoningOpaque"); opaque != nil {
			// Under the name that Codex's ciphertext has here: one place counts and writes it.
			thought.Extra = content.FieldsOf(content.Field{Name: "encryptedContent", Value: opaque})
		}
		blocks = append(blocks, thought)
	}
	if text := data.text("content"); text != "" {
		blocks = append(blocks, content.Text{Text: text})
	}
	requests, _ := elements(data.raw("toolRequests"))
	for _, raw := range requests {
		call := asObject(raw)
		blocks = append(blocks, content.ToolCall{ID: call.text("toolCallId"), Name: call.text("name"),
			Parameters: call.copyOf("arguments")})
	}
	return blocks
}

// copilotResult returns a tool's result. detailedContent is for the screen. A failure has only a message.
func copilotResult(data object) content.Block {
	r := content.ToolResponse{CallID: data.text("toolCallId"), Result: data.object("result").copyOf("content")}
	if !data.isTrue("success") {
		r.Error = cmp.Or(data.object("error").text("message"), flaggedError)
		if r.Result == nil {
			r.Result = content.String(r.Error)
		}
	}
	return r
}
