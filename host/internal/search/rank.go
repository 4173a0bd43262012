package search

import (
	"cmp"
	"container/heap"
	"math"
	"math/bits"
	"slices"
	"strings"
)

// The usual constants of BM25. A term counts once in a passage: a passage is short, and what repeats a word says no
// more about it.
const (
	k1 = 1.2
	b  = 0.75
)

// Hit is a passage that may be what is looked for.
type Hit struct {
	// Session is the position of its index, Number its number there.
	Session, Number int
	Score           float64

	has  uint32 // the terms that count and that it has, a bit for each
	norm float64
}

// Ranking has the passages that can be what a query means.
type Ranking struct {
	hits   hits
	counts []float64 // how much each term counts
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
	r := &Ranking{}
	counted := p.rarest(indexes)
	for _, t := range counted {
		r.counts = append(r.counts, math.Log(1+(float64(total-t.passages)+0.5)/(float64(t.passages)+0.5)))
	}
	for session, x := range indexes {
		has := make([]uint32, len(x.Spots))
		for bit, t := range counted {
			for _, n := range x.has[t.at] {
				has[n] |= 1 << bit
			}
		}
		fits := p.fits(x, within)
		for n, s := range x.Spots {
			if (fits != nil && fits[n] || fits == nil && has[n] != 0) && may(session, s) {
				norm := (k1 + 1) / (1 + k1*(1-b+b*float64(s.terms)/average))
				r.hits = append(r.hits, Hit{Session: session, Number: n, has: has[n], norm: norm})
			}
		}
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
		if h.has&(1<<bit) != 0 {
			r.counts[bit] /= 2
		}
	}
	r.hits = append(r.hits, back...)
	r.score()
}

func (r *Ranking) score() {
	for i := range r.hits {
		h := &r.hits[i]
		h.Score = 0
		for left := h.has; left != 0; left &= left - 1 {
			h.Score += r.counts[bits.TrailingZeros32(left)] * h.norm
		}
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

type weighed struct{ at, passages int }

// rarest returns the terms that count, and how many passages have each.
func (p Parsed) rarest(indexes []Index) (all []weighed) {
	for i := range p.Terms {
		w := weighed{at: i}
		for _, x := range indexes {
			w.passages += len(x.has[i])
		}
		if w.passages > 0 {
			all = append(all, w)
		}
	}
	slices.SortStableFunc(all, func(a, b weighed) int { return cmp.Compare(a.passages, b.passages) })
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
