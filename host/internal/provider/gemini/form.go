// Package gemini is Google's generateContent. Calls may lack ids: then results answer them by name and order.
package gemini

import (
	"encoding/json"

	"github.com/thresh-dev/thresh/host/internal/provider"
	"github.com/thresh-dev/thresh/internal/lazyregexp"
	"github.com/thresh-dev/thresh/sdk/content"
)

// Form describes the API. Results are in messages of people.
var Form = provider.Form{
	API: provider.Gemini, List: "contents",
	Skip:      []string{"tools", "systemInstruction", "system_instruction", "safetySettings"},
	MaxOutput: []string{"generationConfig.maxOutputTokens"}, Addressed: true,
	Roles: []provider.Role{{Name: "user", Speaker: content.Human}, {Name: "model", Speaker: content.AI},
		{Name: "function", Speaker: content.Human}},
	Content: "parts", Parts: parts,
	Wrap: "output", WrapError: "error", WrapMore: "functionResponse.parts",
	Signature: "thoughtSignature", Thought: "thought",
	BeginsWithUser: true, PinnedFirst: true, CallsFollowUser: true,
	Assistant: "model", TextType: func(content.Speaker) string { return "" },
	Counts: counts, Calls: calls, TooLong: tooLong,
}

// parts are the kinds of parts, by the member that they have.
var parts = []provider.Kind{
	{Type: "functionCall", Is: provider.Call, By: content.AI, ID: "functionCall.id", Name: "functionCall.name",
		Value: "functionCall.args", Optional: true},
	{Type: "functionResponse", Is: provider.Result, By: content.Human, ID: "functionResponse.id",
		Name: "functionResponse.name", Value: "functionResponse.response", Optional: true},
	{Type: "text", Is: provider.Text, Value: "text"},
	{Type: "inlineData", Is: provider.Media, Mime: "inlineData.mimeType"},
	{Type: "fileData", Is: provider.Media, Mime: "fileData.mimeType"},
	{Type: "executableCode", Is: provider.Own, By: content.AI},
	{Type: "codeExecutionResult", Is: provider.Own, By: content.AI},
	{Type: "toolCall", Is: provider.Own, By: content.AI, ID: "toolCall.id"},
	{Type: "toolResponse", Is: provider.Own, By: content.AI, ID: "toolResponse.id"},
}

// counts of candidates do not include thoughts.
var counts = &provider.Counts{
	At: []string{"usageMetadata"}, Prompt: []string{"promptTokenCount"}, Output: []string{"candidatesTokenCount"},
	Thoughts: []string{"thoughtsTokenCount"}, Read: []string{"cachedContentTokenCount"},
}

var tooLongWords = lazyregexp.New(
	`^The input token count \((?P<tokens>\d+)\) exceeds the maximum number of tokens allowed \((?P<limit>\d+)\)`)

func tooLong(status int, answer []byte) (r provider.Refusal, ok bool) {
	f, found := provider.ReadFault(answer)
	if status != 400 || !found || f.Status != "" && f.Status != "INVALID_ARGUMENT" {
		return r, false
	}
	return f.Numbers(tooLongWords())
}

// calls are whole in one event.
func calls(answer []byte) (all []provider.Piece) {
	var a struct {
		Candidates []struct {
			Content struct {
				Parts []struct {
					FunctionCall struct {
						ID, Name string
						Args     json.RawMessage
					}
				}
			}
		}
	}
	_ = json.Unmarshal(answer, &a) // members of other types belong to what is no call
	for _, c := range a.Candidates {
		for _, p := range c.Content.Parts {
			if call := p.FunctionCall; call.Name != "" {
				all = append(all, provider.Piece{ID: call.ID, Name: call.Name, Arguments: string(call.Args)})
			}
		}
	}
	return all
}
