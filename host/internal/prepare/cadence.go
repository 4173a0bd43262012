package prepare

import (
	"github.com/thresh-dev/thresh/host/internal/history"
	"github.com/thresh-dev/thresh/host/outcome"
)

// million: prices are per million tokens.
const million = 1e6

// decide says whether to apply a plan of the density step that changes something.
//
// Pruning invalidates the provider's prompt cache from there on. Whether that pays depends on prices: on one side are
// the removed tokens, which every further request would carry, on the other the remaining tokens that must be written
// to the cache again.
func (t *turn) decide(plan *history.Plan, base history.Snapshot, due bool) (d outcome.Decision) {
	set := t.req.Settings
	d.Cadence = set.Cadence
	d.Saves = base.Tokens - plan.After
	e := t.effect(plan, base)
	d.Rewrites = e.rewritten
	batch := min(set.MinSavings, t.outcome.Limits.Hard/batchShare)
	switch {
	case set.Cadence == "" || set.Cadence == outcome.CadenceEveryTurn,
		set.Cadence == outcome.CadencePriced && set.Prices == nil:
		d.Cadence, d.Reason = outcome.CadenceEveryTurn, outcome.DecidedEveryTurn
	// At the threshold the request still fits: by prices, it may be cheaper to continue until it does not.
	case due && (set.Cadence == outcome.CadenceGated || !t.fits()):
		d.Reason = outcome.DecidedDue
	case set.Cadence == outcome.CadenceGated && d.Saves >= set.MinSavings:
		d.Reason = outcome.DecidedEnough
	case set.Cadence == outcome.CadenceGated:
		d.Reason = outcome.DecidedTooLittle
	case e.onlyUncached:
		d.Reason = outcome.DecidedUncached
	// Many small rewrites would each pay a little, and lose more than one that waits for them all. A cold cache costs
	// nothing to rewrite, but then it is warm, and the next batch pays for that: half a batch must be there.
	case set.Prices.CacheRead == 0, t.cacheCold(e) && (due || d.Saves >= batch/2):
		d.Reason = outcome.DecidedCold
	case !due && d.Saves < batch:
		d.Reason = outcome.DecidedTooLittle
	default:
		t.weigh(&d, e, plan.After, t.horizon())
	}
	return d
}

// applies reports whether a plan with this decision is applied.
func applies(d outcome.Decision) bool {
	return d.Reason != outcome.DecidedTooLittle && d.Reason != outcome.DecidedTooCostly
}

// batchShare bounds what cadence priced waits for to a tenth of the hard limit: otherwise a setting for large windows
// would keep small ones from pruning at all.
const batchShare = 10

// worthwhile is the share of a history that a rewrite must remove if no prices are known, or before the threshold.
const worthwhile = 0.1

// pays says whether a Compress that the request would fit without gains more than it costs. Prices decide, whatever the
// cadence; without them, the share of the history that it removes. It takes more than pruning does, and sessions often
// end above the threshold: it must pay in half the expected requests.
func (t *turn) pays(plan *history.Plan, base history.Snapshot) (d outcome.Decision) {
	d.Saves = base.Tokens - plan.After
	e := t.effect(plan, base)
	d.Rewrites = e.rewritten
	switch {
	case t.req.Settings.Prices == nil:
		d.Reason = byShare(d, base, outcome.DecidedEnough)
	case t.cacheCold(e):
		d.Reason = outcome.DecidedCold
	default:
		t.weigh(&d, e, plan.After, t.horizon()/2)
	}
	return d
}

// byShare returns enough if what a plan saves is worthwhile without knowing prices.
func byShare(d outcome.Decision, base history.Snapshot, enough outcome.DecisionReason) outcome.DecisionReason {
	if float64(d.Saves) >= worthwhile*float64(base.Tokens) {
		return enough
	}
	return outcome.DecidedTooLittle
}

// weigh decides by what a plan gains over the horizon.
func (t *turn) weigh(d *outcome.Decision, e cacheEffect, after, horizon int) {
	w := newWorth(t.req.Settings.Prices, t.hostTokens)
	w.recall, w.beside = t.req.Recall, float64(t.extraTokens())
	_, w.growth = t.expected()
	w.growth = max(w.growth, 0)
	d.Horizon, d.GainUSD, d.Reason = horizon, w.gain(e, after+d.Saves, after, horizon), outcome.DecidedTooCostly
	if d.GainUSD > 0 {
		d.Reason = outcome.DecidedPays
	}
}

// cacheCold reports whether the prompt cache holds nothing of the history: nothing was sent since the last rewrite, the
// last prompt was too short to be cached, or it has expired.
func (t *turn) cacheCold(e cacheEffect) bool {
	prices := t.req.Settings.Prices
	return e.cached == 0 || e.cached+t.extraTokens() < prices.CacheMinimum || prices.Cold(t.sendTime().Sub(e.at))
}
