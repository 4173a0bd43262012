package transcript

import (
	"fmt"
	"strings"

	"github.com/thresh-dev/thresh/sdk/content"
)

// sweAgent reads a trajectory of SWE-agent: its "history", which "trajectory" repeats. Older versions have no tool
// calls: the model's command is a text in "action", and what it printed is the next message of the user.
//
//	{"role": "assistant", "content": "I list\n```\nls -F\n```", "thought": "I list", "action": "ls -F\n"}
//	{"role": "user", "content": "…"}
//	{"role": "assistant", "content": "…", "tool_calls": […]}
//	{"role": "tool", "tool_call_ids": ["c1"], "content": "…"}
//
// Such a command becomes a call, marked synthesizedCall in the metadata, because strategies find what was read and
// written in calls. The form was learnt from two trajectories that SWE-agent's authors published. Demonstrations, which
// are part of the prompt, are marked isDemo.
type sweAgent struct {
	b    *builder
	made int    // calls made of actions
	open string // the id of such a call that waits for its result; "" for none
	tool string // its tool
}

// isSWEField reports whether a field of a message is known. "thought" and "action" repeat the content.
var isSWEField = nameIn("role", "content", "tool_calls", "tool_call_ids", "message_type", "agent", "thought", "action",
	"is_demo", "cache_control", "tags", "thinking_blocks")

func readSWEAgent(b *builder, d *document) error {
	b.t.Format = SWEAgent
	s := sweAgent{b: b}
	return d.each("history", func(_, line int, raw []byte) error {
		s.message(line, asObject(raw))
		return nil
	})
}

func (s *sweAgent) message(line int, o object) {
	b := s.b
	b.unread(line, "a message", o, isSWEField)
	var meta metadata
	meta.flag("isDemo", o.isTrue("is_demo"))
	blocks := b.messageContent(line, o.raw("content")).blocks
	switch role := o.text("role"); {
	case role == roleAssistant:
		s.answer(line, o, blocks)
	case role == "tool":
		ids, _ := elements(o.raw("tool_call_ids"))
		// A message answers several calls only if the tool ran them together.
		for i, raw := range ids {
			response := content.ToolResponse{CallID: asText(raw)}
			if i == 0 { // one text for all calls of the message
				response.Result, _ = resultOf(o.raw("content"), openAIMedia)
			}
			b.add(line, content.Content{Speaker: content.Tool, Blocks: one(response)})
		}
	// After an action, the message of the user is what the command printed.
	case role == roleUser && s.open != "" && len(blocks) > 0:
		result, _ := resultOf(o.raw("content"), openAIMedia)
		meta.flag("synthesizedCall", true)
		b.add(line, content.Content{Speaker: content.Tool, Metadata: meta.json(),
			Blocks: one(content.ToolResponse{CallID: s.open, ToolName: s.tool, Result: result})})
		s.open = ""
	case !b.instructions(role, blocks, content.Fields{}):
		b.add(line, content.Content{Speaker: content.Human, Blocks: blocks, Metadata: meta.json()})
	}
}

// answer adds an answer of the model. An action without a tool call becomes one.
func (s *sweAgent) answer(line int, o object, blocks []content.Block) {
	calls := s.b.openAICalls(line, o.raw("tool_calls"))
	var meta metadata
	// A call that the next message did not answer never will be: the model has spoken again.
	s.open = ""
	if action := o.text("action"); action != "" && len(calls) == 0 {
		s.made++
		s.open, s.tool = fmt.Sprintf("act_%d", s.made), sweTool(action)
		var parameters metadata
		parameters.text("command", action)
		calls = one(content.ToolCall{ID: s.open, Name: s.tool, Parameters: parameters.json()})
		meta.flag("synthesizedCall", true)
	}
	s.b.add(line, content.Content{Speaker: content.AI, Blocks: append(blocks, calls...), Metadata: meta.json()})
}

// sweTool returns the tool of a command: its first word if that is a tool of SWE-agent, else the shell. Strategies know
// the tools by these names.
func sweTool(action string) string {
	first, _, _ := strings.Cut(strings.TrimSpace(action), " ")
	switch first = strings.TrimSpace(first); first {
	case "open", "goto", "scroll_up", "scroll_down", "create", "edit", "insert", "search_dir", "search_file",
		"find_file", "submit":
		return first
	}
	return "bash"
}
