package sdktest_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/thresh-dev/thresh/sdk"
	"github.com/thresh-dev/thresh/sdk/sdktest"
	"github.com/thresh-dev/thresh/sdk/turns"
)

// keepLast is a whole strategy: it drops everything but the last two entries when the history is over the threshold.
type keepLast struct{}

func (keepLast) Info() sdk.Info {
	return sdk.Info{Name: "keep-last", Version: "0.1.0", Trigger: sdk.Threshold(0.85)}
}

func (keepLast) Compress(_ context.Context, _ sdk.Host, in sdk.CompressInput) (sdk.CompressResult, error) {
	if len(in.History) <= 2 {
		return sdk.NoOp(sdk.NoOpTooFew), nil
	}
	return sdk.Applied(turns.KeepLast(in.History, 2), sdk.CompressMetadata{}), nil
}

// TestKeepLast is a whole test of it. Whatever the host would refuse fails the test without a line of its own.
func TestKeepLast(t *testing.T) {
	history, err := sdktest.ParseHistory([]byte(`[
		{"speaker": "human", "blocks": [{"type": "text", "text": "what is in a.go?"}]},
		{"speaker": "ai", "blocks": [{"type": "tool_call", "id": "1", "name": "read_file", "parameters": {"path": "a.go"}}]},
		{"speaker": "tool", "blocks": [{"type": "tool_response", "callId": "1", "toolName": "read_file", "result": "package a"}]}
	]`))
	if err != nil {
		t.Fatal(err)
	}
	sdktest.CheckInfo(t, keepLast{})
	got := sdktest.Compress(t, keepLast{}, history, sdktest.Config{Counter: sdktest.Words, ContextLimit: 10})
	if len(got.History) != 2 || got.TokensAfter >= got.TokensBefore {
		t.Errorf("%d entries and %d tokens are left", len(got.History), got.TokensAfter)
	}
}

// The whole file is an example: a strategy, its test, and the same by hand.
func Example() {
	history := []sdk.Content{
		{Speaker: sdk.Human, Blocks: []sdk.Block{sdk.Text{Text: "what is two and two?"}}},
		{Speaker: sdk.AI, Blocks: []sdk.Block{sdk.Text{Text: "four"}}},
		{Speaker: sdk.Human, Blocks: []sdk.Block{sdk.Text{Text: "and three?"}}},
	}
	got, err := sdktest.Config{Counter: sdktest.Words}.Compress(context.Background(), keepLast{}, history)
	fmt.Println(len(got.History), "entries,", got.TokensBefore, "tokens before,", got.TokensAfter, "after, error", err)
	// Output: 2 entries, 11 tokens before, 5 after, error <nil>
}
