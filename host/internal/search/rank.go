package search

import (
	"cmp"
	"container/heap"
	"math"
	"math/bits"
	"slices"
	"strings"
)

// The usual constants of BM25, but that a passage is short, and its length says little: a term counts once in it, and
// what repeats a word says no more about it. They, and those below, were chosen by what the first passage brings in
// BenchmarkFirstSearch.
const (
	k1 = 1.2
	b  = 0.25
	// The newest passage counts so much more than the oldest, and one that has all terms than one that has none.
	newer, complete = 0.15, 1
)

// alikeCounts is how much it counts, next to the word itself, that a passage has another form of it or what means the
// same.
const alikeCounts = 0.5

// Hit is a passage that may be what is looked for.
type Hit struct {
	// Session is the position of its index, Number its number there.
	Session, Number int
	Score           float64

	has, alike uint32 // the terms that count and that it has, and those that it has in another form: a bit for each
	norm       float64
}

func (h Hit) terms() int { return bits.OnesCount32(h.has | h.alike) }

// Ranking has the passages that can be what a query means.
type Ranking struct {
	hits hits
	// How much each term counts, and what is alike.
	counts, alike []float64
	best          int               // terms of what was found
	bits          map[string]uint32 // by term
	weights       map[string]float64
}

// Rank finds the passages that can be what a query means, of those that may be found. within: strings in quotes may
// begin and end within words.
func (p Parsed) Rank(indexes []Index, within bool, may func(session int, at Spot) bool) *Ranking {
	total, length := 0, 0
	for _, x := range indexes {
		total += len(x.Spots)
		for _, s := range x.Spots {
			length += s.terms
		}
	}
	average := float64(max(length, 1)) / float64(max(total, 1))
	r := &Ranking{bits: map[string]uint32{}, weights: map[string]float64{}}
	counted := p.rarest(indexes)
	rare := func(passages int) float64 {
		return math.Log(1 + (float64(total-passages)+0.5)/(float64(passages)+0.5))
	}
	alike := make([]int, len(counted))
	for session, x := range indexes {
		has, other := make([]uint32, len(x.Spots)), make([]uint32, len(x.Spots))
		for bit, w := range counted {
			for _, n := range x.has[w.term] {
				has[n] |= 1 << bit
			}
			for _, at := range slices.Concat(w.forms, w.alike) {
				for _, n := range x.has[at] {
					if other[n]&(1<<bit) == 0 {
						other[n] |= 1 << bit
						alike[bit]++
					}
				}
			}
		}
		fits := p.fits(x, within)
		for n, s := range x.Spots {
			if (fits != nil && fits[n] || fits == nil && has[n]|other[n] != 0) && may(session, s) {
				norm := (k1 + 1) / (1 + k1*(1-b+b*float64(s.terms)/average))
				norm *= 1 + newer*float64(n)/float64(len(x.Spots))
				r.hits = append(r.hits, Hit{Session: session, Number: n, has: has[n], alike: other[n] &^ has[n], norm: norm})
			}
		}
	}
	for bit, w := range counted {
		r.counts = append(r.counts, rare(w.passages))
		r.alike = append(r.alike, alikeCounts*rare(max(alike[bit], w.passages)))
		for _, at := range slices.Concat(w.alike, w.forms) {
			r.bits[p.Terms[at]] |= 1 << bit
			r.weights[p.Terms[at]] = max(r.weights[p.Terms[at]], r.alike[bit])
		}
		r.bits[p.Terms[w.term]] |= 1 << bit
		r.weights[p.Terms[w.term]] = r.counts[bit]
	}
	r.score()
	return r
}

// Next returns the best n of the passages that it did not return yet, the best first and the newest of equals.
func (r *Ranking) Next(n int) []Hit {
	next := make([]Hit, min(n, len(r.hits)))
	for i := range next {
		next[i] = heap.Pop(&r.hits).(Hit)
	}
	return next
}

// Found says that a passage is among what the search finds, so its terms count half from now on: what else a query asks
// for is not in the passages that are much the same. Next returns again those that come back.
func (r *Ranking) Found(h Hit, back []Hit) {
	for bit := range r.counts {
		if (h.has|h.alike)&(1<<bit) != 0 {
			r.counts[bit] /= 2
			r.alike[bit] /= 2
		}
	}
	r.best = max(r.best, h.terms())
	r.hits = append(r.hits, back...)
	r.score()
}

