package adk

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"

	"google.golang.org/genai"

	"github.com/thresh-dev/thresh/adapters/internal/fit"
	"github.com/thresh-dev/thresh/sdk/content"
)

// entry returns what a content says. Each block says which part it was made from.
func entry(all []*genai.Content, at int) content.Content {
	c := content.Content{Speaker: speaker(all[at])}
	for i, p := range all[at].Parts {
		c.Blocks = append(c.Blocks, block(all, at, i, p))
	}
	return c
}

func speaker(c *genai.Content) content.Speaker {
	switch {
	case c.Role == genai.RoleModel:
		return content.AI
	case slices.ContainsFunc(c.Parts, func(p *genai.Part) bool { return p.FunctionResponse != nil }):
		return content.Tool
	}
	return content.Human
}

func block(all []*genai.Content, at, i int, p *genai.Part) content.Block {
	extra := fit.Part(i)
	switch {
	case p.FunctionCall != nil:
		parameters, err := json.Marshal(p.FunctionCall.Args)
		if err != nil || p.FunctionCall.Args == nil {
			parameters = []byte("{}")
		}
		return content.ToolCall{ID: callID(all, at, i), Name: p.FunctionCall.Name, Parameters: parameters, Extra: extra}
	case p.FunctionResponse != nil:
		r := content.ToolResponse{CallID: callID(all, at, i), ToolName: p.FunctionResponse.Name, Extra: extra,
			Result: content.String(result(p.FunctionResponse))}
		if p.FunctionResponse.Response["error"] != nil {
			r.Error = "the tool reported an error"
		}
		return r
	case p.InlineData != nil:
		return content.Media{MimeType: p.InlineData.MIMEType, Data: base64.StdEncoding.EncodeToString(p.InlineData.Data),
			Encoding: "base64", Filename: p.InlineData.DisplayName, Extra: extra}
	case p.FileData != nil:
		return content.Media{MimeType: p.FileData.MIMEType, Data: p.FileData.FileURI, Encoding: "url",
			Filename: p.FileData.DisplayName, Extra: extra}
	case p.Text != "" && !p.Thought && p.ThoughtSignature == nil:
		return content.Text{Text: p.Text, Extra: extra}
	case all[at].Role != genai.RoleModel:
		return content.Text{Text: shown(p), Extra: extra}
	default: // it goes with its content, and is never changed
		return content.Thinking{Thought: shown(p), Signature: "of the provider", Extra: extra}
	}
}

// shown is what a part counts as.
func shown(p *genai.Part) string {
	if p.Text != "" {
		return p.Text
	}
	text, err := json.Marshal(p)
	if err != nil {
		return fmt.Sprintf("%+v", p)
	}
	return string(text)
}

// callID is the id of a call or of the one that a response answers. ADK takes its own ids out of requests, and Gemini's
// calls need none: the position of the call stands for it then. Responses are in the order of the calls.
func callID(all []*genai.Content, at, i int) string {
	p := all[at].Parts[i]
	if c := p.FunctionCall; c != nil {
		if c.ID != "" {
			return c.ID
		}
		return fmt.Sprintf("call-%d-%d", at, i)
	}
	r := p.FunctionResponse
	if r.ID != "" {
		return r.ID
	}
	nth := 0 // of the responses to calls of this tool
	for from := at; from >= 0; from-- {
		for j, q := range all[from].Parts {
			switch {
			case from == at && j < i, from < at && q.FunctionResponse != nil:
				if q.FunctionResponse != nil && q.FunctionResponse.Name == r.Name {
					nth++
				}
			}
		}
		if calls := callsOf(all[from], r.Name); len(calls) > 0 {
			return fmt.Sprintf("call-%d-%d", from, calls[min(nth, len(calls)-1)])
		}
	}
	return fmt.Sprintf("call-%d-%d", at, i)
}

// callsOf returns the positions of the calls of a tool.
func callsOf(c *genai.Content, name string) (at []int) {
	for i, p := range c.Parts {
		if p.FunctionCall != nil && p.FunctionCall.ID == "" && p.FunctionCall.Name == name {
			at = append(at, i)
		}
	}
	return at
}

// result is the text of a response: of its only member if that is text, else all of it as JSON.
func result(r *genai.FunctionResponse) string {
	if key := only(r.Response); key != "" {
		return r.Response[key].(string)
	}
	text, err := json.Marshal(r.Response)
	if err != nil {
		return fmt.Sprint(r.Response)
	}
	return string(text)
}

// only is the name of the only member of a response, if that is text.
func only(response map[string]any) string {
	for key, value := range response {
		if _, ok := value.(string); ok && len(response) == 1 {
			return key
		}
	}
	return ""
}

// contents is the opposite of entry.
func contents(was *genai.Content, now content.Content) []*genai.Content {
	out := genai.Content{Role: genai.RoleUser}
	if now.Speaker == content.AI {
		out.Role = genai.RoleModel
	}
	var parts []*genai.Part // of was
	if was != nil {
		out, parts = *was, was.Parts
	}
	out.Parts = nil
	for _, b := range now.Blocks {
		var p *genai.Part
		if i, ok := fit.PartOf(extraOf(b)); ok && i < len(parts) {
			p = parts[i]
		}
		out.Parts = append(out.Parts, part(p, b))
	}
	sign(out.Parts, parts)
	return []*genai.Content{&out}
}

func extraOf(b content.Block) (extra content.Fields) {
	switch b := b.(type) {
	case content.Text:
		return b.Extra
	case content.Thinking:
		return b.Extra
	case content.Media:
		return b.Extra
	case content.ToolCall:
		return b.Extra
	case content.ToolResponse:
		return b.Extra
	}
	return extra
}

// part is what a block says now, of the part was.
func part(was *genai.Part, b content.Block) *genai.Part {
	switch b := b.(type) {
	case content.ToolResponse:
		if was == nil || was.FunctionResponse == nil { // the host answers calls that were interrupted
			return genai.NewPartFromFunctionResponse(b.ToolName, map[string]any{"error": b.Error, "output": b.ResultText()})
		}
		if text := b.ResultText(); text != result(was.FunctionResponse) {
			p, r := *was, *was.FunctionResponse
			key := only(r.Response)
			if key == "" {
				key = "output"
			}
			r.Response = map[string]any{key: text}
			p.FunctionResponse = &r
			return &p
		}
	case content.Text:
		if was == nil || was.Text == "" && shown(was) != b.Text {
			return genai.NewPartFromText(b.Text)
		}
		if was.Text != "" && was.Text != b.Text {
			p := *was
			p.Text = b.Text
			return &p
		}
	}
	if was == nil {
		return genai.NewPartFromText(fmt.Sprintf("[%s]", b.Kind()))
	}
	return was
}

// sign puts the signature of a turn's first call on the first that is left: Gemini refuses calls without it.
func sign(now, was []*genai.Part) {
	call := func(p *genai.Part) bool { return p.FunctionCall != nil }
	first, left := slices.IndexFunc(was, call), slices.IndexFunc(now, call)
	if first < 0 || left < 0 || was[first].ThoughtSignature == nil || now[left].ThoughtSignature != nil {
		return
	}
	p := *now[left]
	p.ThoughtSignature = was[first].ThoughtSignature
	now[left] = &p
}
