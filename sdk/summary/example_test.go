package summary_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/thresh-dev/thresh/sdk"
	"github.com/thresh-dev/thresh/sdk/sdktest"
	"github.com/thresh-dev/thresh/sdk/summary"
)

// firstHalf has the older half of a history summarised.
type firstHalf struct{}

func (firstHalf) Info() sdk.Info {
	return sdk.Info{Name: "first-half", Version: "0.1.0", Trigger: sdk.Threshold(0.85), RequiresLLM: true}
}

func (firstHalf) Compress(ctx context.Context, host sdk.Host, in sdk.CompressInput) (sdk.CompressResult, error) {
	to := summary.Cut(in.History, len(in.History)/2)
	if to < summary.Fewest {
		return sdk.NoOp(sdk.NoOpTooFew), nil
	}
	result, err := summary.Run(ctx, host, in, summary.Range{To: to})
	if err != nil {
		return sdk.CompressResult{}, err
	}
	return result.Compressed(in), nil
}

// A strategy chooses the range; the rest is the same for all. Its tests stand in for the model, and its main function
// is serve.Strategy(firstHalf{}).
func Example() {
	history := []sdk.Content{{Speaker: sdk.Human,
		Blocks: []sdk.Block{sdk.Text{Text: "Find what is wrong in the parser."}}}}
	for i := range 11 {
		history = append(history, sdk.Content{Speaker: sdk.AI, Blocks: []sdk.Block{sdk.Text{
			Text: fmt.Sprintf("Step %d: ", i+1) + strings.Repeat("I looked at one more file and found nothing. ", 10),
		}}})
	}
	got, err := sdktest.Config{
		Prompts:  map[string]string{summary.PromptName: "Write a state snapshot."},
		Generate: sdktest.Answers("<state_snapshot><overall_goal>Mend the parser.</overall_goal></state_snapshot>"),
	}.Compress(context.Background(), firstHalf{}, history)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(len(history), "entries became", len(got.History))
	fmt.Println(got.History[0].Blocks[0].(sdk.Text).Text)
	fmt.Printf("%.6s…\n", got.History[2].Blocks[0].(sdk.Text).Text)
	// Output:
	// 12 entries became 8
	// <state_snapshot><overall_goal>Mend the parser.</overall_goal></state_snapshot>
	//
	// What the user said, word for word, oldest first:
	// [message of 33 characters]
	// Find what is wrong in the parser.
	// Step 6…
}
