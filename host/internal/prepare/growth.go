package prepare

// growth records how fast the history grows, to guess how many requests come before it is rewritten anyway.
type growth struct {
	requests int    // requests of this session
	since    int    // requests since the last rewrite
	base     int    // tokens of the first request after the last rewrite
	epoch    uint64 // the history's epoch then
}

// record counts a request.
func (g *growth) record(tokens int, epoch uint64) {
	g.requests++
	if g.requests == 1 || g.epoch != epoch {
		g.since, g.base, g.epoch = 0, tokens, epoch
		return
	}
	g.since++
}

// longestHorizon bounds the horizon. On recorded sessions, 10 to 20 requests cost least at most providers' prices, and
// results differ little between 5 and 40.
const longestHorizon = 20

// horizon guesses how many further requests would carry what is not pruned now. A session that has lasted for n
// requests is likely to last for another n. It ends earlier when the threshold is reached, because the history is
// rewritten then; above the threshold, it is the hard limit. The threshold is in the provider's tokens, hence the
// ratio. tokens is what the last request had of the history.
func (t *turn) horizon(tokens int) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := min(t.growth.requests, longestHorizon)
	if grown := t.calibration.Ratio() * float64(tokens-t.growth.base); t.growth.since > 0 && grown > 0 {
		limit := t.outcome.Limits.Trigger
		if float64(t.outcome.Projected) >= limit {
			limit = float64(t.outcome.Limits.Hard)
		}
		left := (limit - float64(t.outcome.Projected)) * float64(t.growth.since) / grown
		n = min(n, max(int(left), 0))
	}
	return n
}
