package prepare

// Growth records how fast the history grows, to guess how many requests come before it reaches a limit.
type Growth struct {
	Requests int    // requests of this session
	Since    int    // requests that only added to the one before
	Base     int    // tokens of the last request, less what those since added
	Epoch    uint64 // the history's epoch at the last request
}

// record counts a request of so many tokens that follows one of last tokens, 0 if none was sent to this model. What a
// request with a rewrite added is unknown; what was learned before it is kept.
func (g *Growth) record(tokens, last int, epoch uint64) {
	g.Requests++
	switch {
	case g.Requests == 1 || last == 0:
		g.Since, g.Base = 0, tokens
	case g.Epoch != epoch:
		g.Base += tokens - last
	default:
		g.Since++
	}
	g.Epoch = epoch
}

// longestHorizon bounds the horizon. On recorded sessions, 10 to 20 requests cost least at most providers' prices, and
// results differ little between 5 and 40.
const longestHorizon = 20

// horizon guesses how many further requests would carry what is not pruned now. A session that has lasted for n
// requests is likely to last for another n. It ends earlier when the threshold is reached, because the history is
// rewritten then; above the threshold, at the hard limit. The threshold is in the provider's tokens, hence the ratio.
func (t *turn) horizon() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	g := t.known.Growth
	n := min(g.Requests, longestHorizon)
	grown := t.known.Calibration.Ratio() * float64(t.known.Sent.View.Tokens-g.Base)
	if g.Since > 0 && grown > 0 {
		limit := t.outcome.Limits.Trigger
		if float64(t.outcome.Projected) >= limit {
			limit = float64(t.outcome.Limits.Hard)
		}
		left := (limit - float64(t.outcome.Projected)) * float64(g.Since) / grown
		n = min(n, max(int(left), 0))
	}
	return n
}
