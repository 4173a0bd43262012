package transcript

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/thresh-dev/thresh/host/internal/provider/messages"
	"github.com/thresh-dev/thresh/host/internal/provider/ordered"
	"github.com/thresh-dev/thresh/sdk/content"
	"github.com/thresh-dev/thresh/sdk/content/rawjson"
)

func isOpenHandsEvent(o ordered.Object) bool {
	return o.Has("source") && o.Has("kind") && isOpenHandsKind(o.Text("kind"))
}

// isOpenHandsKind reports whether k is a kind of event. The source alone is no sign: other recorders have such a field.
var isOpenHandsKind = nameIn("MessageEvent", "ActionEvent", "ObservationEvent", "AgentErrorEvent",
	"SystemPromptEvent", "SystemPromptUpdateEvent", "PauseEvent", "UserRejectObservation",
	"ConversationStateUpdateEvent", "Condensation", "CondensationRequest", "CondensationSummaryEvent", "TokenEvent",
	"ConversationErrorEvent", "LLMCompletionLogEvent", "HookExecutionEvent", "StreamingDeltaEvent", "InterruptEvent")

// openHands reads the events of OpenHands' SDK, in a list or one a line.
//
//	{"kind": "MessageEvent", "source": "user", "llm_message": {"role": "user", "content": […]}}
//	{"kind": "ActionEvent", "id": "e2", "llm_response_id": "r1", "thought": […], "tool_name": "terminal",
//	 "tool_call_id": "c1", "tool_call": {"arguments": "{…}"}, "action": {…}}
//	{"kind": "ObservationEvent", "id": "e3", "tool_call_id": "c1", "observation": {"output": "…", "exit_code": 0}}
//	{"kind": "Condensation", "id": "e5", "forgotten_event_ids": ["e2", "e3"], "summary": "…", "summary_offset": 1}
//
// The calls of one answer of the model share llm_response_id. "action" repeats the call in the agent's own form and is
// left out, as is the state of the conversation, which the model never sees. The reader was tried on a published result
// of a benchmark and on seven folders that OpenHands' authors recorded; condensations follow its source.
type openHands struct {
	speech
	// response is the id of the model's answer that is being added to; "" for none. Its parallel calls are separate
	// events.
	response string
	// seen are the events of the model's context, with copies of their texts.
	seen []record
	// again: a condensation repeats the events that are added. Their usage counts once, and they are not seen a second
	// time.
	again bool
}

func newOpenHands(b *builder) *openHands { return &openHands{speech: newSpeech(b)} }

func readOpenHands(list string) documentReader {
	return func(b *builder, d *document) error {
		b.t.Format = OpenHands
		o := newOpenHands(b)
		// Results of benchmarks have the first message of the person outside.
		if text := d.top.Text("instruction"); text != "" {
			o.Ask(d.line, nil, content.Text{Text: text})
		}
		state := d.top.Object("base_state")
		b.t.ID = state.Text("id")
		b.t.workedIn(state.Object("workspace").Text("working_dir"))
		b.t.Model = state.Object("agent").Object("llm").Text("model")
		return d.each(list, func(_, line int, raw []byte) error {
			return o.record(record{line: line, whole: raw, Object: ordered.Of(raw)})
		})
	}
}

// isOpenHandsField reports whether a field of an event is known. "action" repeats the call in the agent's own form.
var isOpenHandsField = nameIn("kind", "id", "timestamp", "source", "llm_message", "thought", "reasoning_content",
	"thinking_blocks", "responses_reasoning_item", "action", "tool_name", "tool_call_id", "tool_call",
	"llm_response_id", "security_risk", "observation", "action_id", "error", "system_prompt", "tools",
	"activated_skills", "extended_content", "sender", "critic_result", "rejection_reason", "summary",
	"dynamic_context", "parent_id", "reason", "forgotten_event_ids", "summary_offset")

