package transcript

import (
	"cmp"
	"encoding/json"
	"strings"

	"github.com/thresh-dev/thresh/host/internal/provider/messages"
	"github.com/thresh-dev/thresh/host/internal/provider/ordered"
	"github.com/thresh-dev/thresh/sdk/content"
)

// isCopilotEvent reports whether a record of type t is an event of Copilot CLI. The types are two words with a dot, and
// the content is in "data".
func isCopilotEvent(t string, o ordered.Object) bool {
	return o.Has("data") && (strings.HasPrefix(t, "session.") || strings.Contains(t, ".message"))
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
// sub-agents. Of the usage it has the tokens of answers alone. Text that a tool takes by a grammar, such as a patch, is no
// JSON. The form was learnt from published sessions.
type copilot struct{ speech }

func (c *copilot) record(r record) error {
	data, b := r.Object.Object("data"), c.b
	meta := stamped(r.Raw("timestamp"))
	// A sub-agent's messages name the call that started it, of which the main model saw only the result. Checked first:
	// their events have the types of the main conversation.
	if data.Has("parentToolCallId") {
		b.tally.Routine(r.line, -1, "event of a sub-agent left out")
		return nil
	}
	switch t := r.Text("type"); {
	case t == "session.start":
		b.t.ID = cmp.Or(b.t.ID, data.Text("sessionId"))
		b.t.workedIn(data.Object("context").Text("cwd"))
	case t == "system.message":
		b.Instructions(messages.System, messages.One(content.Text{Text: data.Text("content")}), content.Fields{})
	case t == "user.message":
		b.unread(r.line, "a user.message", data, isCopilotUserField)
		// What was sent has the date and the like in front of what was typed.
		c.Ask(r.line, meta.JSON(), content.Text{Text: cmp.Or(data.Text("transformedContent"), data.Text("content"))})
	case t == "system.notification":
		// Sent to the model though no person typed it.
		meta.Flag("isMeta", true)
		c.Ask(r.line, meta.JSON(), content.Text{Text: data.Text("content")})
	case t == "assistant.message":
		b.unread(r.line, "an assistant.message", data, isCopilotAnswerField)
		meta.Raw("model", data.Raw("model"))
		if n := data.Raw("outputTokens"); n != nil {
			meta.Raw("usage", ordered.Object{{Name: "outputTokens", Value: n}}.JSON())
		}
		c.Pause() // each is a separate message
		c.Say(r.line, meta.JSON(), copilotAnswer(data)...)
	case t == "tool.execution_complete":
		b.unread(r.line, "a tool.execution_complete", data, isCopilotResultField)
		c.Answer(r.line, meta.JSON(), copilotResult(data))
	case isCopilotBookkeeping(t):
		// The group only, so a file with many kinds of events has few notes.
		group, _, _ := strings.Cut(t, ".")
		b.tally.Routine(r.line, -1, "event of type "+group+".…, which is not part of the conversation, left out")
	default:
		b.unknown(r.line, "event of the unknown type "+ordered.Clip([]byte(t)), r.whole)
	}
	return nil
}

// copilotAnswer returns the blocks of the model's message. The opaque reasoning is sent back to the provider.
func copilotAnswer(data ordered.Object) []content.Block {
	blocks := []content.Block{}
	if data.Has("reasoningText") || data.Has("reasoningOpaque") {
		thought := content.Thinking{Thought: data.Text("reasoningText")}
		if opaque := data.Copy("reasoningOpaque"); opaque != nil {
			// Under the name that Codex's ciphertext has here: one place counts and writes it.
			thought.Extra = content.FieldsOf(content.Field{Name: "encryptedContent", Value: opaque})
		}
		blocks = append(blocks, thought)
	}
	if text := data.Text("content"); text != "" {
		blocks = append(blocks, content.Text{Text: text})
	}
	requests, _ := ordered.Elements(data.Raw("toolRequests"))
	for _, raw := range requests {
		call := ordered.Of(raw)
		blocks = append(blocks, content.ToolCall{ID: call.Text("toolCallId"), Name: call.Text("name"),
			Parameters: copilotArguments(call)})
	}
	return blocks
}

func copilotArguments(call ordered.Object) json.RawMessage {
	if raw := call.Raw("arguments"); ordered.Kind(raw) == '"' {
		return ordered.Object{{Name: "input", Value: raw}}.JSON()
	}
	return call.Copy("arguments")
}

// copilotResult returns a tool's result. detailedContent is for the screen. A failure has only a message.
func copilotResult(data ordered.Object) content.Block {
	r := content.ToolResponse{CallID: data.Text("toolCallId"), Result: data.Object("result").Copy("content")}
	if !data.True("success") {
		r.Error = cmp.Or(data.Object("error").Text("message"), messages.FlaggedError)
		if r.Result == nil {
			r.Result = content.String(r.Error)
		}
	}
	return r
}
