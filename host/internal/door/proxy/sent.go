package proxy

import (
	"github.com/thresh-dev/thresh/host/internal/pricing"
	"github.com/thresh-dev/thresh/host/internal/provider/body"
)

// What was sent last, which is what the provider's prompt cache has. A request that does not begin with all of it is a
// rewrite, whoever made it: a strategy, the rules of the API, a turn that failed, or the client.

// lastSent is a request that was sent. It is never changed, but for its ledger.
type lastSent struct {
	ledger         *pricing.Ledger
	model, session string
	tokens         int // of its conversation
	// chain has the sum of each beginning of the conversation, and ends where it ends in the body.
	chain []body.Sum
	ends  []int
	// trace is what was sent of the branch's entries, but for their thinking; nil if that is not known.
	trace body.Trace
}

// items notes the conversation of a request.
func (l *lastSent) items(r *body.Request) {
	l.chain, l.ends = r.Chain(), make([]int, len(r.Items))
	for i := range r.Items {
		l.ends[i] = r.Items[i].End - r.Items[0].Start
	}
}

// stable returns how many tokens of the conversation that was sent before the request begins with. counted is what the
// host's count of its views says of that.
func (l *lastSent) stable(before *lastSent, counted int) int {
	if before == nil {
		return counted
	}
	same := 0
	for same < min(len(l.chain), len(before.chain)) && l.chain[same] == before.chain[same] {
		same++
	}
	switch {
	case same == len(before.chain):
		return before.tokens
	case counted < before.tokens && l.session == before.session:
		return counted
	case same == 0:
		return 0
	}
	share := float64(before.ends[same-1]) / float64(before.ends[len(before.ends)-1])
	return min(int(share*float64(before.tokens)), before.tokens-1)
}

// account begins the branch's ledger: with the prompt cache that the branch has in common with the one it was forked
// from, in this process, at a point.
func (b *branch) account(at point) {
	list := b.session.PriceList()
	var last *lastSent
	if at.branch != nil && at.branch != b {
		last = at.branch.sent.Load()
	}
	if last == nil {
		b.ledger = pricing.NewLedger(list)
		return
	}
	b.ledger = last.ledger.Fork(at.whole, len(at.entries))
	if last.model != b.model {
		b.ledger = b.ledger.WithPrices(list)
	}
	begun := *last
	begun.trace = nil // the other branch has gone on
	b.sent.Store(&begun)
}
