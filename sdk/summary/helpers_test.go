package summary_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/thresh-dev/thresh/internal/testkit/summarytest"
	"github.com/thresh-dev/thresh/sdk"
	"github.com/thresh-dev/thresh/sdk/summary"
)

const snapshot = summarytest.Snapshot

// strategy summarises one range.
type strategy struct {
	from, to int // to 0: all
}

func (strategy) Info() sdk.Info {
	return sdk.Info{Name: "one-range", Version: "1", Trigger: sdk.Threshold(0.85), RequiresLLM: true}
}

func (s strategy) Compress(ctx context.Context, host sdk.Host, in sdk.CompressInput) (sdk.CompressResult, error) {
	if s.to == 0 {
		s.to = len(in.History)
	}
	r, err := summary.Run(ctx, host, in, summary.Range{From: s.from, To: s.to})
	if err != nil {
		return sdk.CompressResult{}, err
	}
	return r.Compressed(in), nil
}

// work is a call of read_file and its result of so many lines.
func work(path string, lines int) []sdk.Content {
	return []sdk.Content{
		{Speaker: sdk.AI, Blocks: []sdk.Block{sdk.ToolCall{ID: path, Name: "read_file",
			Parameters: fmt.Appendf(nil, `{"file_path":%q}`, path)}}},
		{Speaker: sdk.Tool, Blocks: []sdk.Block{sdk.ToolResponse{CallID: path, ToolName: "read_file"}.
			WithResultText(strings.Repeat("a line of "+path+"\n", lines))}},
	}
}

// made is a summary of a strategy, as the host marks it.
func made(text string) sdk.Content {
	c := summarytest.Said(sdk.Human, text)
	c.Metadata = []byte(`{"madeBy":"one-shot"}`)
	return c
}
