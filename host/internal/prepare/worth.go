package prepare

import (
	"math"

	"github.com/thresh-dev/thresh/host/internal/history"
	"github.com/thresh-dev/thresh/host/internal/pricing"
	"github.com/thresh-dev/thresh/host/outcome"
)

// worth says what a rewrite of the history is worth: when it pays, and how much to leave. Three prices decide. Each
// request carries what it holds, at the price of a read from the cache. A rewrite writes what it leaves to the cache
// again. And where the model can search what was removed, now and then it must, which takes one more request; where it
// cannot, what was removed is lost, and nothing is removed for its price alone.
type worth struct {
	carry, write float64 // USD for a token that is read from the cache, or written to it
	output       float64 // USD for a token of an answer
	beside       float64 // tokens of each request besides the history: system prompt, tools
	growth       float64 // tokens that a request adds to the history
	requests     int     // how many more are expected
	recall       bool    // the model can search what was removed

	// A request with more than bound tokens costs so much more for a token that is read or written; bound is 0 if none
	// does.
	bound, moreRead, moreWrite float64
}

// What asking again takes: estimates, from recorded sessions and from models that were given the tool.
const (
	// reach is how many tokens of a history half the calls need nothing beyond: of a request that holds n tokens of a
	// longer history, one in 1 + n/reach needs something that is not there.
	reach = 2000
	// asked and found are the tokens of a search and of what it finds, which is carried until the next rewrite.
	asked, found = 100, 500
	// slack is how much dearer than the cheapest depth one may be that leaves more.
	slack = 0.02
)

// newWorth returns the worth by a list. host converts the provider's tokens into those that the host counts.
func newWorth(l *pricing.List, host func(int) int) worth {
	w := worth{carry: l.Read() / million, write: l.Write() / million, output: l.Output / million}
	if bound, dear := l.Dear(); bound > 0 {
		w.bound = float64(host(bound))
		w.moreRead, w.moreWrite = dear.Read()/million-w.carry, dear.Write()/million-w.write
	}
	return w
}

// long reports whether a request with so many tokens of history is over the bound.
func (w worth) long(tokens float64) bool { return w.bound > 0 && w.beside+tokens > w.bound }

// extra is what a request costs beyond the prices of a short one, in USD: it reads so many tokens of history from the
// cache and writes others.
func (w worth) extra(read, written float64) float64 {
	if !w.long(read + written) {
		return 0
	}
	return w.moreRead*(w.beside+read) + w.moreWrite*written
}

// meanExtra is what requests cost on average beyond the prices of short ones, while the history grows from left to full
// tokens.
func (w worth) meanExtra(left, full float64) float64 {
	if !w.long(full) || full <= left {
		return w.extra(full, 0)
	}
	from := max(left, w.bound-w.beside)
	return (full - from) / (full - left) * w.moreRead * (w.beside + (from+full)/2)
}

// searches is how many searches a request makes that holds so many tokens, on average while these grow to more.
func (w worth) searches(from, to float64) float64 {
	if !w.recall {
		return 0
	}
	if to-from < 1 {
		return reach / (reach + from)
	}
	return reach * math.Log((reach+to)/(reach+from)) / (to - from)
}

// ask is what a search costs in a request with so many tokens of history, in USD.
func (w worth) ask(tokens float64) float64 {
	return w.carry*(w.beside+tokens) + w.write*(asked+found) + w.output*asked
}

// perRequest is what a request costs on average, in USD, if the history is rewritten whenever it has grown from left
// tokens to full.
func (w worth) perRequest(left, full float64) float64 {
	mean, requests := (left+full)/2, (full-left)/w.growth
	n := w.searches(left, full)
	return w.carry*(w.beside+mean+n*(asked+found)*requests/2) + n*w.ask(mean) + (w.write-w.carry)*left/requests +
		w.meanExtra(left, full)
}

// moment is how many tokens the history should have when it is rewritten to left tokens: where a request costs least on
// average, and not before the rewrite pays within half the requests that are expected, because sessions end.
func (w worth) moment(left, most float64) float64 {
	if w.growth <= 0 || left >= most {
		return most
	}
	cost := func(full float64) float64 { return w.perRequest(left, full) }
	full, pays := least(left+1, most, cost), w.pays(left)
	// Up to the bound the cost may fall, and from there on rise.
	if edge := w.bound - w.beside; w.bound > 0 && left+1 < edge && edge < most {
		if below := least(left+1, edge, cost); cost(below) <= cost(full) {
			full = below
		}
	}
	return min(max(full, pays), most)
}

