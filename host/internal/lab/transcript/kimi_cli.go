package transcript

import (
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/host/internal/provider/chat"
	"github.com/thresh-dev/thresh/host/internal/provider/messages"
	"github.com/thresh-dev/thresh/host/internal/provider/ordered"
	"github.com/thresh-dev/thresh/sdk/content"
	"github.com/thresh-dev/thresh/sdk/content/rawjson"
)

// What kimi-cli records for the screen.
var isWireAside = nameIn("TurnEnd", "StepInterrupted", "StepRetry", "HookTriggered", "HookResolved", "MCPLoadingBegin",
	"MCPLoadingEnd", "Notification", "PlanDisplay", "BtwBegin", "BtwEnd", "ApprovalRequest", "ApprovalResponse",
	"ApprovalRequestResolved", "QuestionRequest", "QuestionResponse", "ToolCallRequest", "HookRequest", "HookResponse",
	"CompactionBegin")

// wire reads an event of kimi-cli, the agent before Kimi Code, which recorded what it showed:
//
//	{"timestamp": 1770983426.4, "message": {"type": "TurnBegin", "payload": {"user_input": "go"}}}
//	{"timestamp": …, "message": {"type": "StepBegin", "payload": {"n": 1}}}
//	{"timestamp": …, "message": {"type": "ContentPart", "payload": {"type": "think", "think": "…", "encrypted": null}}}
//	{"timestamp": …, "message": {"type": "ToolCall", "payload": {"id": "c1", "function": {"name": "Shell", …}}}}
//	{"timestamp": …, "message": {"type": "StatusUpdate", "payload": {"token_usage": {"input_other": 100, …}}}}
//	{"timestamp": …, "message": {"type": "ToolResult", "payload": {"tool_call_id": "c1", "return_value": {…}}}}
//
// It has neither the model's name nor what a compaction keeps: its summary is in another file. The reader was written
// after the agent's code.
func (k *kimi) wire(r record) {
	b, message := k.b, r.Object.Object("message")
	p, time := message.Object("payload"), r.Raw("timestamp")
	switch t := message.Text("type"); t {
	case "TurnBegin", "SteerInput":
		k.step = -1
		var blocks []content.Block
		if text, ok := rawjson.Text(p.Raw("user_input")); ok {
			blocks = messages.One(content.Text{Text: text})
		}
		parts, _ := ordered.Elements(p.Raw("user_input"))
		for _, raw := range parts {
			if block := kimiBlock(raw); block != nil {
				blocks = append(blocks, block)
			}
		}
		meta := stamped(time)
		k.Ask(r.line, meta.JSON(), blocks...)
	case "StepBegin":
		k.step = -1
		k.Pause()
	case "ContentPart", "TextPart", "ThinkPart", "ImageURLPart", "AudioURLPart", "VideoURLPart":
		if block := kimiBlock(message.Raw("payload")); block != nil {
			k.say(r.line, time, block)
		}
	case "ToolCall":
		block, ok := chat.Call(message.Raw("payload"))
		if !ok {
			b.oddity(r.line, len(b.Entries), "call whose arguments are not JSON",
				"the arguments of the call %q are not JSON; they are kept as text", ordered.Clip([]byte(p.Text("id"))))
		}
		k.say(r.line, time, block)
	case "ToolResult":
		k.answered(r.line, time, wireResult(p))
	case "StatusUpdate":
		b.t.window(p.Raw("max_context_tokens"))
		k.report(p.Raw("token_usage"), p.Text("message_id"))
	case "CompactionEnd":
		k.Pause()
		k.step = -1
		b.boundary(BoundaryCompaction, nil)
		b.note(r.line, -1, "the summary of a compaction is in another file: what the model saw after it is not known")
	case "SubagentEvent":
		b.tally.Routine(r.line, -1, "event of a sub-agent left out")
	default:
		if !isWireAside(t) {
			b.unknown(r.line, "event of the unknown type "+ordered.Clip([]byte(t)), r.whole)
			return
		}
		b.aside(r.line, "event "+t)
	}
}

// wireResult returns a result as the model saw it: kimi-cli put its message before the output.
func wireResult(p ordered.Object) []content.Block {
	value := p.Object("return_value")
	r := content.ToolResponse{CallID: p.Text("tool_call_id")}
	blocks := messages.WithResult(r, ordered.First(value.Raw("output"), []byte(`""`)), kimiMedia)
	r = blocks[0].(content.ToolResponse)
	said := value.Text("message")
	if value.True("is_error") {
		r.Error, said = messages.FlaggedError, "ERROR: "+said
	}
	if text, ok := rawjson.Text(r.Result); ok && said != "" {
		lines := []string{"<system>" + said + "</system>", text}
		r.Result = content.String(strings.Join(slices.DeleteFunc(lines, func(s string) bool { return s == "" }), "\n"))
	}
	blocks[0] = r
	return blocks
}
