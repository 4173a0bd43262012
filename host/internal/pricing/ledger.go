package pricing

import (
	"math"
	"sync"
	"sync/atomic"
	"time"
)

// Ledger tells what a session's requests cost, and what they would have cost if nothing had been removed, with a prompt
// cache in both cases. Requests are added by one goroutine at a time; all else is for several.
type Ledger struct {
	list *List // nil: none is known
	// read is what the provider last read from its cache, in its tokens. missed means that the last prompt that only
	// grew was not in the cache, or only a fixed beginning of it: the cache expired, or the client marks no more.
	read   atomic.Int64
	missed atomic.Bool

	mu sync.Mutex // guards what follows
	// sent is for what was sent, whole for what would have been, each with its own prompt cache.
	sent, whole *Meter
	last        Size
	// What reports taught: counted and reported are the size of the last prompt, in the host's and the
	// provider's tokens; grown has sums over what prompts that only grew had more than the one before.
	counted  Size
	reported float64
	grown    struct{ x, y, xx, xy, xn, yn, nn float64 }
}

// Size is the size of a request, as sent and as it would have been if nothing had ever been removed.
type Size struct {
	Sent, Whole               int // tokens
	Pending                   int // tokens of both that are not of the history
	Rest                      int // of Pending, those of the system prompt, the tools and the settings; 0 if not known
	SentEntries, WholeEntries int
}

// NewLedger returns a ledger with nothing in it. Without a price list (nil) it tells no costs.
func NewLedger(list *List) *Ledger {
	if list == nil {
		return &Ledger{}
	}
	return &Ledger{list: list, sent: NewMeter(list), whole: NewMeter(list)}
}

// WithPrices returns the ledger of a session that goes on with another model: nothing is in that one's cache, and what
// the provider's reports taught still holds.
func (l *Ledger) WithPrices(list *List) *Ledger {
	next := NewLedger(list)
	l.mu.Lock()
	defer l.mu.Unlock()
	next.last, next.grown = l.last, l.grown
	return next
}

// Fork returns the ledger of a conversation that goes on from an earlier point of this one: it has the same prompt cache,
// and of what the last request would have been, the first tokens of the history, in so many entries.
func (l *Ledger) Fork(tokens, entries int) *Ledger {
	next := NewLedger(l.list)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.list != nil {
		*next.sent, *next.whole = *l.sent, *l.whole
	}
	next.last, next.counted, next.reported, next.grown = l.last, l.counted, l.reported, l.grown
	next.last.Whole, next.last.WholeEntries = min(l.last.Whole, tokens+l.last.Rest), min(l.last.WholeEntries, entries)
	next.read.Store(l.read.Load())
	next.missed.Store(l.missed.Load())
	return next
}

// Charge is what one request saved; the zero value saved nothing.
type Charge struct {
	// Saved is the difference in US dollars: negative if a rewrite cost more cache than it saved, and 0 without a price
	// list. It assumes that the provider's cache has all that it may have.
	Saved float64
	// Rewrote means that the beginning of the previous request's conversation was rewritten.
	Rewrote bool

	ledger *Ledger // nil: no price list is known
	prompt Size
	cached Size // what the caches were supposed to have of it
	reset  bool // its rest has another size than the request before
	first  bool // the ledger has no request before it
}

// Request adds a request whose history begins with stable tokens of the previous one's.
func (l *Ledger) Request(p Size, stable int, at time.Time) Charge {
	l.mu.Lock()
	defer l.mu.Unlock()
	before := l.last
	l.last = p
	stable += before.Pending
	c := Charge{Rewrote: stable < before.Sent}
	if l.list == nil {
		return c
	}
	paid := l.sent.Request(Request{Tokens: p.Sent, Stable: stable, At: at})
	// If nothing is ever removed, a request begins with all of the previous one, or of that which a fork has of it.
	spared := l.whole.Request(Request{Tokens: p.Whole, Stable: before.Whole, At: at})
	c.Saved, c.ledger, c.prompt, c.reset = spared.USD-paid.USD, l, p, p.Rest != before.Rest
	c.first = before == Size{}
	c.cached = Size{Sent: paid.CacheRead, Whole: spared.CacheRead}
	if paid.CacheRead > 0 {
		c.cached.SentEntries = before.SentEntries // not after a rewrite, which has fewer
	}
	if spared.CacheRead > 0 {
		c.cached.WholeEntries = before.WholeEntries
	}
	return c
}

