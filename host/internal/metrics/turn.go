package metrics

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/thresh-dev/thresh/host/internal/prepare"
	"github.com/thresh-dev/thresh/host/outcome"
)

// Turn records one Prepare: the request (zero if it failed before there was one), its outcome, and the agent's error.
func (r *Recorder) Turn(ctx context.Context, req prepare.Request, out *outcome.Outcome, err error) {
	if r == nil {
		return
	}
	strategy := strategyOf(out, err)
	own := r.attributes.of(labels{strategy: strategy})
	r.turns.Add(ctx, 1, r.attributes.of(labels{strategy: strategy, outcome: outcomeOf(err)}).add...)
	r.before.Add(ctx, count(out.TokensBefore), own.add...)
	r.after.Add(ctx, count(out.Tokens), own.add...)
	// Otherwise the turn failed before its strategy was known.
	if out.Strategy != "" {
		// Without a report of usage there is no projection.
		r.request.Record(ctx, count(cmp.Or(out.Projected, out.Tokens)), own.record...)
		r.hostTime.Record(ctx, out.HostTime.Seconds(), own.record...)
		r.optimize(ctx, strategy, out, err)
	}
	if c := out.Calibration; c != nil {
		r.ratio.Record(ctx, c.Ratio)
	}
	r.compress(ctx, strategy, req, out, err)
	r.ladder(ctx, strategy, out)
	r.failure(ctx, strategy, out, err)
}

// Panic records that a door's method panicked.
func (r *Recorder) Panic(ctx context.Context, method string) {
	if r != nil {
		r.panics.Add(ctx, 1, r.attributes.of(labels{method: method}).add...)
	}
}

// Compress records a manual Compress, which is not a turn.
func (r *Recorder) Compress(ctx context.Context, req prepare.Request, out *outcome.Outcome, err error) {
	if r == nil {
		return
	}
	strategy := strategyOf(out, err)
	r.compress(ctx, strategy, req, out, err)
	r.failure(ctx, strategy, out, err)
}

func (r *Recorder) optimize(ctx context.Context, strategy string, out *outcome.Outcome, err error) {
	result, reason := optimizeResult(out, err)
	r.optimizes.Add(ctx, 1, r.attributes.of(labels{strategy: strategy, result: result, reason: reason}).add...)
	r.call(ctx, strategy, callOptimize, out.Optimize.PluginTime)
	r.save(ctx, strategy, callOptimize, out.TokensBefore-out.Optimize.TokensAfter)
}

func (r *Recorder) compress(
	ctx context.Context, strategy string, req prepare.Request, out *outcome.Outcome, err error,
) {
	c := &out.Compress
	if c.Reason == "" {
		return
	}
	result, reason := compressResult(c, err)
	r.compresses.Add(
		ctx,
		1,
		r.attributes.of(labels{strategy: strategy, trigger: trigger(c.Reason), result: result, reason: reason}).add...)
	r.call(ctx, strategy, callCompress, c.PluginTime)
	if c.Kind == outcome.KindApplied {
		r.save(ctx, strategy, callCompress, c.TokensBefore-c.TokensAfter)
	}
	// A failed Compress may have spent tokens.
	if c.LLM != nil {
		r.model(ctx, req.Settings.LLM, c.LLM)
	}
}

// call records how long a plugin took, if it was called: zeros would hide how long calls take.
func (r *Recorder) call(ctx context.Context, strategy, call string, took time.Duration) {
	if took > 0 {
		r.pluginTime.Record(ctx, took.Seconds(), r.attributes.of(labels{strategy: strategy, call: call}).record...)
	}
}

// ladder records the rungs taken. The savings of the first two are already recorded.
func (r *Recorder) ladder(ctx context.Context, strategy string, out *outcome.Outcome) {
	for _, s := range out.Ladder {
		r.rungs.Add(ctx, 1, r.attributes.of(labels{strategy: strategy, rung: rung(s.Rung)}).add...)
		if s.Rung != outcome.RungOptimize && s.Rung != outcome.RungCompress {
			r.save(ctx, strategy, rung(s.Rung), s.TokensBefore-s.TokensAfter)
		}
	}
}

// save counts tokens that a step removed. A step may enlarge a history, which only tokens.after shows.
func (r *Recorder) save(ctx context.Context, strategy, step string, tokens int) {
	if tokens > 0 { // entries added while a step runs can outweigh its savings
		r.saved.Add(ctx, count(tokens), r.attributes.of(labels{strategy: strategy, step: step}).add...)
	}
}

// model records what a Compress spent, with the configured names: the provider's may be anything. The four kinds of
// tokens do not overlap.
func (r *Recorder) model(ctx context.Context, llm *prepare.LLM, spent *outcome.Spent) {
	l := labels{profile: spent.Profile}
	if llm != nil {
		l.profile, l.model = llm.Profile, llm.Model.Name
	}
	own := r.attributes.of(l)
	r.llmCalls.Add(ctx, count(spent.Calls), own.add...)
	r.llmAttempts.Add(ctx, count(spent.Attempts), own.add...)
	// Without prices, no cost rather than a cost of 0.
	if spent.CostUSD > 0 {
		r.llmCost.Add(ctx, spent.CostUSD, own.add...)
	}
	r.llmTime.Record(ctx, spent.Time.Seconds(), own.record...)
	for _, t := range []struct {
		kind   string
		tokens int
	}{
		{"input", spent.InputTokens - spent.CacheReadTokens - spent.CacheWriteTokens},
		{"cache_read", spent.CacheReadTokens},
		{"cache_write", spent.CacheWriteTokens},
		{"output", spent.OutputTokens},
	} {
		if t.tokens > 0 { // providers without a prompt cache get no series for it
			l.tokens = t.kind
			r.llmTokens.Add(ctx, count(t.tokens), r.attributes.of(l).add...)
		}
	}
}

func (r *Recorder) failure(ctx context.Context, strategy string, out *outcome.Outcome, err error) {
	for _, err := range append(slices.Clip(out.Failures), err) {
		if call, reason := failureOf(out, err); reason != "" {
			r.failures.Add(ctx, 1, r.attributes.of(labels{strategy: strategy, call: call, reason: reason}).add...)
		}
	}
}

// count bounds a number: absurd usage from a provider or count from a plugin must not make a sum decrease or overflow.
// 2^40 is far above any real number and leaves room for eight million of them.
func count(n int) int64 {
	const most = 1 << 40
	return int64(min(max(n, 0), most))
}
