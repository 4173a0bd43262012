package sdktest

import (
	"cmp"
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/thresh-dev/thresh/internal/check"
	"github.com/thresh-dev/thresh/internal/testkit/samples"
	"github.com/thresh-dev/thresh/sdk"
)

// Conformance fails the test where a strategy breaks a rule that the host holds all strategies to, on histories made
// for that: empty ones, orphaned and unanswered calls, repeated ids, unknown blocks, odd Unicode and JSON, long runs,
// 10,000 entries. It takes a second or so.
//
// It is the part of `thresh plugins verify` that needs no process: [CheckInfo]; the rules of [Optimize] and [Compress];
// an Optimize that answers the same with a memo as without, while a session grows, is rewritten and loses its memo; a
// result that is smaller and reaches its target, unless it says that it does not. What is not set in c is as for
// those two, but that a strategy with RequiresLLM gets a model whose every answer is one short state snapshot, unless
// c.Generate is another, and a prompt "compression". ContextLimit is set for each history so that the threshold is just
// reached.
func Conformance(tb testing.TB, s sdk.Strategy, c Config) {
	tb.Helper()
	CheckInfo(tb, s)
	info := s.Info()
	if info.RequiresLLM && c.Generate == nil {
		c.Generate = snapshots
	}
	if c.Prompts == nil {
		c.Prompts = map[string]string{"compression": "Write a summary. Answer with one <state_snapshot> … " +
			"</state_snapshot>."}
	}
	// A strategy may have the method and a trigger that never calls it.
	optimizer, continuous := s.(sdk.Optimizer)
	for i, sample := range samples.All() {
		if continuous && info.Trigger.Mode == sdk.ModeContinuous {
			_, err := c.Optimize(tb.Context(), s, sample.History)
			complain(tb, sample.Name, err)
			rnd := rand.New(rand.NewPCG(uint64(i), 1)) // the same in every run
			complain(tb, sample.Name, c.session(tb.Context(), optimizer, info, sample.History, rnd))
		}
		complain(tb, sample.Name, c.compressSample(tb.Context(), s, info, curated(sample.History)))
	}
}

// snapshots is a model with one answer.
func snapshots(context.Context, sdk.GenerateRequest) (sdk.Completion, error) {
	return sdk.Completion{Text: "<state_snapshot>\nThe work goes on.\n</state_snapshot>", FinishReason: "stop",
		Model: "sdktest"}, nil
}

// curated is a history as Compress gets it.
func curated(history []sdk.Content) []sdk.Content {
	return slices.DeleteFunc(slices.Clone(history), sdk.Content.Blank)
}

// compressSample compresses a history that just reaches the threshold, and judges what that achieved.
func (c Config) compressSample(ctx context.Context, s sdk.Strategy, info sdk.Info, history []sdk.Content) error {
	threshold := cmp.Or(c.Threshold, info.Trigger.DefaultThreshold)
	c.ContextLimit = max(int(float64(c.counter()(history))/threshold), 100)
	out, err := c.Compress(ctx, s, history)
	if err != nil || out.NoOp != "" {
		return err
	}
	params := sdk.CompressParams{Threshold: threshold}
	params.ContextLimit = c.ContextLimit
	var found problems
	found.addAll(check.Size(out.TokensBefore, out.TokensAfter, len(history), len(out.History), params.Target(),
		out.Metadata.TargetMissed))
	return found.err("Compress")
}

// complain fails the test for every problem with one history.
func complain(tb testing.TB, history string, err error) {
	tb.Helper()
	var refused *RefusedError
	switch {
	case errors.As(err, &refused):
		for _, p := range refused.Problems {
			tb.Errorf("history %q: %s: %s", history, refused.Op, p)
		}
	case err != nil:
		tb.Errorf("history %q: %v", history, err)
	}
}
