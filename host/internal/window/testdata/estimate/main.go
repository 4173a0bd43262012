// Command estimate is a strategy that has the host count entries, to measure what that costs.
package main

import (
	"context"
	"time"

	"github.com/thresh-dev/thresh/sdk"
	"github.com/thresh-dev/thresh/sdk/serve"
)

// rounds is how often each question is asked.
const rounds = 20

type estimate struct{}

func (estimate) Info() sdk.Info {
	return sdk.Info{Name: "estimate", Version: "1.0.0", Trigger: sdk.Threshold(0.85)}
}

// Compress says in its counts how long calls took, in nanoseconds: "empty" for an entry without text, "history" for the
// entries as they came, "copies" for entries that are the same but decoded again; of those, "first" is the first call.
func (estimate) Compress(ctx context.Context, host sdk.Host, in sdk.CompressInput) (sdk.CompressResult, error) {
	copies := make([]sdk.Content, len(in.History))
	for i, e := range in.History {
		copies[i] = sdk.Content{Speaker: e.Speaker, Blocks: e.Blocks, Metadata: e.Metadata, Extra: e.Extra}
	}
	counts := map[string]int64{}
	measure := func(name string, entries []sdk.Content, rounds int) error {
		start := time.Now()
		for range rounds {
			if _, err := host.EstimateTokens(ctx, entries); err != nil {
				return err
			}
		}
		counts[name] = time.Since(start).Nanoseconds() / int64(rounds)
		return nil
	}
	empty := []sdk.Content{{Speaker: sdk.AI}}
	for _, m := range []struct {
		name    string
		entries []sdk.Content
		rounds  int
	}{
		{"connect", empty, 1}, {"empty", empty, rounds},
		{"first", copies, 1}, {"copies", copies, rounds}, {"history", in.History, rounds},
	} {
		if err := measure(m.name, m.entries, m.rounds); err != nil {
			return sdk.CompressResult{}, err
		}
	}
	out := sdk.NoOp("measured")
	out.Metadata.Counts = counts
	return out, nil
}

func main() { serve.Strategy(estimate{}) }
