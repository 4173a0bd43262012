package prepare

import (
	"github.com/thresh-dev/thresh/host/internal/history"
	"github.com/thresh-dev/thresh/host/outcome"
)

// coldDue reports whether the strategy asks for a Compress below its threshold, the cache expired since the last
// request, and the history fills as much of its room as the strategy declares. The next request writes all of the
// history to the cache anyway, so what stays costs no more than without a rewrite.
func (t *turn) coldDue() bool {
	prices, share := t.req.Settings.Prices, t.outcome.Limits.Early
	if share == 0 || prices == nil || prices.CacheRead == 0 {
		return false
	}
	t.mu.Lock()
	last := t.known.Sent.At
	t.mu.Unlock()
	if last.IsZero() || !prices.Cold(t.sendTime().Sub(last)) {
		return false
	}
	room := t.room()
	return room > 0 && float64(t.view.Tokens) >= share*room
}

// paysCold says whether a Compress with a cold cache removes enough to be made before the threshold.
func (t *turn) paysCold(plan *history.Plan, base history.Snapshot) (d outcome.Decision) {
	d.Saves, d.Rewrites = base.Tokens-plan.After, t.effect(plan, base).rewritten
	d.Reason = byShare(d, base, outcome.DecidedCold)
	return d
}
