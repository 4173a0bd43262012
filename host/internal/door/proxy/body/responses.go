package body

import "github.com/thresh-dev/thresh/sdk/content"

// responsesReader reads bodies of OpenAI's Responses API. Its items are flat: what other APIs call a message of the
// model is a run of reasoning, messages and calls. Instructions and tools are outside of them.
type responsesReader struct{}

func (responsesReader) names() (string, []string) {
	return "input", []string{"tools", "instructions", "client_metadata", "text"}
}

// top reads what is outside of the items. A request that continues a stored response holds no whole conversation, so
// that nothing could be compared.
func (responsesReader) top(r *Request) {
	t := r.tape
	if !t.absent(t.get(0, "previous_response_id")) || !t.absent(t.get(0, "conversation")) {
		r.Reason = Continued
	}
	r.Completion = r.integer(r.tape.get(0, "max_output_tokens"))
	r.SessionID = t.str(t.get(0, "prompt_cache_key"))
}

// item reads one item. Most are one part, without an array around it.
func (responsesReader) item(r *Request, n int32) (Item, error) {
	t := r.tape
	alone := func(kind PartKind, speaker content.Speaker, value Span) (Item, error) {
		p := Part{Kind: kind, Speaker: speaker, Span: t.span(n), Alone: true, Value: value, node: n}
		return Item{Parts: []Part{p}}, nil
	}
	kind := t.get(n, "type")
	switch {
	case kind == none, t.is(kind, "message"), t.is(kind, "agent_message"):
		return responsesMessage(t, n)
	case t.is(kind, "function_call"), t.is(kind, "custom_tool_call"):
		if !named(t, n, "call_id", "name") {
			return Item{}, ErrForm
		}
		return alone(Call, content.AI, Span{})
	case t.is(kind, "local_shell_call"):
		if !named(t, n, "call_id") {
			return Item{}, ErrForm
		}
		return alone(Call, content.AI, Span{})
	case t.is(kind, "function_call_output"), t.is(kind, "custom_tool_call_output"),
		t.is(kind, "local_shell_call_output"):
		if !named(t, n, "call_id") {
			return Item{}, ErrForm
		}
		value := Span{}
		if out := t.get(n, "output"); plainResult(t, out) && !t.is(kind, "local_shell_call_output") {
			value = t.span(out)
		}
		return alone(Response, content.Tool, value)
	case t.is(kind, "reasoning"):
		return alone(Bound, content.AI, Span{})
	case t.is(kind, "compaction_trigger"):
		if r.Reason == "" {
			r.Reason = Compaction
		}
	case t.is(t.get(n, "role"), "developer"), t.is(t.get(n, "role"), "system"): // additional_tools
		item, err := alone(Fixed, content.Human, Span{})
		item.Pinned = true
		return item, err
	}
	// Compaction items, references, calls of tools that the provider runs, and what is not known yet.
	return alone(Fixed, content.AI, Span{})
}

// responsesMessage reads an item with a role. A role that is not known makes the whole request one that is not
// changed.
func responsesMessage(t *tape, n int32) (Item, error) {
	item, list, err := parted(t, n, t.get(n, "content"))
	if err != nil {
		return item, err
	}
	role := t.get(n, "role")
	switch {
	case t.is(role, "assistant"):
		item.eachPart(t, list, content.AI, responsesPart)
		return item, nil
	case t.is(role, "system"), t.is(role, "developer"):
		item.Pinned = true
	case t.is(t.get(n, "type"), "agent_message"): // words of another agent to this one
	case !t.is(role, "user"):
		return item, ErrForm
	}
	item.eachPart(t, list, content.Human, responsesPart)
	return item, nil
}

// responsesPart reads one part of a message's content.
func responsesPart(t *tape, n int32, speaker content.Speaker) Part {
	p := Part{Kind: Fixed, Speaker: speaker}
	kind := t.get(n, "type")
	switch {
	case t.kind(t.get(n, "text")) == '"' && t.is(kind, "input_text"):
		p.Kind, p.Value = Text, t.span(t.get(n, "text"))
	case t.kind(t.get(n, "text")) == '"' && t.is(kind, "output_text"):
		p.Kind = Text // never rewritten: annotations and signatures of later items may refer to it
	case t.is(kind, "input_image"), t.is(kind, "input_file"), t.is(kind, "input_audio"), t.is(kind, "refusal"):
		p.Kind = Media
	}
	return p
}