// pays is how many tokens a history has that a rewrite to left tokens pays for within half the requests that are expected.
func (w worth) pays(left float64) float64 {
	requests := max(float64(w.requests)/2, 1e-9)
	cost := (w.write - w.carry) * left / requests // for each of them
	size := left + cost/w.carry
	if edge := max(w.bound-w.beside, left); w.long(size) && !w.long(left) {
		// Each of them saves what is removed and, from the bound on, what a long one costs more.
		size = max(edge, (cost+w.carry*left-w.moreRead*w.beside)/(w.carry+w.moreRead))
	}
	return size
}

// depth is how many tokens a rewrite should leave, of at most so many: as many as cost hardly more than the cheapest
// depth, because what is there need not be found.
func (w worth) depth(most float64) float64 {
	if w.growth <= 0 {
		return most
	}
	w.requests = math.MaxInt32 // what is left must do for as long as the session lasts
	cost := func(left float64) float64 { return w.perRequest(left, w.moment(left, most)) }
	cheapest := least(min(reach, most), most, cost)
	enough, tooMuch := cheapest, most
	for limit := (1 + slack) * cost(cheapest); tooMuch > 1.01*enough; {
		if middle := math.Sqrt(enough * tooMuch); cost(middle) <= limit {
			enough = middle
		} else {
			tooMuch = middle
		}
	}
	return enough
}

// gain is what a rewrite gains over the next request and the horizon, in USD; negative if it loses. The next request
// reads less from the cache, writes again what is left, and does not write what is removed before it was sent. Each
// request of the horizon then reads fewer tokens, and may have to search more.
func (w worth) gain(e cacheEffect, before, after, horizon int) float64 {
	saves := before - after
	next := w.carry*float64(e.cached-e.prefix) - w.write*float64(e.rewritten) + w.write*float64(saves-e.removed)
	next += w.extra(float64(e.cached), float64(before-e.cached)) - w.extra(float64(e.prefix), float64(after-e.prefix))
	more := max(0, w.searches(float64(after), float64(after))-w.searches(float64(before), float64(before)))
	grown := w.growth * float64(horizon)
	saved := w.meanExtra(float64(before), float64(before)+grown) - w.meanExtra(float64(after), float64(after)+grown)
	return next + float64(horizon)*(w.carry*float64(saves)+saved-more*w.ask(float64(after)))
}

// least returns where f is least between low and high, for an f that falls and then rises.
func least(low, high float64, f func(float64) float64) float64 {
	const steps, golden = 32, 0.6180339887
	if high <= low {
		return high
	}
	// By ratios: a thousand tokens matter at ten thousand, and not at a million.
	at := func(x float64) float64 { return f(math.Exp(x)) }
	a, b := math.Log(low), math.Log(high)
	c, d := b-golden*(b-a), a+golden*(b-a)
	fc, fd := at(c), at(d)
	for range steps {
		if fc < fd {
			b, d, fd = d, c, fc
			c = b - golden*(b-a)
			fc = at(c)
		} else {
			a, c, fc = c, d, fd
			d = a + golden*(b-a)
			fd = at(d)
		}
	}
	return math.Exp((a + b) / 2)
}

// early returns the worth of rewrites that the host asks for before the threshold; ok is false where it does not: prices
// do not decide, or what would be removed is lost.
func (t *turn) early() (w worth, ok bool) {
	l := t.req.Settings.Prices
	if !t.req.Recall || l == nil || t.req.Settings.Cadence != outcome.CadencePriced {
		return w, false
	}
	w = newWorth(l, t.hostTokens)
	w.recall, w.beside = true, float64(t.extraTokens())
	w.requests, w.growth = t.expected()
	return w, w.growth > 0
}

// expected is how many more requests are expected, and how many tokens each adds to the history; 0 if unknown.
func (t *turn) expected() (requests int, growth float64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	g := t.known.Growth
	if g.Since > 0 {
		growth = float64(t.known.Sent.View.Tokens-g.Base) / float64(g.Since)
	}
	return min(g.Requests, longestHorizon), growth
}

// depth is how many tokens the host wants a Compress to leave; 0 leaves it to the strategy.
func (t *turn) depth() int {
	w, ok := t.early()
	if !ok {
		return 0
	}
	return int(w.depth(t.room()))
}

// room is how many tokens the history can have.
func (t *turn) room() float64 {
	return float64(max(t.hostTokens(t.outcome.Limits.Hard)-t.extraTokens(), 0))
}

// earlyTrigger returns from which request on a Compress is worth it, in the provider's tokens, and not before the share
// that the strategy declares. What the last one left is the least that the next will.
func (t *turn) earlyTrigger() (trigger float64, ok bool) {
	share := t.outcome.Limits.Early
	w, ok := t.early()
	if !ok || share == 0 {
		return 0, false
	}
	t.mu.Lock()
	left := t.known.Left
	t.mu.Unlock()
	room := t.room()
	at := max(w.moment(max(w.depth(room), float64(left)), room), share*room)
	return float64(t.projected(history.View{Tokens: int(math.Ceil(at))})), true
}
