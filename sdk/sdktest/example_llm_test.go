package sdktest_test

import (
	"context"
	"fmt"

	"github.com/thresh-dev/thresh/sdk"
	"github.com/thresh-dev/thresh/sdk/sdktest"
)

// tell is a strategy that has the model tell the whole history in one sentence.
type tell struct{}

func (tell) Info() sdk.Info {
	return sdk.Info{Name: "tell", Version: "0.1.0", Trigger: sdk.Threshold(0.85), RequiresLLM: true}
}

func (tell) Compress(ctx context.Context, host sdk.Host, in sdk.CompressInput) (sdk.CompressResult, error) {
	prompt, err := host.ResolvePrompt(ctx, "compression")
	if err != nil {
		return sdk.CompressResult{}, err
	}
	answer, err := host.Generate(ctx, sdk.GenerateRequest{System: prompt, Entries: in.History}, nil)
	if err != nil {
		return sdk.CompressResult{}, err
	}
	summary := sdk.Content{Speaker: sdk.AI, Blocks: []sdk.Block{sdk.Text{Text: answer.Text}}}
	return sdk.Applied([]sdk.Content{summary}, sdk.CompressMetadata{LLMCallMade: true}), nil
}

// A strategy that asks a model is tested with scripted answers.
func ExampleAnswers() {
	c := sdktest.Config{
		Prompts:  map[string]string{"compression": "Tell it in one sentence."},
		Generate: sdktest.Answers("They added numbers."),
	}
	got, err := c.Compress(context.Background(), tell{}, []sdk.Content{
		{Speaker: sdk.Human, Blocks: []sdk.Block{sdk.Text{Text: "what is two and two?"}}},
		{Speaker: sdk.AI, Blocks: []sdk.Block{sdk.Text{Text: "four"}}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("asked with:", got.Requests[0].System)
	fmt.Println("made:", got.History[0].Blocks[0].(sdk.Text).Text)
	// Output:
	// asked with: Tell it in one sentence.
	// made: They added numbers.
}
