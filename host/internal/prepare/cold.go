package prepare

import (
	"github.com/thresh-dev/thresh/host/internal/history"
	"github.com/thresh-dev/thresh/host/outcome"
)

// coldShare is the share of its room that a history must fill to be compressed once the prompt cache is cold. On
// recorded sessions less loses more of what calls need than it saves, and more saves little.
const coldShare = 0.35

// coldDue reports whether the prompt cache expired since the last request, and the history fills so much of its room
// that it is worth compressing before the threshold. The next request writes all of the history to the cache anyway, so
// what stays costs no more than without a rewrite. A strategy that calls a model waits for the threshold: the call
// costs about as much as that saves.
func (t *turn) coldDue() bool {
	prices := t.req.Settings.Prices
	if prices == nil || prices.CacheRead == 0 || t.info.RequiresLLM {
		return false
	}
	t.mu.Lock()
	last := t.known.Sent.At
	t.mu.Unlock()
	if last.IsZero() || !prices.Cold(t.sendTime().Sub(last)) {
		return false
	}
	room := t.hostTokens(t.outcome.Limits.Hard) - t.extraTokens()
	return room > 0 && float64(t.view.Tokens) >= coldShare*float64(room)
}

// paysCold says whether a Compress with a cold cache removes enough to be made before the threshold.
func (t *turn) paysCold(plan *history.Plan, base history.Snapshot) (d outcome.Decision) {
	d.Saves, d.Rewrites = base.Tokens-plan.After, t.effect(plan, base).rewritten
	d.Reason = byShare(d, base, outcome.DecidedCold)
	return d
}
