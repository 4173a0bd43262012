package main

import (
	"context"
	"math"

	"github.com/thresh-dev/thresh/sdk"
)

// Compress leaves the newest entries alone, turns the tool results before them into one line each, and, where that is
// not enough, drops the oldest exchanges and then the oldest entries of the AI (REQ-HD-008). What people said always
// stays. No LLM is asked.
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

// tailStart returns where the tail begins: a share of the entries from the end, rounded up, at least one (REQ-HD-008.2).
// It never begins with a tool's entry, so that responses stay together with the call right before them. A pair that lies
// further apart may be parted by it, and then stays as a whole: if the tail had to begin before such a call, one call that
// is answered late would keep a whole session from being compressed.
func tailStart(history []sdk.Content, share float64) int {
	n := len(history)
	size := min(max(int(math.Ceil(float64(n)*share)), 1), n)
	start := n - size
	for start > 0 && history[start].Speaker == sdk.Tool {
		start--
	}
	return start
}
