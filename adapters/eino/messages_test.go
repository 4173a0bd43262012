package eino

import (
	"reflect"
	"testing"

	"github.com/cloudwego/eino/schema"

	"github.com/thresh-dev/thresh/sdk/content"
)

// What a strategy makes of a message's parts, calls and results changes these alone.
func TestAChangedMessage(t *testing.T) {
	picture := &schema.MessageInputImage{MessagePartCommon: schema.MessagePartCommon{MIMEType: "image/png"}}
	was := schema.Message{Role: schema.User, Name: "ann", UserInputMultiContent: []schema.MessageInputPart{
		{Type: schema.ChatMessagePartTypeText, Text: "long", Extra: map[string]any{"id": 1}},
		{Type: schema.ChatMessagePartTypeImageURL, Image: picture},
		{Type: schema.ChatMessagePartTypeImageURL, Image: picture},
	}}
	asked := schema.Message{Role: schema.Assistant, Content: "I look.", ReasoningContent: "hm",
		Extra: map[string]any{"signature": "abc"}, ToolCalls: []schema.ToolCall{
			{ID: "1", Function: schema.FunctionCall{Name: "look", Arguments: "{}"}, Extra: map[string]any{"id": 1}},
			{ID: "2", Function: schema.FunctionCall{Name: "look", Arguments: "not JSON"}, Extra: map[string]any{"id": 2}},
		}}
	answer := schema.Message{Role: schema.Tool, Content: "a cat", ToolCallID: "1", Extra: map[string]any{"ms": 5}}
	for name, test := range map[string]struct {
		was    schema.Message
		change func(*content.Content)
		want   func(*schema.Message)
	}{
		"parts": {was, func(c *content.Content) {
			first := c.Blocks[0].(content.Text)
			first.Text = "short"
			c.Blocks = []content.Block{first, content.Text{Text: "a picture was here", Extra: c.Blocks[1].(content.Media).Extra},
				c.Blocks[2]}
		}, func(m *schema.Message) {
			m.UserInputMultiContent = []schema.MessageInputPart{
				{Type: schema.ChatMessagePartTypeText, Text: "short", Extra: map[string]any{"id": 1}},
				{Type: schema.ChatMessagePartTypeText, Text: "a picture was here"}, was.UserInputMultiContent[2],
			}
		}},
		"a call": {asked, func(c *content.Content) { c.Blocks = c.Blocks[2:] }, func(m *schema.Message) {
			m.Content, m.ReasoningContent = "", ""
		}},
		"no call": {asked, func(c *content.Content) { c.Blocks = append(c.Blocks[:1:1], c.Blocks[1], c.Blocks[3]) },
			func(m *schema.Message) { m.ToolCalls = m.ToolCalls[1:] }},
		"a result": {answer, func(c *content.Content) {
			c.Blocks[0] = c.Blocks[0].(content.ToolResponse).WithResultText("gone")
		}, func(m *schema.Message) { m.Content = "gone" }},
	} {
		t.Run(name, func(t *testing.T) {
			now := entry([]*schema.Message{&test.was}, 0)
			test.change(&now)
			want := test.was
			test.want(&want)
			if got := messages(&test.was, now); len(got) != 1 || !reflect.DeepEqual(*got[0], want) {
				t.Errorf("got  %+v\nwant %+v", got, want)
			}
		})
	}
}
