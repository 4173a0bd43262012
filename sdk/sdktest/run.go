package sdktest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/thresh-dev/thresh/internal/conform"
	"github.com/thresh-dev/thresh/sdk"
)

// Optimized is what an Optimize came to.
type Optimized struct {
	sdk.DensityResult
	// History is the history with the result applied.
	History []sdk.Content
	// TokensBefore and TokensAfter are what the counter says of the input and of History.
	TokensBefore, TokensAfter int
}

// Compressed is what a Compress came to.
type Compressed struct {
	sdk.CompressResult
	// History is the new history, or the input if nothing was done.
	History []sdk.Content
	// TokensBefore and TokensAfter are what the counter says of the input and of History.
	TokensBefore, TokensAfter int
	// Requests are what the strategy asked the model.
	Requests []sdk.GenerateRequest
}

// Optimize runs the strategy's Optimize on a history and returns what came of it. The test fails at once if that is an
// error, and goes on but fails if the host would refuse the result or drop one of its reasons, if the strategy changed
// its input, if a second run answers something else or, on the optimised history, finds anything more to do, or if what
// is written into the history is not true.
func Optimize(tb testing.TB, s sdk.Strategy, history []sdk.Content, c Config) Optimized {
	tb.Helper()
	out, err := c.Optimize(tb.Context(), s, history)
	report(tb, err)
	return out
}

// Compress runs the strategy's Compress on a history and returns what came of it. The test fails at once if that is an
// error, and goes on but fails if the host would refuse the result, if the strategy changed its input, or if what is
// written into the history is not true.
func Compress(tb testing.TB, s sdk.Strategy, history []sdk.Content, c Config) Compressed {
	tb.Helper()
	out, err := c.Compress(tb.Context(), s, history)
	report(tb, err)
	return out
}

// report fails the test at once for an error of the strategy, and line by line for what is wrong with its answer.
func report(tb testing.TB, err error) {
	tb.Helper()
	switch refused, ok := errors.AsType[*RefusedError](err); {
	case ok:
		for _, p := range refused.Problems {
			tb.Error(p)
		}
	case err != nil:
		tb.Fatal(err)
	}
}

// Optimize is the function [Optimize] for tests of errors: it fails no test. A [RefusedError] comes with the result
// that would be refused; any other error is the strategy's own, wrapped.
func (c Config) Optimize(ctx context.Context, s sdk.Strategy, history []sdk.Content) (Optimized, error) {
	info := s.Info()
	o, ok := s.(sdk.Optimizer)
	if !ok {
		return Optimized{}, fmt.Errorf("sdktest: %s has no method Optimize: the host never optimises with it",
			info.Name)
	}
	r, in, err := c.optimizeOnce(ctx, o, info, history)
	if err != nil {
		return Optimized{}, err
	}
	count := c.counter()
	out := Optimized{DensityResult: r, History: history, TokensBefore: count(history), TokensAfter: count(history)}
	after, err := conform.JudgeOptimize(history, in.History, r)
	if after == nil {
		return out, refused("Optimize", err)
	}
	out.History, out.TokensAfter = after, count(after)
	found := []error{err}
	found = append(found, conform.Untrue(history, out.History, cmp.Or(c.WorkspaceRoot, defaultRoot)))
	again, _, err := c.optimizeOnce(ctx, o, info, history)
	if err != nil {
		return out, fmt.Errorf("second run on the same history: %w", err)
	}
	found = append(found, conform.DifferentEdits(conform.ErrRandom, r, again, "the first run, then the second"))
	// On every turn the host optimises what it optimised before.
	rest, _, err := c.optimizeOnce(ctx, o, info, out.History)
	if err != nil {
		return out, fmt.Errorf("second run, on the optimised history: %w", err)
	}
	found = append(found,
		conform.DifferentEdits(conform.ErrNotDone, sdk.DensityResult{}, rest, "on the optimised history"))
	return out, refused("Optimize", found...)
}

// optimizeOnce runs one Optimize on a copy of the history, and returns the input to compare it with afterwards.
func (c Config) optimizeOnce(ctx context.Context, o sdk.Optimizer, info sdk.Info,
	history []sdk.Content) (sdk.DensityResult, sdk.OptimizeInput, error) {
	in, err := c.optimizeInput(info, history)
	if err != nil {
		return sdk.DensityResult{}, in, err
	}
	r, err := o.Optimize(ctx, in)
	if err != nil {
		return r, in, fmt.Errorf("%s: Optimize: %w", info.Name, err)
	}
	return r, in, nil
}

// Compress is the function [Compress] for tests of errors: it fails no test. A [RefusedError] comes with the result
// that would be refused; any other error is the strategy's own, wrapped.
func (c Config) Compress(ctx context.Context, s sdk.Strategy, history []sdk.Content) (Compressed, error) {
	info := s.Info()
	in, err := c.compressInput(info, history)
	if err != nil {
		return Compressed{}, err
	}
	host := c.host(info)
	r, err := s.Compress(ctx, host, in)
	if err != nil {
		return Compressed{Requests: host.Asked()}, fmt.Errorf("%s: Compress: %w", info.Name, err)
	}
	out := Compressed{CompressResult: r, Requests: host.Asked()}
	out.History, _, err = conform.JudgeCompress(history, in.History, r, host)
	count := c.counter()
	out.TokensBefore, out.TokensAfter = count(history), count(out.History)
	found := []error{err}
	for _, e := range host.Beyond() {
		found = append(found, e)
	}
	if err == nil && r.NoOp == "" {
		found = append(found, conform.Untrue(history, out.History, cmp.Or(c.WorkspaceRoot, defaultRoot)))
	}
	return out, refused("Compress", found...)
}
