package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/thresh-dev/thresh/sdk"
	"github.com/thresh-dev/thresh/sdk/sdktest"
	"github.com/thresh-dev/thresh/sdk/summary"
)

// withModel is the strategy in front of a host that has a model.
type withModel struct {
	Strategy
	window int // of the model, in tokens
}

func (s withModel) Compress(ctx context.Context, host sdk.Host, in sdk.CompressInput) (sdk.CompressResult, error) {
	in.Model = &sdk.Model{Name: "m", ContextLimit: s.window}
	in.UserMessageBudget = 20_000
	return s.Strategy.Compress(ctx, host, in)
}

const snapshot = "<state_snapshot><overall_goal>ship it</overall_goal></state_snapshot>"

var prompt = map[string]string{summary.PromptName: "Write a snapshot."}

func config(answers ...string) sdktest.Config {
	return sdktest.Config{Generate: sdktest.Answers(answers...), Prompts: prompt}
}

func said(by sdk.Speaker, text string) sdk.Content {
	return sdk.Content{Speaker: by, Blocks: []sdk.Block{sdk.Text{Text: text}}}
}

// history makes entries from letters: h and a speak, H speaks at length, c calls two tools, t and u answer the calls before.
func history(letters string) []sdk.Content {
	var out []sdk.Content
	id := ""
	for i, letter := range letters {
		text := fmt.Sprintf("entry %d ", i)
		switch letter {
		case 'h':
			out = append(out, said(sdk.Human, text+"of the user"))
		case 'H':
			out = append(out, said(sdk.Human, text+strings.Repeat("of the user ", 250)))
		case 'a':
			out = append(out, said(sdk.AI, text+strings.Repeat("of the model ", 200)))
		case 'c':
			id = fmt.Sprint(i)
			out = append(out, sdk.Content{Speaker: sdk.AI, Blocks: []sdk.Block{
				sdk.ToolCall{ID: id + "t", Name: "grep"}, sdk.ToolCall{ID: id + "u", Name: "grep"}}})
		case 't', 'u':
			r := sdk.ToolResponse{CallID: id + string(letter), ToolName: "grep"}.WithResultText(strings.Repeat("found ", 300))
			out = append(out, sdk.Content{Speaker: sdk.Tool, Blocks: []sdk.Block{r}})
		}
	}
	return out
}

func textOf(e sdk.Content) string {
	text := ""
	for _, b := range e.Blocks {
		if t, ok := b.(sdk.Text); ok {
			text += t.Text + "\n"
		}
	}
	return text
}