// Weigh returns how much of the query a text has.
func (r *Ranking) Weigh(text string) (sum float64) {
	seen := map[string]bool{}
	for t := range terms(text) {
		if w := r.weights[t.text]; w > 0 && !seen[t.text] {
			seen[t.text] = true
			sum += w
		}
	}
	return sum
}

// Covers reports whether a text, or another passage, has all terms that a passage has.
func (r *Ranking) Covers(text string, other, h Hit) bool {
	has := other.has | other.alike
	for t := range terms(text) {
		has |= r.bits[t.text]
	}
	return (h.has|h.alike)&^has == 0
}

// More returns how many passages that Next did not return have as many terms as the best that was found.
func (r *Ranking) More() (n int) {
	for _, h := range r.hits {
		if h.terms() >= max(r.best, 1) {
			n++
		}
	}
	return n
}

func (r *Ranking) score() {
	for i := range r.hits {
		h := &r.hits[i]
		h.Score = 0
		for left := h.has; left != 0; left &= left - 1 {
			h.Score += r.counts[bits.TrailingZeros32(left)] * h.norm
		}
		for left := h.alike; left != 0; left &= left - 1 {
			h.Score += r.alike[bits.TrailingZeros32(left)] * h.norm
		}
		h.Score *= 1 + complete*float64(h.terms())/float64(len(r.counts))
	}
	heap.Init(&r.hits)
}

// hits is a heap with the best at its top.
type hits []Hit

func (h hits) Len() int      { return len(h) }
func (h hits) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h *hits) Push(x any)   { *h = append(*h, x.(Hit)) }

func (h hits) Less(i, j int) bool {
	a, b := &h[i], &h[j]
	return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Session, b.Session), cmp.Compare(b.Number, a.Number)) < 0
}

func (h *hits) Pop() any {
	last := len(*h) - 1
	x := (*h)[last]
	*h = (*h)[:last]
	return x
}

type weighed struct {
	asked
	passages int
}

// rarest returns the terms that count, and how many passages have each: the rarest, and behind them those that occur
// in another form alone.
func (p Parsed) rarest(indexes []Index) (all []weighed) {
	occurs := func(term int) (passages int) {
		for _, x := range indexes {
			passages += len(x.has[term])
		}
		return passages
	}
	for _, a := range p.asked {
		w := weighed{a, occurs(a.term)}
		if w.passages > 0 || slices.ContainsFunc(slices.Concat(a.forms, a.alike), func(at int) bool { return occurs(at) > 0 }) {
			all = append(all, w)
		}
	}
	slices.SortStableFunc(all, func(a, b weighed) int {
		none := func(n int) int { return cmp.Or(n, math.MaxInt) }
		return cmp.Compare(none(a.passages), none(b.passages))
	})
	return all[:min(len(all), maxTerms)]
}

// fits says which passages may have all that is in quotes; nil without quotes.
func (p Parsed) fits(x Index, within bool) (fits []bool) {
	if len(p.phrases) == 0 {
		return nil
	}
	has := make([]int, len(x.Spots))
	needed := map[string]bool{}
	for _, f := range p.phrases {
		list := f.whole
		if within {
			list = f.inner
		}
		for _, t := range list {
			needed[t] = true
		}
	}
	known := 0
	for i, t := range p.Terms {
		if !needed[t] {
			continue
		}
		known++
		for _, n := range x.has[i] {
			has[n]++
		}
	}
	fits = make([]bool, len(has))
	for n := range has {
		fits[n] = has[n] == known
	}
	return fits
}

// Quotes reports whether the query has a string in quotes.
func (p Parsed) Quotes() bool { return len(p.phrases) > 0 }

// Matches reports whether a passage's text has all that is in quotes.
func (p Parsed) Matches(text string) bool {
	for _, f := range p.phrases {
		if !strings.Contains(text, f.text) {
			return false
		}
	}
	return true
}

// Limits returns the most passages to find, and their most tokens.
func (p Parsed) Limits() (passages, tokens int) { return p.limit, p.tokens }