// record makes at most one entry; speech joins the events of one answer.
func (h *openHands) record(r record) error {
	b, meta := h.b, stamped(r.Raw("timestamp"))
	meta.Flag("fromCompaction", h.again)
	b.unread(r.line, "an event", r.Object, isOpenHandsField)
	k := r.Text("kind")
	switch k {
	case "MessageEvent", "ActionEvent", "ObservationEvent", "AgentErrorEvent", "UserRejectObservation",
		"CondensationSummaryEvent":
		// The buffer of a line is reused, and a condensation reads the event again.
		if !h.again {
			whole := bytes.Clone(r.whole)
			h.seen = append(h.seen, record{line: r.line, whole: whole, Object: ordered.Of(whole)})
		}
	}
	switch k {
	case "SystemPromptEvent", "SystemPromptUpdateEvent":
		// A conversation that continues with other tools has the whole prompt again; the last one counts.
		b.System = []content.Block{content.Text{Text: r.Object.Object("system_prompt").Text("text")}}
		b.t.Tools = ordered.First(r.Copy("tools"), b.t.Tools)
	case "MessageEvent":
		m := r.Object.Object("llm_message")
		blocks := b.messageContent(r.line, m.Raw("content")).Blocks
		if r.Text("source") == "agent" {
			h.Pause()
			h.Say(r.line, meta.JSON(), blocks...)
			return nil
		}
		// The person's words, and also what the agent's own program said in their place.
		h.Ask(r.line, meta.JSON(), blocks...)
	case "ActionEvent":
		h.action(r, meta)
	case "ObservationEvent":
		response := content.ToolResponse{CallID: r.Text("tool_call_id"), ToolName: r.Text("tool_name"),
			Result: r.Copy("observation")}
		// A failed command is an observation like any other; only tools that could not run have an event of their own.
		if o := ordered.Of(response.Result); o.True("is_error") || !rawjson.IsNull(o.Raw("error")) {
			response.Error = cmp.Or(o.Text("error"), messages.FlaggedError)
		}
		h.Answer(r.line, meta.JSON(), response)
	case "AgentErrorEvent", "UserRejectObservation":
		// The model saw the reason in place of a result.
		why := cmp.Or(r.Text("error"), r.Text("rejection_reason"), messages.FlaggedError)
		h.Answer(r.line, meta.JSON(), content.ToolResponse{CallID: r.Text("tool_call_id"), ToolName: r.Text("tool_name"),
			Result: content.String(why), Error: why})
	case "CondensationSummaryEvent":
		meta.Flag("isSummary", true)
		h.Ask(r.line, meta.JSON(), content.Text{Text: r.Text("summary")})
	case "Condensation":
		h.condense(r)
	// These steer the agent; the model never saw them.
	case "HookExecutionEvent", "StreamingDeltaEvent", "InterruptEvent", "PauseEvent",
		"ConversationStateUpdateEvent", "CondensationRequest", "TokenEvent", "LLMCompletionLogEvent",
		"ConversationErrorEvent":
		b.aside(r.line, "event "+k)
	default:
		b.unknown(r.line, "event of the unknown kind "+ordered.Clip([]byte(k)), r.whole)
	}
	return nil
}

// condense reads a condensation: the context continues without the forgotten events, and with a summary of them among
// the others.
func (h *openHands) condense(r record) {
	if !h.b.repeat(r.line, look*len(h.seen)) {
		return
	}
	forgotten := map[string]bool{}
	ids, _ := ordered.Elements(r.Raw("forgotten_event_ids"))
	for _, id := range ids {
		forgotten[ordered.Text(id)] = true
	}
	h.seen = slices.DeleteFunc(h.seen, func(e record) bool { return forgotten[e.Text("id")] })
	// The offset counts the events that are left.
	if at, ok := ordered.Whole(r.Raw("summary_offset")); ok && r.Has("summary") {
		h.seen = slices.Insert(h.seen, min(at, len(h.seen)), record{line: r.line, Object: ordered.Object{
			{Name: "kind", Value: content.String("CondensationSummaryEvent")},
			{Name: "id", Value: content.String(r.Text("id") + "-summary")}, // as OpenHands names it
			{Name: "summary", Value: bytes.Clone(r.Raw("summary"))},
		}})
	}
	h.Pause()
	h.b.boundary(BoundaryCompaction, nil)
	h.again = true
	for _, e := range h.seen {
		if !h.b.repeat(r.line, e.Size()) {
			break
		}
		_ = h.record(e) // it returns no error
	}
	h.again = false
	h.Pause()
}

// action adds a call of the model, with what it thought before the first call of the same answer.
func (h *openHands) action(r record, meta ordered.Builder) {
	if id := r.Text("llm_response_id"); id == "" || id != h.response {
		h.Pause()
		h.response = id
	}
	var blocks []content.Block
	if thought := r.Text("reasoning_content"); thought != "" {
		blocks = append(blocks, content.Thinking{Thought: thought})
	}
	// In the model's order: it thinks before it speaks.
	for _, name := range []string{"thinking_blocks", "thought"} {
		list, _ := ordered.Elements(r.Raw(name))
		for _, raw := range list {
			blocks = append(blocks, blocksOf(raw)...)
		}
	}
	// The arguments are in the call itself, or in its function, as the API has them.
	call := r.Object.Object("tool_call")
	arguments, _ := messages.Arguments(ordered.First(call.Raw("arguments"), call.Object("function").Raw("arguments")))
	h.Say(r.line, meta.JSON(), append(blocks, content.ToolCall{ID: r.Text("tool_call_id"), Name: r.Text("tool_name"),
		Parameters: bytes.Clone(arguments)})...)
}
