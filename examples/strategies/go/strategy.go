package main

import (
	"context"
	"fmt"

	"github.com/thresh-dev/thresh/sdk"
	"github.com/thresh-dev/thresh/sdk/tools"
	"github.com/thresh-dev/thresh/sdk/turns"
)

// Strategy is squash-logs. It has no fields, because a strategy keeps nothing between calls: many sessions share the
// process, and the host may replace it at any time. The zero value is ready to use.
type Strategy struct{}

// The compiler checks that both steps have the signatures that the SDK wants. Without the second assertion, a
// misspelled Optimize would only be noticed when the host starts the plugin.
var (
	_ sdk.Strategy  = Strategy{}
	_ sdk.Optimizer = Strategy{}
)

// settings are the strategy's own settings, as users write them under strategies.squash-logs. The defaults are in Info:
// the host fills them in, so that every call brings all values.
type settings struct {
	// KeepRecent is how many of the newest outputs Optimize leaves as they came.
	KeepRecent int `json:"keepRecent"`
	// MinRepeats is how many equal lines in a row become one; at least 3.
	MinRepeats int `json:"minRepeats"`
}

// Info declares what the strategy is and which settings it has. The host checks the users' values against this
// declaration before the strategy sees them. The answer must not change while the file does not.
func (Strategy) Info() sdk.Info {
	return sdk.Info{
		// The name must be that of the file: thresh-strategy-squash-logs.
		Name:        "squash-logs",
		Version:     "0.1.0",
		Description: "shortens the output of commands: lines that look equal on a terminal; needs no LLM",
		Trigger:     sdk.Continuous(0.85),
		Config: []sdk.ConfigField{
			{Key: "keepRecent", Type: sdk.Integer, Default: 3, Minimum: new(0.0),
				Description: "how many of the newest outputs stay as they came"},
			{Key: "minRepeats", Type: sdk.Integer, Default: 3, Minimum: new(float64(fewestRepeats)),
				Description: "how many equal lines in a row become one"},
		},
	}
}

// Optimize squashes all command outputs except the newest. It is called before every request of the agent, so it must
// be fast. It removes no entry. A squashed output does not change again, so that running Optimize on its own result
// finds nothing to do, as the host demands.
func (Strategy) Optimize(ctx context.Context, in sdk.OptimizeInput) (sdk.DensityResult, error) {
	var s settings
	if err := in.Config.Decode(&s); err != nil {
		return sdk.DensityResult{}, fmt.Errorf("settings: %w", err)
	}
	outputs := commandOutputs(in.History, in.Tools)
	// The last KeepRecent outputs are left out; there may be fewer than that.
	squashed, err := squashOutputs(ctx, in.History, outputs[:max(0, len(outputs)-s.KeepRecent)], s.MinRepeats)
	if err != nil {
		return sdk.DensityResult{}, err
	}
	in.Log.Debug("optimized", "outputs", len(outputs), "entriesChanged", len(squashed))
	return sdk.DensityResult{Replacements: squashed}, nil
}

// Compress squashes all outputs. If the history is still over the target, it removes the oldest entries, but never what
// the user said. It returns a no-op if nothing would be gained.
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
	// The entries of the input must not be changed, so that the new history is built in a slice of its own.
	history := make([]sdk.Content, len(in.History))
	for i, entry := range in.History {
		if changed, ok := squashed[i]; ok {
			entry = changed
		}
		history[i] = entry
	}
	stays := staying(history)
	cut, total := oldest(history, tokens, stays, in.Target())
	kept := make([]sdk.Content, 0, len(history))
	for i, entry := range history[:cut] {
		if stays[i] {
			kept = append(kept, entry)
		}
	}
	kept = append(kept, history[cut:]...)
	if total >= in.Tokens(0, len(in.History)) {
		return sdk.NoOp(sdk.NoOpNoGain), nil
	}
	// What is dropped has to be counted, and a missed target has to be reported: users see both in the outcome of the
	// turn.
	return sdk.Applied(kept, sdk.CompressMetadata{
		TargetMissed: float64(total) > in.Target(),
		Counts: map[string]int64{
			"outputsSquashed": int64(len(squashed)),
			"entriesDropped":  int64(len(in.History) - len(kept)),
		},
	}), nil
}

// commandOutputs returns the positions of the responses of shell tools, in order. The host's taxonomy says what a tool
// is for: every agent has other names for its tools.
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
				continue // a response that lost its call: its tool's parameters are unknown
			}
			call := history[from.Entry].Blocks[from.Block].(sdk.ToolCall) // pairs are of a call and a response
			if taxonomy.Use(call.Name, call.Parameters).Class == tools.ClassShell {
				found = append(found, at)
			}
		}
	}
	return found
}

// squashOutputs returns changed copies of the entries whose outputs get shorter, by position. Entries that do not
// change are not in the map. The error is that of ctx, when the host no longer needs the answer.
func squashOutputs(ctx context.Context, history []sdk.Content, outputs []turns.At, minRepeats int,
) (map[int]sdk.Content, error) {
	changed := map[int]sdk.Content{}
	for _, at := range outputs {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if history[at.Entry].Pinned() {
			continue // it must stay as it is
		}
		response := history[at.Entry].Blocks[at.Block].(sdk.ToolResponse)
		if len(response.Result) == 0 || response.Result[0] != '"' {
			continue // a structured result (JSON): changing its text could break it
		}
		text := response.ResultText()
		short := squash(text, minRepeats)
		if len(short) >= len(text) {
			continue
		}
		entry, ok := changed[at.Entry]
		if !ok {
			// A copy of an entry remembers its position, so that the SDK knows what it replaces. The blocks are still
			// shared with the input; they are copied before one of them changes.
			entry = history[at.Entry]
			entry.Blocks = append([]sdk.Block{}, entry.Blocks...)
		}
		entry.Blocks[at.Block] = response.WithResultText(short)
		changed[at.Entry] = entry
	}
	return changed, nil
}