// Reported corrects what the request saved by what the provider says of its prompt, in the provider's tokens: read from
// the cache (cached), written to it, and neither (input). Clients may not mark what to cache, a cache expires, and the
// host counts otherwise than the bill. Call it once per charge, after the answer, from any goroutine.
func (c Charge) Reported(input, cached, written int) float64 {
	if c.ledger == nil || input+cached+written <= 0 {
		return c.Saved
	}
	// Of unread tokens the same part is assumed to be written in the whole prompt and in the sent one.
	writes := 1.0
	if input+written > 0 {
		writes = float64(written) / float64(input+written)
	}
	sent, read := float64(input+cached+written), float64(cached)
	each, around := c.ledger.learn(c, sent)
	of := func(tokens, entries int) float64 { return float64(tokens)*each + float64(entries)*around }
	whole := sent + of(c.prompt.Whole-c.prompt.Sent, c.prompt.WholeEntries-c.prompt.SentEntries)
	// After a rewrite the cache has less, which says nothing about prompts that only grow. Caches of whole blocks of
	// tokens may not grow with each prompt.
	grew := int64(cached) > c.ledger.read.Swap(int64(cached))
	had := sent * float64(c.cached.Sent) / float64(max(c.prompt.Sent, 1)) // what the cache was supposed to have
	missed := c.reset && read <= had/2                                    // by either prompt
	if !c.reset && !c.Rewrote && c.cached.Sent > 0 {
		c.ledger.missed.Store(!grew && read < 0.9*had)
	}
	readOfWhole := read
	switch missed = missed || c.ledger.missed.Load(); {
	case c.first && read > 0: // another process sent what is in the cache, which would have what was removed, too
		readOfWhole = max(read, whole-(sent-read))
	case !missed && c.Rewrote:
		readOfWhole = max(read, whole-of(c.prompt.Whole-c.cached.Whole, c.prompt.WholeEntries-c.cached.WholeEntries))
	case !missed: // what was removed would have been read too
		readOfWhole += of(c.cached.Whole-c.cached.Sent, c.cached.WholeEntries-c.cached.SentEntries)
	}
	cost := func(tokens, read float64) float64 {
		list := c.ledger.list.For(Terms{Tokens: int(tokens)}) // a long prompt may cost more
		return (read*list.Read() + (tokens-read)*(writes*list.Write()+(1-writes)*list.Input)) / 1e6
	}
	return cost(whole, readOfWhole) - cost(sent, read)
}

// learn takes the provider's token count for a prompt. It returns how many of its tokens make one of the host's, and
// how many surround each entry, such as ids and signatures, which stay when only a text is removed. It looks only at
// what prompts grow by: the host may count the system prompt and tools otherwise, but all prompts have them. The rest
// may differ in each prompt, by a time or the order of its settings, but has to be about as large.
func (l *Ledger) learn(c Charge, reported float64) (each, around float64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	g, p := &l.grown, c.prompt
	x, y, n := float64(p.Sent-l.counted.Sent), reported-l.reported, float64(p.SentEntries-l.counted.SentEntries)
	rest := math.Abs(float64(p.Rest - l.counted.Rest))
	if l.reported > 0 && !c.Rewrote && rest <= x/10 && x > 0 && y > 0 {
		g.x, g.y, g.xx, g.xy = g.x+x, g.y+y, g.xx+x*x, g.xy+x*y
		g.xn, g.yn, g.nn = g.xn+x*n, g.yn+y*n, g.nn+n*n
	}
	l.counted, l.reported = p, reported
	// Least squares of y = each*x + around*n.
	det := g.xx*g.nn - g.xn*g.xn
	each, around = (g.xy*g.nn-g.yn*g.xn)/det, (g.yn*g.xx-g.xy*g.xn)/det
	switch {
	case det <= 0: // no two turns that differ
		return reported / float64(max(p.Sent, 1)), 0
	case each <= 0 || around <= 0:
		return g.y / g.x, 0
	}
	return each, around
}

// ReportedWhole returns what the request would have saved if the provider reports the size of the whole one, in its
// tokens.
func (c Charge) ReportedWhole(tokens int) float64 {
	if tokens <= 0 {
		return c.Saved
	}
	return c.Saved * float64(tokens) / float64(max(c.prompt.Whole, 1))
}
