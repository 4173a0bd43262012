// Command bag is a strategy that plays for a recall of names: it keeps the last entries and, of all others, a list of
// names without a word around them. As a program whose name ends in "tail" it is the same without the list.
package main

import (
	"context"
	"os"
	"regexp"
	"strings"

	"github.com/thresh-dev/thresh/sdk"
	"github.com/thresh-dev/thresh/sdk/marks"
	"github.com/thresh-dev/thresh/sdk/serve"
	"github.com/thresh-dev/thresh/sdk/turns"
)

const last = 12

var name = regexp.MustCompile(`[\w./-]*[\w-]*[._/A-Z0-9-][\w./-]*`)

type bag struct{ name string }

func (b bag) Info() sdk.Info {
	return sdk.Info{Name: b.name, Version: "1.0.0", Trigger: sdk.Threshold(0.3)}
}

func (b bag) Compress(_ context.Context, _ sdk.Host, in sdk.CompressInput) (sdk.CompressResult, error) {
	kept := turns.KeepLast(in.History, last)
	gone := len(in.History) - len(kept)
	if gone < 2 {
		return sdk.NoOp(sdk.NoOpTailCoversAll), nil
	}
	if b.name == "tail" {
		return sdk.Applied(kept, sdk.CompressMetadata{}), nil
	}
	seen := map[string]bool{}
	var names []string
	note := func(text string) {
		for _, s := range name.FindAllString(text, -1) {
			if !seen[s] {
				seen[s] = true
				names = append(names, s)
			}
		}
	}
	for _, entry := range in.History[:gone] {
		for _, block := range entry.Blocks {
			switch x := block.(type) {
			case sdk.Text:
				note(x.Text)
			case sdk.ToolCall:
				note(string(x.Parameters))
			case sdk.ToolResponse:
				note(x.ResultText())
			}
		}
	}
	list := sdk.Content{Speaker: sdk.Human, Blocks: []sdk.Block{sdk.Text{
		Text: marks.SnapshotStart + strings.Join(names, " ") + marks.SnapshotEnd}}}
	return sdk.Applied(append([]sdk.Content{list}, kept...), sdk.CompressMetadata{}), nil
}

func main() {
	_, called, _ := strings.Cut(os.Args[0], "thresh-strategy-")
	serve.Strategy(bag{called})
}
