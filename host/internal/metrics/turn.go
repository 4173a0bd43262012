package metrics

import (
	"cmp"
	"context"

	"go.opentelemetry.io/otel/metric"

	"github.com/thresh-dev/thresh/host/internal/prepare"
	"github.com/thresh-dev/thresh/host/outcome"
)

// Turn records one Prepare: the request, its outcome, and the error that the agent got. If the Prepare failed before
// there was a request, it is the zero Request. It is called once for each Prepare, after it, by the goroutine that ran
// it.
func (r *Recorder) Turn(ctx context.Context, req prepare.Request, out *outcome.Outcome, err error) {
	if r == nil {
		return
	}
	strategy := strategyOf(out, err)
	own := r.attributes.of(labels{strategy: strategy})
	// What all counters of the turn share.
	r.turns.Add(ctx, 1, r.attributes.of(labels{strategy: strategy, outcome: outcomeOf(err)}).add...)
	r.before.Add(ctx, count(out.TokensBefore), own.add...)
	r.after.Add(ctx, count(out.Tokens), own.add...)
	// Without a strategy nothing was measured: the turn failed before one was known.
	if out.Strategy != "" {
		// The projection is what the provider will count; without a report of usage the host's own count stands in.
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

// Panic records that a method of a door panicked.
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

// optimize records the prune step. A step that did not run has its reason, and no time.
func (r *Recorder) optimize(ctx context.Context, strategy string, out *outcome.Outcome, err error) {
	result, reason := optimizeResult(out, err)
	r.optimizes.Add(ctx, 1, r.attributes.of(labels{strategy: strategy, result: result, reason: reason}).add...)
	// Only if the plugin was called: zeros would hide how long calls take.
	if out.Optimize.PluginTime > 0 {
		r.pluginTime.Record(
			ctx,
			out.Optimize.PluginTime.Seconds(),
			r.attributes.of(labels{strategy: strategy, call: callOptimize}).record...)
	}
	r.save(ctx, strategy, callOptimize, out.TokensBefore-out.Optimize.TokensAfter)
}

// compress records the compress step, if there was one. A turn in which nothing asked for it records nothing.
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
	if c.PluginTime > 0 {
		r.pluginTime.Record(
			ctx,
			c.PluginTime.Seconds(),
			r.attributes.of(labels{strategy: strategy, call: callCompress}).record...)
	}
	if c.Kind == outcome.KindApplied {
		r.save(ctx, strategy, callCompress, c.TokensBefore-c.TokensAfter)
	}
	// A Compress that fails may have spent tokens before, which are counted too.
	if c.LLM != nil {
		r.model(ctx, req.Settings.LLM, c.LLM)
	}
}

// ladder records the rungs that were taken to get under the hard limit. The savings of the first two are already
// recorded.
func (r *Recorder) ladder(ctx context.Context, strategy string, out *outcome.Outcome) {
	for _, s := range out.Ladder {
		r.rungs.Add(ctx, 1, r.attributes.of(labels{strategy: strategy, rung: rung(s.Rung)}).add...)
		if s.Rung != outcome.RungOptimize && s.Rung != outcome.RungCompress {
			r.save(ctx, strategy, rung(s.Rung), s.TokensBefore-s.TokensAfter)
		}
	}
}

// save counts tokens that a step removed. Steps can make a history larger; that shows in tokens.after and is not
// counted as negative savings.
func (r *Recorder) save(ctx context.Context, strategy, step string, tokens int) {
	if tokens > 0 { // entries added while a step runs can outweigh its savings
		r.saved.Add(ctx, count(tokens), r.attributes.of(labels{strategy: strategy, step: step}).add...)
	}
}

// model records what a Compress spent. The names are those of the configuration: the provider's name for the model may
// be anything. Four kinds, of which none includes another, so that they add up to what was paid for.
func (r *Recorder) model(ctx context.Context, llm *prepare.LLM, spent *outcome.Spent) {
	l := labels{profile: spent.Profile}
	if llm != nil {
		l.profile, l.model = llm.Profile, llm.Model.Name
	}
	own := r.attributes.of(l)
	r.llmCalls.Add(ctx, count(spent.Calls), own.add...)
	r.llmAttempts.Add(ctx, count(spent.Attempts), own.add...)
	// Without prices in the profile there is no cost, rather than a cost of 0.
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
		l.tokens = t.kind
		addTokens(ctx, r.llmTokens, t.tokens, r.attributes.of(l))
	}
}

// addTokens skips zero, so that providers without a prompt cache have no series for it.
func addTokens(ctx context.Context, c metric.Int64Counter, tokens int, o *options) {
	if tokens > 0 {
		c.Add(ctx, count(tokens), o.add...)
	}
}

// failure records why a plugin made a turn fail, if one did.
func (r *Recorder) failure(ctx context.Context, strategy string, out *outcome.Outcome, err error) {
	if call, reason := failureOf(out, err); reason != "" {
		r.failures.Add(ctx, 1, r.attributes.of(labels{strategy: strategy, call: call, reason: reason}).add...)
	}
}

// count bounds a number for a counter. Usage comes from providers and counts from plugins: an absurd value must not
// make a sum decrease or overflow. 2^40 is far above any real number and leaves room for eight million of them.
func count(n int) int64 {
	const most = 1 << 40
	return int64(min(max(n, 0), most))
}
