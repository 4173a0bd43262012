package prepare

import (
	"time"

	"github.com/thresh-dev/thresh/host/internal/history"
	"github.com/thresh-dev/thresh/host/outcome"
)

// sent is what the last Prepare handed out: what the provider's prompt cache holds if the agent sent it.
type sent struct {
	view history.View // without its History
	at   time.Time
}

// stable returns how much of the beginning of what is handed out was handed out before.
func (t *turn) stable(view history.View) (same outcome.Stable) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.pace.turns > 0 {
		same.Entries, same.Tokens = view.Shared(t.sent.view)
	}
	return same
}

// remember takes down what is handed out to be sent.
func (t *turn) remember(view history.View) {
	now := t.at()
	t.mu.Lock()
	defer t.mu.Unlock()
	t.sent = sent{view: view, at: now}
	t.sent.view.History = nil
	t.pace.turn(view.Tokens, view.Epoch)
}

// at is when the request is sent.
func (t *turn) at() time.Time {
	if !t.req.At.IsZero() {
		return t.req.At
	}
	return t.now()
}

// decide says whether to carry out a plan of the density step that changes something.
func (t *turn) decide(plan *history.Plan, base history.Snapshot, due bool) (d outcome.Decision, apply bool) {
	set := t.req.Settings
	d.Cadence = set.Cadence
	d.Saves = base.Tokens - plan.After
	e := t.effect(plan, base)
	d.Rewrites = e.rewrites
	switch {
	case set.Cadence == "" || set.Cadence == outcome.CadenceEveryTurn || set.Cadence == outcome.CadencePriced && set.Prices == nil:
		d.Cadence, d.Reason = outcome.CadenceEveryTurn, outcome.DecidedEveryTurn
		return d, true
	case due:
		d.Reason = outcome.DecidedDue
		return d, true
	case set.Cadence == outcome.CadenceGated:
		d.Reason = outcome.DecidedTooLittle
		if d.Saves >= set.MinSavings {
			d.Reason = outcome.DecidedEnough
		}
		return d, d.Reason == outcome.DecidedEnough
	case e.cached == 0 || e.cached+t.beside() < set.Prices.CacheMinimum || set.Prices.Cold(t.at().Sub(e.at)):
		d.Reason = outcome.DecidedCold
		return d, true
	case e.uncached:
		d.Reason = outcome.DecidedUncached
		return d, true
	}
	read, write := set.Prices.Read()/1e6, set.Prices.Write()/1e6
	d.Horizon = t.horizon(e.cached)
	now := read*float64(e.cached-e.prefix) - write*float64(e.rewrites) + write*float64(d.Saves-e.savesCached)
	d.GainUSD = now + float64(d.Horizon)*read*float64(d.Saves)
	d.Reason = outcome.DecidedTooCostly
	if d.GainUSD > 0 {
		d.Reason = outcome.DecidedPays
	}
	return d, d.Reason == outcome.DecidedPays
}

// effect is what carrying out a plan does to the provider's cache, in tokens.
type effect struct {
	cached      int  // what the last request had
	prefix      int  // what of it stays cached
	savesCached int  // what of it goes
	rewrites    int  // what of it stays, but has to be written anew
	uncached    bool // nothing of it changes
	at          time.Time
}

func (t *turn) effect(plan *history.Plan, base history.Snapshot) effect {
	t.mu.Lock()
	last := t.sent
	t.mu.Unlock()
	if last.view.Epoch != base.Epoch || last.view.Owned > len(base.Entries) {
		return effect{} // the history was rewritten since: nothing is known to be cached
	}
	e := effect{at: last.at}
	for _, entry := range base.Entries[:last.view.Owned] {
		e.cached += entry.Tokens
	}
	first, saved := plan.Touches(last.view.Owned)
	for _, entry := range base.Entries[:min(first, last.view.Owned)] {
		e.prefix += entry.Tokens
	}
	e.savesCached = saved
	e.rewrites = e.cached - e.prefix - saved
	e.uncached = first >= last.view.Owned
	return e
}

// pace is how fast the history grows, for a guess at how many requests come before it is rewritten in any case.
type pace struct {
	turns int // requests of this session
	since int // requests since the last rewrite
	base  int // tokens of the first request after it
	epoch uint64
}

func (p *pace) turn(tokens int, epoch uint64) {
	p.turns++
	if p.turns == 1 || p.epoch != epoch {
		p.since, p.base, p.epoch = 0, tokens, epoch
		return
	}
	p.since++
}

// longestHorizon bounds the horizon. On recorded sessions 10 to 20 requests cost least at most providers' prices, and there is little
// between 5 and 40.
const longestHorizon = 20

// horizon guesses how many requests still carry what is not pruned now. A session that has gone on for n requests may well
// go on for another n; and the threshold, which goes by the provider's count, ends it, as the history is rewritten then. tokens
// is what the last request had of the history.
func (t *turn) horizon(tokens int) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := min(t.pace.turns, longestHorizon)
	if grown := t.calibration.Ratio() * float64(tokens-t.pace.base); t.pace.since > 0 && grown > 0 {
		left := (t.outcome.Limits.Trigger - float64(t.outcome.Projected)) * float64(t.pace.since) / grown
		n = min(n, max(int(left), 0))
	}
	return n
}
