package body

import "github.com/thresh-dev/thresh/sdk/content"

// chatReader reads bodies of OpenAI's Chat Completions API, which many servers share. A form that one of them adds is
// unknown here, and makes a request one that is not changed.
type chatReader struct{}

// Schemas of tools and of answers are the largest values that need not be told apart.
func (chatReader) names() (string, []string) { return "messages", []string{"tools", "response_format"} }

// top reads the limits. That of the answer has two names: the older one is deprecated, but most servers know only
// that.
func (chatReader) top(r *Request) {
	r.Completion = max(r.integer(r.tape.get(0, "max_tokens")), r.integer(r.tape.get(0, "max_completion_tokens")))
	r.SessionID = r.tape.str(r.tape.get(0, "prompt_cache_key"))
}

// item reads a message. Results and messages of the model have forms of their own.
func (chatReader) item(r *Request, n int32) (Item, error) {
	t := r.tape
	role, value := t.get(n, "role"), t.get(n, "content")
	switch {
	case t.is(role, "tool"):
		return chatResult(t, n, value)
	case t.is(role, "assistant"):
		return chatAssistant(t, n, value)
	}
	item, list, err := parted(t, n, value)
	if err != nil {
		return item, err
	}
	item.Pinned = t.is(role, "system") || t.is(role, "developer")
	if !item.Pinned && !t.is(role, "user") {
		return item, ErrForm // the old "function" role, and what is not known yet
	}
	item.eachPart(t, list, content.Human, chatPart)
	return item, nil
}

// chatResult reads a message that answers a call: it is one part. A result without the id of its call cannot be paired,
// so that the form is refused.
func chatResult(t *tape, n, value int32) (Item, error) {
	if !named(t, n, "tool_call_id") {
		return Item{}, ErrForm
	}
	p := Part{Kind: Response, Speaker: content.Tool, Span: t.span(n), Alone: true, node: n}
	if plainResult(t, value) {
		p.Value = t.span(value)
	}
	return Item{Parts: []Part{p}}, nil
}

// chatAssistant reads a message of the model. Its calls stand in an array of their own. Nothing in it is taken out
// alone: the message goes as a whole or stays, so that reasoning_content and other fields stay with what they belong
// to.
func chatAssistant(t *tape, n, value int32) (Item, error) {
	var item Item
	switch t.kind(value) {
	case '[', '"':
		item.eachPart(t, value, content.AI, chatPart)
	case 0, 'n': // a message of calls alone
	default:
		return item, ErrForm
	}
	calls := t.get(n, "tool_calls")
	for c := range t.children(calls) {
		if !named(t, c, "id") || !named(t, t.get(c, "function"), "name") {
			return item, ErrForm
		}
		item.Parts = append(item.Parts, Part{Kind: Call, Speaker: content.AI, Span: t.span(c), node: c})
	}
	// The form before tool_calls has no ids: results cannot be paired.
	if !t.absent(t.get(n, "function_call")) {
		return item, ErrForm
	}
	if len(item.Parts) == 0 { // a message of reasoning alone
		item.Parts = []Part{{Kind: Bound, Speaker: content.AI, Span: t.span(n), Alone: true, node: n}}
	}
	return item, nil
}

// chatPart reads one part of a message's content. What is not known stays Fixed, so that it never changes and never
// goes.
func chatPart(t *tape, n int32, speaker content.Speaker) Part {
	p := Part{Kind: Fixed, Speaker: speaker}
	kind := t.get(n, "type")
	switch {
	case t.is(kind, "text") && t.kind(t.get(n, "text")) == '"':
		p.Kind, p.Value = Text, t.span(t.get(n, "text"))
	case t.is(kind, "image_url"), t.is(kind, "input_audio"), t.is(kind, "file"):
		p.Kind = Media
	case t.is(kind, "refusal"):
		p.Kind = Media // goes with its message, and is never rewritten
	}
	// Servers that put a form like this in front of Anthropic's models take its markers.
	if m := t.get(n, "cache_control"); !t.absent(m) {
		p.mark, p.marks = t.span(m), true
	}
	return p
}
