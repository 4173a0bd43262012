package sdk_test

import (
	"context"
	"fmt"

	"github.com/thresh-dev/thresh/sdk"
	"github.com/thresh-dev/thresh/sdk/sdktest"
	"github.com/thresh-dev/thresh/sdk/turns"
)

// lastTwo keeps the last two entries when the history is over the threshold, never parting a call from its responses.
type lastTwo struct{}

func (lastTwo) Info() sdk.Info {
	return sdk.Info{Name: "last-two", Version: "0.1.0", Trigger: sdk.Threshold(0.85)}
}

func (lastTwo) Compress(ctx context.Context, host sdk.Host, in sdk.CompressInput) (sdk.CompressResult, error) {
	kept := turns.KeepLast(in.History, 2)
	if len(kept) == len(in.History) {
		return sdk.NoOp(sdk.NoOpTailCoversAll), nil
	}
	fits, err := in.Fits(ctx, host, kept)
	return sdk.Applied(kept, sdk.CompressMetadata{BottomPreserved: new(len(kept)), TargetMissed: !fits}), err
}

// A strategy is a type with two methods. Its main function is serve.Strategy(lastTwo{}); in a test, sdktest calls it as a
// host would.
func Example() {
	say := func(by sdk.Speaker, text string) sdk.Content {
		return sdk.Content{Speaker: by, Blocks: []sdk.Block{sdk.Text{Text: text}}}
	}
	history := []sdk.Content{
		say(sdk.Human, "Where is the parser?"), say(sdk.AI, "In parse.go."),
		say(sdk.Human, "Fix it."), say(sdk.AI, "Done."),
	}
	got, err := sdktest.Config{}.Compress(context.Background(), lastTwo{}, history)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, entry := range got.History {
		fmt.Println(entry.Speaker, entry.Blocks[0].(sdk.Text).Text)
	}
	// Output:
	// human Fix it.
	// ai Done.
}
