package sdktest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/thresh-dev/thresh/internal/conform"
	"github.com/thresh-dev/thresh/internal/conform/samples"
	"github.com/thresh-dev/thresh/internal/conform/statements"
	"github.com/thresh-dev/thresh/sdk"
)

// Conformance fails the test where a strategy breaks a rule that the host holds all strategies to, on histories made
// for that: empty ones, orphaned and unanswered calls, repeated ids, unknown blocks, odd Unicode and JSON, long runs,
// 10,000 entries. It takes a second or so.
//
// It is the part of `thresh plugins verify` that needs no process: [CheckInfo]; the rules of [Optimize] and [Compress];
// an Optimize that answers the same with a memo as without, while a session grows, is rewritten and loses its memo; a
// result that is smaller and reaches its target, unless it says that it does not; what people said is kept, or the
// metadata counts what is gone; what is written into a history is true, as far as that can be told.
//
// What is not set in c is as for those two, but that a strategy with RequiresLLM gets a model whose every answer is one
// short state snapshot, unless c.Generate is another, and a prompt "compression". ContextLimit is set for each history
// so that the threshold is just reached.
func Conformance(tb testing.TB, s sdk.Strategy, c Config) {
	tb.Helper()
	CheckInfo(tb, s)
	info := s.Info()
	if info.RequiresLLM && c.Generate == nil {
		c.Generate = snapshots
	}
	if c.Prompts == nil {
		c.Prompts = map[string]string{"compression": conform.Prompt}
	}
	// A strategy may have the method and a trigger that never calls it.
	optimizer, continuous := s.(sdk.Optimizer)
	for i, sample := range samples.All() {
		if continuous && info.Trigger.Mode == sdk.ModeContinuous {
			out, err := c.Optimize(tb.Context(), s, sample.History)
			complain(tb, sample.Name, err)
			if err == nil {
				complain(tb, sample.Name, c.judge("Optimize", conform.Answer{After: entries(out.History)}, sample.History))
			}
			rnd := rand.New(rand.NewPCG(uint64(i), 1)) // the same in every run
			complain(tb, sample.Name, c.session(tb.Context(), optimizer, info, sample.History, rnd))
		}
		complain(tb, sample.Name, c.compressSample(tb.Context(), s, info, curated(sample.History)))
	}
}

func snapshots(context.Context, sdk.GenerateRequest) (sdk.Completion, error) {
	return sdk.Completion{Text: conform.Snapshot, FinishReason: "stop", Model: "sdktest"}, nil
}

func curated(history []sdk.Content) []sdk.Content {
	return slices.DeleteFunc(slices.Clone(history), sdk.Content.Blank)
}

// compressSample compresses a history that just reaches the threshold, and judges the answer.
func (c Config) compressSample(ctx context.Context, s sdk.Strategy, info sdk.Info, history []sdk.Content) error {
	threshold := cmp.Or(c.Threshold, info.Trigger.DefaultThreshold)
	c.ContextLimit = conform.Limit(c.counter()(history), threshold)
	out, err := c.Compress(ctx, s, history)
	if err != nil || out.NoOp != "" {
		return err
	}
	params := sdk.CompressParams{Threshold: threshold}
	params.ContextLimit = c.ContextLimit
	return c.judge("Compress", conform.Answer{After: entries(out.History), Compress: &out.Metadata,
		TokensBefore: out.TokensBefore, TokensAfter: out.TokensAfter, Target: params.Target()}, history)
}

func (c Config) judge(op string, a conform.Answer, history []sdk.Content) error {
	var found problems
	a.Given = entries(withOrigins(history))
	_, err := a.Statements(cmp.Or(c.WorkspaceRoot, defaultRoot))
	found.addAll(err)
	if a.Compress != nil {
		_, _, err = a.People()
		found.addAll(err)
		found.addAll(a.Size())
	}
	return found.err(op)
}

func entries(history []sdk.Content) []statements.Entry {
	out := make([]statements.Entry, len(history))
	for i, e := range history {
		out[i] = statements.Entry{ID: fmt.Sprint("new", i), Content: e}
		if at, ok := e.Origin(); ok {
			out[i].ID = fmt.Sprint("e", at)
		}
	}
	return out
}

func complain(tb testing.TB, history string, err error) {
	tb.Helper()
	switch refused, ok := errors.AsType[*RefusedError](err); {
	case ok:
		for _, p := range refused.Problems {
			tb.Errorf("history %q: %s: %s", history, refused.Op, p)
		}
	case err != nil:
		tb.Errorf("history %q: %v", history, err)
	}
}
