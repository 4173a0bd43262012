package adk

import (
	"reflect"
	"slices"
	"testing"

	"google.golang.org/adk/v2/model"
	"google.golang.org/genai"

	"github.com/thresh-dev/thresh/adapters/internal/fit"
	"github.com/thresh-dev/thresh/adapters/internal/fit/fittest"
	"github.com/thresh-dev/thresh/sdk/content"
)

// What no strategy changes is sent as it was, whatever it is.
func TestWhatADKKeepsStaysWithItsContent(t *testing.T) {
	h := fittest.Open(t, "top-down-truncation")
	said := []*genai.Content{
		{Role: genai.RoleUser, Parts: []*genai.Part{{Text: "What is this?", PartMetadata: map[string]any{"id": 1}},
			{InlineData: &genai.Blob{MIMEType: "image/png", Data: []byte("hi")}},
			{FileData: &genai.FileData{MIMEType: "image/png", FileURI: "gs://a/b"}}}},
		{Role: genai.RoleModel, Parts: []*genai.Part{{Text: "hm", Thought: true}, {Text: "", ThoughtSignature: []byte{1}},
			{ExecutableCode: &genai.ExecutableCode{Code: "1+1", Language: "PYTHON"}},
			{CodeExecutionResult: &genai.CodeExecutionResult{Output: "2"}}, {Text: "I look."},
			{FunctionCall: &genai.FunctionCall{Name: "look", Args: map[string]any{"a": 1}}, ThoughtSignature: []byte{2}},
			{FunctionCall: &genai.FunctionCall{Name: "look"}}}},
		{Role: genai.RoleUser, Parts: []*genai.Part{
			{FunctionResponse: &genai.FunctionResponse{Name: "look", Response: map[string]any{"error": "dark"}}},
			{FunctionResponse: &genai.FunctionResponse{Name: "look", Response: map[string]any{"a": 1, "b": []any{}}}}}},
		{Role: genai.RoleUser, Parts: []*genai.Part{{Text: "So?"}}},
	}
	request := &model.LLMRequest{Contents: slices.Clone(said)}
	keeper := fit.New(h, fit.Framework[*genai.Content]{Entry: entry, Messages: contents, Same: same})
	if err := prepare(t.Context(), keeper, request); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(request.Contents, said) {
		t.Errorf("got  %+v\nwant %+v", request.Contents, said)
	}
}

// What a strategy makes of a content's parts changes these alone.
func TestAChangedContent(t *testing.T) {
	call := func(path string) *genai.FunctionCall {
		return &genai.FunctionCall{Name: "read", Args: map[string]any{"path": path}}
	}
	response := func(id string, text any) *genai.FunctionResponse {
		return &genai.FunctionResponse{ID: id, Name: "read", Response: map[string]any{"result": text}}
	}
	for name, test := range map[string]struct {
		was    genai.Content
		change func(*content.Content)
		want   []*genai.Part
	}{
		"the signature of a turn stays on its first call": {
			genai.Content{Role: genai.RoleModel, Parts: []*genai.Part{{Text: "hm", Thought: true},
				{FunctionCall: call("a"), ThoughtSignature: []byte("s")}, {FunctionCall: call("b")}}},
			func(c *content.Content) { c.Blocks = slices.Delete(c.Blocks, 1, 2) },
			[]*genai.Part{{Text: "hm", Thought: true}, {FunctionCall: call("b"), ThoughtSignature: []byte("s")}},
		},
		"a result": {
			genai.Content{Role: genai.RoleUser, Parts: []*genai.Part{
				{FunctionResponse: response("1", "long"), PartMetadata: map[string]any{"id": 1}},
				{FunctionResponse: response("2", []any{"x"})}}},
			func(c *content.Content) {
				for i, text := range []string{"short", "gone"} {
					c.Blocks[i] = c.Blocks[i].(content.ToolResponse).WithResultText(text)
				}
			},
			[]*genai.Part{{FunctionResponse: response("1", "short"), PartMetadata: map[string]any{"id": 1}},
				{FunctionResponse: &genai.FunctionResponse{ID: "2", Name: "read", Response: map[string]any{"output": "gone"}}}},
		},
		"a person's text": {
			genai.Content{Role: genai.RoleUser, Parts: []*genai.Part{{Text: "long", PartMetadata: map[string]any{"id": 1}},
				{InlineData: &genai.Blob{MIMEType: "image/png"}}}},
			func(c *content.Content) {
				text := c.Blocks[0].(content.Text)
				text.Text = "short"
				c.Blocks[0] = text
			},
			[]*genai.Part{{Text: "short", PartMetadata: map[string]any{"id": 1}}, {InlineData: &genai.Blob{MIMEType: "image/png"}}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			now := entry([]*genai.Content{&test.was}, 0)
			test.change(&now)
			got := contents(&test.was, now)
			want := []*genai.Content{{Role: test.was.Role, Parts: test.want}}
			if !reflect.DeepEqual(got, want) {
				t.Errorf("got  %+v\nwant %+v", got[0].Parts, want[0].Parts)
			}
		})
	}
}
