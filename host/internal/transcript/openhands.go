package transcript

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/thresh-dev/thresh/sdk/content"
	"github.com/thresh-dev/thresh/sdk/content/rawjson"
)

func isOpenHandsEvent(o object) bool {
	return o.has("source") && o.has("kind") && isOpenHandsKind(o.text("kind"))
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
		if text := d.top.text("instruction"); text != "" {
			o.ask(d.line, nil, content.Text{Text: text})
		}
		state := d.top.object("base_state")
		b.t.ID = state.text("id")
		b.t.workedIn(state.object("workspace").text("working_dir"))
		b.t.Model = state.object("agent").object("llm").text("model")
		return d.each(list, func(_, line int, raw []byte) error {
			return o.record(record{line: line, whole: raw, object: asObject(raw)})
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
	b, meta := h.b, stamped(r.raw("timestamp"))
	meta.flag("fromCompaction", h.again)
	b.unread(r.line, "an event", r.object, isOpenHandsField)
	k := r.text("kind")
	switch k {
	case "MessageEvent", "ActionEvent", "ObservationEvent", "AgentErrorEvent", "UserRejectObservation",
		"CondensationSummaryEvent":
		// The buffer of a line is reused, and a condensation reads the event again.
		if !h.again {
			whole := bytes.Clone(r.whole)
			h.seen = append(h.seen, record{line: r.line, whole: whole, object: asObject(whole)})
		}
	}
	switch k {
	case "SystemPromptEvent", "SystemPromptUpdateEvent":
		// A conversation that continues with other tools has the whole prompt again; the last one counts.
		b.t.System = []content.Block{content.Text{Text: r.object.object("system_prompt").text("text")}}
		b.t.Tools = firstOf(r.copyOf("tools"), b.t.Tools)
	case "MessageEvent":
		m := r.object.object("llm_message")
		blocks := b.messageContent(r.line, m.raw("content")).blocks
		if r.text("source") == "agent" {
			h.pause()
			h.say(r.line, meta, blocks...)
			return nil
		}
		// The person's words, and also what the agent's own program said in their place.
		h.ask(r.line, meta, blocks...)
	case "ActionEvent":
		h.action(r, meta)
	case "ObservationEvent":
		response := content.ToolResponse{CallID: r.text("tool_call_id"), ToolName: r.text("tool_name"),
			Result: r.copyOf("observation")}
		// A failed command is an observation like any other; only tools that could not run have an event of their own.
		if o := asObject(response.Result); o.isTrue("is_error") || !rawjson.IsNull(o.raw("error")) {
			response.Error = cmp.Or(o.text("error"), flaggedError)
		}
		h.answer(r.line, meta, response)
	case "AgentErrorEvent", "UserRejectObservation":
		// The model saw the reason in place of a result.
		why := cmp.Or(r.text("error"), r.text("rejection_reason"), flaggedError)
		h.answer(r.line, meta, content.ToolResponse{CallID: r.text("tool_call_id"), ToolName: r.text("tool_name"),
			Result: content.String(why), Error: why})
	case "CondensationSummaryEvent":
		meta.flag("isSummary", true)
		h.ask(r.line, meta, content.Text{Text: r.text("summary")})
	case "Condensation":
		h.condense(r)
	// These steer the agent; the model never saw them.
	case "HookExecutionEvent", "StreamingDeltaEvent", "InterruptEvent", "PauseEvent",
		"ConversationStateUpdateEvent", "CondensationRequest", "TokenEvent", "LLMCompletionLogEvent",
		"ConversationErrorEvent":
		b.aside(r.line, "event "+k)
	default:
		b.unknown(r.line, "event of the unknown kind "+clip([]byte(k)), r.whole)
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
	ids, _ := elements(r.raw("forgotten_event_ids"))
	for _, id := range ids {
		forgotten[asText(id)] = true
	}
	h.seen = slices.DeleteFunc(h.seen, func(e record) bool { return forgotten[e.text("id")] })
	// The offset counts the events that are left.
	if at, ok := wholeNumber(r.raw("summary_offset")); ok && r.has("summary") {
		h.seen = slices.Insert(h.seen, min(at, len(h.seen)), record{line: r.line, object: object{
			{name: "kind", value: content.String("CondensationSummaryEvent")},
			{name: "id", value: content.String(r.text("id") + "-summary")}, // as OpenHands names it
			{name: "summary", value: bytes.Clone(r.raw("summary"))},
		}})
	}
	h.pause()
	h.b.boundary(BoundaryCompaction, nil)
	h.again = true
	for _, e := range h.seen {
		if !h.b.repeat(r.line, e.size()) {
			break
		}
		_ = h.record(e) // it returns no error
	}
	h.again = false
	h.pause()
}

// action adds a call of the model, with what it thought before the first call of the same answer.
func (h *openHands) action(r record, meta metadata) {
	if id := r.text("llm_response_id"); id == "" || id != h.response {
		h.pause()
		h.response = id
	}
	var blocks []content.Block
	if thought := r.text("reasoning_content"); thought != "" {
		blocks = append(blocks, content.Thinking{Thought: thought})
	}
	// In the model's order: it thinks before it speaks.
	for _, name := range []string{"thinking_blocks", "thought"} {
		list, _ := elements(r.raw(name))
		for _, raw := range list {
			blocks = append(blocks, anthropicBlock(raw)...)
		}
	}
	// The arguments are in the call itself, or in its function, as the API has them.
	call := r.object.object("tool_call")
	arguments, _ := argumentsOf(firstOf(call.raw("arguments"), call.object("function").raw("arguments")))
	h.say(r.line, meta, append(blocks, content.ToolCall{ID: r.text("tool_call_id"), Name: r.text("tool_name"),
		Parameters: bytes.Clone(arguments)})...)
}
