package sdktest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"testing"

	"github.com/thresh-dev/thresh/internal/check"
	"github.com/thresh-dev/thresh/internal/conform"
	"github.com/thresh-dev/thresh/internal/text"
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
	parts, err := density(history, r)
	if err != nil {
		return out, err
	}
	out.History = recorded(Apply(history, r), parts)
	out.TokensAfter = count(out.History)
	var found problems
	if i := firstDifference(withOrigins(history), in.History); i >= 0 {
		found.broken(conform.ErrInputChanged, i, "in Optimize")
	}
	// Reported as problems although the host goes on without them.
	checkReasons(&found, history, r)
	found.judged(c.statements(history, out.History))
	again, _, err := c.optimizeOnce(ctx, o, info, history)
	if err != nil {
		return out, fmt.Errorf("second run on the same history: %w", err)
	}
	if e := different(conform.ErrRandom, r, again, "the first run, then the second"); e != nil {
		found.addAll(e)
	}
	// On every turn the host optimises what it optimised before.
	rest, _, err := c.optimizeOnce(ctx, o, info, out.History)
	if err != nil {
		return out, fmt.Errorf("second run, on the optimised history: %w", err)
	}
	if e := different(conform.ErrNotDone, sdk.DensityResult{}, rest, "on the optimised history"); e != nil {
		found.addAll(e)
	}
	return out, found.err("Optimize")
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
	host := &fakeHost{info: info, config: c}
	r, err := s.Compress(ctx, host, in)
	if err != nil {
		return Compressed{Requests: host.requests}, fmt.Errorf("%s: Compress: %w", info.Name, err)
	}
	out := Compressed{CompressResult: r, History: r.History, Requests: host.requests}
	if r.NoOp != "" {
		out.History = history
	}
	count := c.counter()
	out.TokensBefore, out.TokensAfter = count(history), count(out.History)

	parts, found := checkCompressed(history, r)
	if len(found) == 0 {
		out.History = recorded(out.History, parts)
	}
	if i := firstDifference(withOrigins(history), in.History); i >= 0 {
		found.broken(conform.ErrInputChanged, i, "in Compress")
	}
	found.judged(host.over)
	if host.failed && r.NoOp != "" {
		found.broken(conform.ErrSwallowed, -1, "when "+c.failing+" fails")
	}
	if len(found) == 0 && r.NoOp == "" {
		found.judged(c.statements(history, out.History))
	}
	// Reports and bills rest on that flag.
	if made := len(host.requests) > 0; r.NoOp == "" && made != r.Metadata.LLMCallMade {
		found.add("Metadata.LLMCallMade is %v, but the strategy made %d requests to the model", r.Metadata.LLMCallMade,
			len(host.requests))
	}
	return out, found.err("Compress")
}

// different says where two results of Optimize differ, that of a and that of b: nil if nowhere.
func different(rule *check.Rule, a, b sdk.DensityResult, detail string) *check.Error {
	does := func(r sdk.DensityResult, i int) string {
		_, removed := slices.BinarySearch(r.Removals, i)
		if now, replaced := r.Replacements[i]; replaced {
			return text.OneLine("it becomes "+string(now.AppendJSON(nil)), 200)
		} else if removed {
			return "it is removed"
		}
		return "it stays"
	}
	var touched []int
	for _, r := range []sdk.DensityResult{a, b} {
		touched = append(append(touched, r.Removals...), slices.Collect(maps.Keys(r.Replacements))...)
	}
	slices.Sort(touched)
	for _, i := range slices.Compact(touched) {
		x, inA := a.Replacements[i]
		y, inB := b.Replacements[i]
		_, goesInA := slices.BinarySearch(a.Removals, i)
		_, goesInB := slices.BinarySearch(b.Removals, i)
		if inA != inB || goesInA != goesInB || inA && !x.Equal(y) || !reflect.DeepEqual(a.Reasons[i], b.Reasons[i]) {
			return &check.Error{Index: i, Err: rule, Detail: detail, Was: does(a, i), Came: does(b, i)}
		}
	}
	if len(a.Removals)+len(a.Replacements)+len(b.Removals)+len(b.Replacements) > 0 && !reflect.DeepEqual(a.Metadata, b.Metadata) {
		return &check.Error{Index: -1, Err: rule, Detail: detail, Was: fmt.Sprintf("%+v", a.Metadata),
			Came: fmt.Sprintf("%+v", b.Metadata)}
	}
	return nil
}

// firstDifference returns the first position at which two histories differ, -1 if there is none.
func firstDifference(a, b []sdk.Content) int {
	for i := range a {
		if i >= len(b) || !a[i].Equal(b[i]) {
			return i
		}
	}
	return -1
}
