package prepare

import (
	"time"

	"github.com/thresh-dev/thresh/host/internal/history"
)

// Cadence says when the density step may change the history. Pruning near the top of a history takes the provider's prompt
// cache away from there on, so that pruning at each turn can cost more than it saves.
type Cadence string

// The cadences. "" is [CadenceEveryTurn].
const (
	// CadenceEveryTurn prunes whenever something was added (REQ-HD-002).
	CadenceEveryTurn Cadence = "every-turn"
	// CadenceGated prunes from a share of the context limit on, and only if enough goes.
	CadenceGated Cadence = "gated"
	// CadencePriced prunes when carrying the tokens on costs more than writing the cache anew.
	CadencePriced Cadence = "priced"
)

// DecisionReason says why a history was pruned, or was not.
type DecisionReason string

// Why a history was pruned.
const (
	// DecidedEveryTurn: the cadence asks nothing more.
	DecidedEveryTurn DecisionReason = "every-turn"
	// DecidedDue: the threshold is reached, so that the history is rewritten in any case.
	DecidedDue DecisionReason = "compression-due"
	// DecidedEnough: compression.density.minSavings or more goes.
	DecidedEnough DecisionReason = "enough-to-save"
	// DecidedCold: the provider's cache holds nothing of the history (any more).
	DecidedCold DecisionReason = "cache-cold"
	// DecidedUncached: nothing changes but entries that were never sent.
	DecidedUncached DecisionReason = "not-sent-yet"
	// DecidedPays: over the requests to come, the tokens cost more than the cache that pruning breaks.
	DecidedPays DecisionReason = "pays"
)

// Why a history was not pruned although the strategy would.
const (
	// DecidedTooLittle: less than compression.density.minSavings would go.
	DecidedTooLittle DecisionReason = "too-little-to-save"
	// DecidedDear: writing the cache anew costs more than the tokens do.
	DecidedDear DecisionReason = "does-not-pay"
)

// Decision is what the cadence made of what the strategy would prune. Tokens as the host counts them.
type Decision struct {
	Cadence Cadence        `json:"cadence,omitempty"`
	Reason  DecisionReason `json:"reason,omitempty"`
	// Saves is what pruning takes away, Rewrites what stays but is not in the provider's cache any more afterwards.
	Saves    int `json:"saves,omitempty"`
	Rewrites int `json:"rewrites,omitempty"`
	// Horizon is for how many further requests the savings were counted, GainUSD what pruning gains over them; it is
	// negative if pruning loses. Both are for the cadence priced.
	Horizon int     `json:"horizon,omitempty"`
	GainUSD float64 `json:"gainUSD,omitempty"`
}

// sent is what the last Prepare handed out: what the provider's prompt cache holds if the agent sent it.
type sent struct {
	view history.View // without its History
	at   time.Time
}

// Stable is the beginning of what is sent that is the same as in the preceding Prepare. An agent that marks its own cache
// breakpoints puts one there.
type Stable struct {
	Entries int `json:"entries"`
	Tokens  int `json:"tokens"`
}

// stable returns how much of the beginning of what is handed out was handed out before.
func (t *turn) stable(view history.View) (same Stable) {
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
func (t *turn) decide(plan *history.Plan, base history.Snapshot, due bool) (d Decision, apply bool) {
	set := t.req.Settings
	d.Cadence = set.Cadence
	d.Saves = base.Tokens - plan.After
	e := t.effect(plan, base)
	d.Rewrites = e.rewrites
	switch {
	case set.Cadence == "" || set.Cadence == CadenceEveryTurn || set.Cadence == CadencePriced && set.Prices == nil:
		d.Cadence, d.Reason = CadenceEveryTurn, DecidedEveryTurn
		return d, true
	case due:
		d.Reason = DecidedDue
		return d, true
	case set.Cadence == CadenceGated:
		d.Reason = DecidedTooLittle
		if d.Saves >= set.MinSavings {
			d.Reason = DecidedEnough
		}
		return d, d.Reason == DecidedEnough
	case e.cached == 0 || e.cached+t.beside() < set.Prices.CacheMinimum || set.Prices.Cold(t.at().Sub(e.at)):
		d.Reason = DecidedCold
		return d, true
	case e.uncached:
		d.Reason = DecidedUncached
		return d, true
	}
	read, write := set.Prices.Read()/1e6, set.Prices.Write()/1e6
	d.Horizon = t.horizon(e.cached)
	now := read*float64(e.cached-e.prefix) - write*float64(e.rewrites) + write*float64(d.Saves-e.savesCached)
	d.GainUSD = now + float64(d.Horizon)*read*float64(d.Saves)
	d.Reason = DecidedDear
	if d.GainUSD > 0 {
		d.Reason = DecidedPays
	}
	return d, d.Reason == DecidedPays
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
