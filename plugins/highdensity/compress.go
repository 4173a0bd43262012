package highdensity

import (
	"context"
	"math"

	"github.com/thresh-dev/thresh/sdk"
)

// Compress makes a history smaller without an LLM, in steps that lose more and more:
//
//  1. The newest entries, the tail, stay as they are.
//  2. Each tool result before the tail becomes one line.
//  3. If that is not enough, the oldest exchanges go, then the oldest entries of the AI.
//
// What people said always stays, and pinned entries stay as they are.
func (Strategy) Compress(ctx context.Context, host sdk.Host, in sdk.CompressInput) (sdk.CompressResult, error) {
	if len(in.History) == 0 {
		return sdk.NoOp(sdk.NoOpEmptyHistory), nil
	}
	tail := tailStart(in.History, in.PreserveThreshold)
	if tail == 0 {
		return sdk.NoOp(sdk.NoOpTailCoversAll), nil
	}
	p := newPlan(in, tail)
	if err := p.summarize(ctx, host); err != nil {
		return sdk.CompressResult{}, err
	}
	p.evict()
	if p.tokens >= p.before {
		return sdk.NoOp(sdk.NoOpNoGain), nil
	}
	return p.result(), nil
}

// tailStart returns where the tail begins. The tail is a share of the entries from the end, rounded up, at least one.
// It never begins with an entry of a tool, so responses stay together with the call right before
// them.
//
// The tail may part a call from a response that lies further away; such an exchange then stays whole. If the tail had
// to begin before the call instead, one call that is answered late would prevent a whole session from being
// compressed.
func tailStart(history []sdk.Content, share float64) int {
	n := len(history)
	size := min(max(int(math.Ceil(float64(n)*share)), 1), n)
	start := n - size
	for start > 0 && history[start].Speaker == sdk.Tool {
		start--
	}
	return start
}
