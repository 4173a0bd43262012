package transcript

import (
	"fmt"
	"strings"

	"github.com/thresh-dev/thresh/host/internal/provider/messages"
	"github.com/thresh-dev/thresh/host/internal/provider/ordered"
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
		s.message(line, ordered.Of(raw))
		return nil
	})
}

func (s *sweAgent) message(line int, o ordered.Object) {
	b := s.b
	b.unread(line, "a message", o, isSWEField)
	var meta ordered.Builder
	meta.Flag("isDemo", o.True("is_demo"))
	blocks := b.messageContent(line, o.Raw("content")).Blocks
	switch role := o.Text("role"); {
	case role == messages.Assistant:
		s.answer(line, o, blocks)
	case role == "tool":
		ids, _ := ordered.Elements(o.Raw("tool_call_ids"))
		// A message answers several calls only if the tool ran them together.
		for i, raw := range ids {
			response := content.ToolResponse{CallID: ordered.Text(raw)}
			if i == 0 { // one text for all calls of the message
				response.Result, _ = messages.ResultOf(o.Raw("content"), media)
			}
			b.Add(line, content.Content{Speaker: content.Tool, Blocks: messages.One(response)})
		}
	// After an action, the message of the user is what the command printed.
	case role == messages.User && s.open != "" && len(blocks) > 0:
		result, _ := messages.ResultOf(o.Raw("content"), media)
		meta.Flag("synthesizedCall", true)
		b.Add(line, content.Content{Speaker: content.Tool, Metadata: meta.JSON(),
			Blocks: messages.One(content.ToolResponse{CallID: s.open, ToolName: s.tool, Result: result})})
		s.open = ""
	case !b.Instructions(role, blocks, content.Fields{}):
		b.Add(line, content.Content{Speaker: content.Human, Blocks: blocks, Metadata: meta.JSON()})
	}
}

// answer adds an answer of the model. An action without a tool call becomes one.
func (s *sweAgent) answer(line int, o ordered.Object, blocks []content.Block) {
	calls := s.b.calls(line, o.Raw("tool_calls"))
	var meta ordered.Builder
	// A call that the next message did not answer never will be: the model has spoken again.
	s.open = ""
	if action := o.Text("action"); action != "" && len(calls) == 0 {
		s.made++
		s.open, s.tool = fmt.Sprintf("act_%d", s.made), sweTool(action)
		var parameters ordered.Builder
		parameters.Text("command", action)
		calls = messages.One(content.ToolCall{ID: s.open, Name: s.tool, Parameters: parameters.JSON()})
		meta.Flag("synthesizedCall", true)
	}
	s.b.Add(line, content.Content{Speaker: content.AI, Blocks: append(blocks, calls...), Metadata: meta.JSON()})
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
