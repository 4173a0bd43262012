package main

import (
	"context"
	"fmt"

	"github.com/thresh-dev/thresh/sdk"
	"github.com/thresh-dev/thresh/sdk/tools"
	"github.com/thresh-dev/thresh/sdk/turns"
)

// Strategy is squash-logs. It keeps nothing between calls.
type Strategy struct{}

var (
	_ sdk.Strategy  = Strategy{}
	_ sdk.Optimizer = Strategy{}
)

// settings are the strategy's own, as people write them under strategies.squash-logs.
type settings struct {
	// KeepRecent is how many of the newest outputs Optimize leaves as they came.
	KeepRecent int `json:"keepRecent"`
	// MinRepeats is from how many equal lines in a row on they become one.
	MinRepeats int `json:"minRepeats"`
}

// Info declares the settings too: the host checks what people write before the strategy sees it.
func (Strategy) Info() sdk.Info {
	return sdk.Info{
		Name:        "squash-logs",
		Version:     "0.1.0",
		Description: "squashes the output of commands: terminal escapes, progress lines, repeated lines; needs no LLM",
		Trigger:     sdk.Continuous(0.85),
		Config: []sdk.ConfigField{
			{Key: "keepRecent", Type: sdk.Integer, Default: 3, Minimum: new(0.0),
				Description: "how many of the newest outputs stay as they came"},
			{Key: "minRepeats", Type: sdk.Integer, Default: 3, Minimum: new(float64(fewestRepeats)),
				Description: "from how many equal lines in a row on they become one"},
		},
	}
}

// Optimize squashes the output of commands but for the newest. An output that was squashed before does not change any more.
func (Strategy) Optimize(ctx context.Context, in sdk.OptimizeInput) (sdk.DensityResult, error) {
	var s settings
	if err := in.Config.Decode(&s); err != nil {
		return sdk.DensityResult{}, fmt.Errorf("settings: %w", err)
	}
	outputs := commandOutputs(in.History, in.Tools)
	squashed, err := squashOutputs(ctx, in.History, outputs[:max(0, len(outputs)-s.KeepRecent)], s.MinRepeats)
	if err != nil {
		return sdk.DensityResult{}, err
	}
	in.Log.Debug("optimized", "outputs", len(outputs), "entriesChanged", len(squashed))
	return sdk.DensityResult{Replacements: squashed}, nil
}

// Compress squashes all outputs. If the history is still over its target, the oldest entries go, but for those of people.
func (Strategy) Compress(ctx context.Context, host sdk.Host, in sdk.CompressInput) (sdk.CompressResult, error) {
	if len(in.History) == 0 {
		return sdk.NoOp(sdk.NoOpEmptyHistory), nil
	}
	var s settings
	if err := in.Config.Decode(&s); err != nil {
		return sdk.CompressResult{}, fmt.Errorf("settings: %w", err)
	}
	squashed, err := squashOutputs(ctx, in.History, commandOutputs(in.History, in.Tools), s.MinRepeats)
	if err != nil {
		return sdk.CompressResult{}, err
	}
	tokens, err := count(ctx, host, in, squashed)
	if err != nil {
		return sdk.CompressResult{}, err
	}
	history := make([]sdk.Content, len(in.History))
	for i, entry := range in.History {
		if changed, ok := squashed[i]; ok {
			entry = changed
		}
		history[i] = entry
	}
	cut, total := oldest(history, tokens, in.Target())
	kept := make([]sdk.Content, 0, len(history))
	for _, entry := range history[:cut] {
		if stays(entry) {
			kept = append(kept, entry)
		}
	}
	kept = append(kept, history[cut:]...)
	if total >= in.Tokens(0, len(in.History)) {
		return sdk.NoOp(sdk.NoOpNoGain), nil
	}
	return sdk.Applied(kept, sdk.CompressMetadata{
		TargetMissed: float64(total) > in.Target(),
		Counts: map[string]int64{
			"outputsSquashed": int64(len(squashed)),
			"entriesDropped":  int64(len(in.History) - len(kept)),
		},
	}), nil
}

// commandOutputs returns where the results of shell tools stand, in order. What a tool is for, the host's taxonomy knows.
func commandOutputs(history []sdk.Content, taxonomy *tools.Taxonomy) []turns.At {
	pairs := turns.Pair(history)
	var found []turns.At
	for i, entry := range history {
		for j, block := range entry.Blocks {
			if _, ok := block.(sdk.ToolResponse); !ok {
				continue
			}
			at := turns.At{Entry: i, Block: j}
			from, ok := pairs.Call(at)
			if !ok {
				continue // a response that lost its call: nobody knows what it is
			}
			call := history[from.Entry].Blocks[from.Block].(sdk.ToolCall) // pairs are of a call and a response
			if taxonomy.Use(call.Name, call.Parameters).Class == tools.ClassShell {
				found = append(found, at)
			}
		}
	}
	return found
}

// squashOutputs returns copies of the entries that hold one of the outputs and get shorter, by position.
func squashOutputs(ctx context.Context, history []sdk.Content, outputs []turns.At, minRepeats int) (map[int]sdk.Content, error) {
	changed := map[int]sdk.Content{}
	for _, at := range outputs {
		if err := ctx.Err(); err != nil {
			return nil, err // nobody waits for the answer any more
		}
		response := history[at.Entry].Blocks[at.Block].(sdk.ToolResponse)
		if len(response.Result) == 0 || response.Result[0] != '"' {
			continue // a structured result: its text is not ours to change
		}
		text := response.ResultText()
		short := squash(text, minRepeats)
		if len(short) >= len(text) {
			continue
		}
		entry, ok := changed[at.Entry]
		if !ok {
			entry = history[at.Entry] // a copy, which remembers where it came from; its blocks are shared until here
			entry.Blocks = append([]sdk.Block{}, entry.Blocks...)
		}
		entry.Blocks[at.Block] = response.WithResultText(short)
		changed[at.Entry] = entry
	}
	return changed, nil
}
