package body

import "github.com/thresh-dev/thresh/sdk/content"

// geminiReader reads bodies of Gemini's generateContent. Calls may lack ids: then results answer them by name and
// order. The model and whether the answer is streamed stand in the address, not in the body.
type geminiReader struct{}

func (geminiReader) names() (string, []string) {
	return "contents", []string{"tools", "systemInstruction", "system_instruction", "safetySettings"}
}

// top reads the limit of the answer.
func (geminiReader) top(r *Request) {
	r.Completion = r.integer(r.tape.get(r.tape.get(0, "generationConfig"), "maxOutputTokens"))
	r.Stream = false // the address says so
}

// item reads a content. One without parts is refused by the API, and so unknown here.
func (geminiReader) item(r *Request, n int32) (Item, error) {
	t := r.tape
	parts := t.get(n, "parts")
	if t.kind(parts) != '[' {
		return Item{}, ErrForm
	}
	item := Item{parts: t.span(parts)}
	role := t.get(n, "role")
	switch {
	case t.is(role, "model"):
		item.eachPart(t, parts, content.AI, geminiPart)
	// Responses are in items of people; geminiPart makes them a tool's.
	case t.is(role, "user"), t.is(role, "function"):
		item.eachPart(t, parts, content.Human, geminiPart)
	default:
		return item, ErrForm
	}
	if len(item.Parts) == 0 {
		return item, ErrForm
	}
	return item, nil
}

// geminiPart reads one part. A signature binds a part of any kind. A call keeps its kind with a
// signature: calls are never rewritten in any case.
func geminiPart(t *tape, n int32, speaker content.Speaker) Part {
	p := Part{Kind: Fixed, Speaker: speaker}
	call, response := t.get(n, "functionCall"), t.get(n, "functionResponse")
	switch {
	case t.kind(call) == '{':
		if speaker == content.AI && named(t, call, "name") {
			p.Kind = Call
		}
	case t.kind(response) == '{':
		if speaker == content.Human && named(t, response, "name") {
			p.Kind, p.Speaker = Response, content.Tool
			// A response with parts of its own, such as images, stays as it is.
			if v := t.get(response, "response"); t.kind(v) == '{' && t.absent(t.get(response, "parts")) {
				p.Value = t.span(v)
			}
		}
	case t.kind(t.get(n, "text")) == '"':
		p.Kind, p.Value = Text, t.span(t.get(n, "text"))
		if t.kind(t.get(n, "thought")) == 't' {
			p.Kind, p.Value = Bound, Span{}
		}
	case t.kind(t.get(n, "inlineData")) == '{', t.kind(t.get(n, "fileData")) == '{':
		p.Kind = Media
	}
	if !t.absent(t.get(n, "thoughtSignature")) && p.Kind != Call {
		p.Kind, p.Value = Bound, Span{}
	}
	return p
}
