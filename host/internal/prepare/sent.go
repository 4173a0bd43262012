package prepare

import (
	"time"

	"github.com/thresh-dev/thresh/host/internal/history"
	"github.com/thresh-dev/thresh/host/outcome"
)

// Sent is the last request that a turn returned: what the provider's prompt cache holds if the agent sent it. The zero
// value: nothing was sent to the current model.
type Sent struct {
	View history.View
	At   time.Time
}

// stable returns how much of the beginning of this request equals the preceding one, for agents that set cache
// breakpoints themselves; zero for the first request of a session.
func (t *turn) stable() (same outcome.Stable) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.known.Growth.Requests > 0 {
		same.Entries, same.Tokens = t.view.Shared(t.known.Sent.View)
	}
	return same
}

// recordSent remembers this request as sent, although the host does not see whether the agent sends it. A wrong guess
// costs at most a wrong decision about pruning.
func (t *turn) recordSent() {
	now := t.sendTime()
	t.mu.Lock()
	defer t.mu.Unlock()
	t.known.Growth.record(t.view.Tokens, t.known.Sent.View.Tokens, t.view.Epoch)
	t.known.Sent = Sent{View: t.view, At: now}
}

func (t *turn) sendTime() time.Time {
	if !t.req.At.IsZero() {
		return t.req.At
	}
	return t.now()
}

// cacheEffect is what applying a plan does to the provider's prompt cache, in tokens as the host counts them.
type cacheEffect struct {
	cached       int  // tokens of the last request
	prefix       int  // tokens that are still cached
	removed      int  // cached tokens that the plan removes
	rewritten    int  // tokens still in the history that leave the cache
	onlyUncached bool // the plan changes nothing that was sent
	at           time.Time
}

// effect compares a plan with the last request. What was rewritten since then, for example in this turn, is no longer
// cached.
func (t *turn) effect(plan *history.Plan, base history.Snapshot) cacheEffect {
	t.mu.Lock()
	last := t.known.Sent
	t.mu.Unlock()
	owned, cached := last.View.Owned, last.View.OwnedTokens
	if last.View.Epoch != base.Epoch || owned > len(base.Entries) {
		owned = t.stillSent(last.View, base)
		cached = base.TokensOf(0, owned)
	}
	first, removed := plan.Touches(owned)
	e := cacheEffect{at: last.At, cached: cached, removed: removed}
	e.prefix = cached - base.TokensOf(min(first, owned), owned)
	e.rewritten = e.cached - e.prefix - removed
	e.onlyUncached = first >= owned
	return e
}

// stillSent returns how many entries at the beginning of a rewritten history the last request was made of, as they are
// now. What providers refuse is not in a request, and what they miss is in it alone.
func (t *turn) stillSent(last history.View, base history.Snapshot) int {
	same, _ := t.view.Shared(last)
	owned, made := t.history.SettledBy(same)
	sent := last.Entries[made:same]
	for _, e := range base.Entries[min(owned, len(base.Entries)):] {
		if len(sent) > 0 && sent[0].SentAs(e) {
			sent = sent[1:]
		} else if !e.Content.Blank() { // blank entries are never sent
			break
		}
		owned++
	}
	return min(owned, len(base.Entries))
}
