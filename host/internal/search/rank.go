package search

import (
	"cmp"
	"math"
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
}

// Rank returns the passages that can be what a query means, the best first and the newest of equals. within: strings in
// quotes may begin and end within words.
func (p Parsed) Rank(indexes []Index, within bool) []Hit {
	total, length := 0, 0
	for _, x := range indexes {
		total += len(x.Spots)
		for _, s := range x.Spots {
			length += s.terms
		}
	}
	if total == 0 {
		return nil
	}
	average := float64(length) / float64(total)
	counted := p.rarest(indexes)
	var hits []Hit
	for session, x := range indexes {
		scores := make([]float64, len(x.Spots))
		for _, t := range counted {
			idf := math.Log(1 + (float64(total-t.passages)+0.5)/(float64(t.passages)+0.5))
			for _, n := range x.has[t.at] {
				norm := 1 - b + b*float64(x.Spots[n].terms)/average
				scores[n] += idf * (k1 + 1) / (1 + k1*norm)
			}
		}
		fits := p.fits(x, within)
		for n := len(scores) - 1; n >= 0; n-- {
			if fits != nil && fits[n] || fits == nil && scores[n] > 0 {
				hits = append(hits, Hit{session, n, scores[n]})
			}
		}
	}
	slices.SortFunc(hits, func(a, b Hit) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), a.Session-b.Session, b.Number-a.Number)
	})
	return hits
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
