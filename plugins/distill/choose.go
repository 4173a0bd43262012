package distill

import (
	"math"
	"slices"
)

// The choice. Every line of a result has a value (how many identifiers are in it) and a cost (its tokens). A
// price says how much value each token must bring; a line that brings less goes. The higher the price, the less stays,
// so the price at which the history just fits its budget can be found by bisection.
//
// An identifier counts only once: a second line with it adds nothing. That is why a run through the history decides
// line by line, from the newest, and remembers what is kept already.
const (
	// gapTokens is what the mark of a gap counts.
	gapTokens = 7
	// foldTokens is about what a call counts in the line that stands for it.
	foldTokens = 8
	// Prices are powers of two between these exponents, found in so many steps: 2^-12 keeps nearly every line with an
	// identifier, 2^4 nearly none. Each step is one run through all lines, so a compression takes linear time.
	cheapest, dearest, steps = -12.0, 4.0, 18
)

// settle finds the lowest price at which what stays counts at most budget tokens, and chooses by it. If everything of
// any value fits, the price is 0: then only lines go that hold nothing.
func (p *plan) settle(budget float64) {
	if p.choose(0) <= budget {
		return
	}
	low, high := cheapest, dearest
	for range steps {
		middle := (low + high) / 2
		if p.choose(math.Exp2(middle)) > budget {
			low = middle
		} else {
			high = middle
		}
	}
	p.choose(math.Exp2(high))
}

// keepOwn decides which of what the AI said and wrote stays whatever the price: from the newest to the oldest, all that
// fits into room.
func (p *plan) keepOwn(room float64) {
	room -= p.base
	for i := len(p.groups) - 1; i >= 0; i-- {
		if g := &p.groups[i]; g.own == made && g.base <= room {
			g.own = kept
			room -= g.base
		}
	}
}

// choose decides at a price, in value per token, what stays, and returns about how many tokens that is. It goes from
// the newest exchange to the oldest and from the last line up, so what stands in several places is kept where it
// was seen last. A call stays if it is worth it by itself or if something of its result stays.
func (p *plan) choose(price float64) (tokens float64) {
	// A run has a number, so what was covered in the one before need not be cleared.
	p.run++
	tokens = p.base
	for i := len(p.groups) - 1; i >= 0; i-- {
		g := &p.groups[i]
		stays := g.fold || g.own == kept || g.calls && p.value(g.ids) >= price*g.base
		if stays {
			p.cover(g.ids)
		}
		for _, t := range slices.Backward(g.texts) {
			n, kept := p.chooseLines(t, price)
			tokens += n
			stays = stays || kept
		}
		switch g.gone = !stays; {
		case stays:
			p.cover(g.ids)
			tokens += g.base
		case g.calls:
			tokens += foldTokens
		}
	}
	return tokens
}

// chooseLines decides about the lines of one text.
func (p *plan) chooseLines(t text, price float64) (tokens float64, kept bool) {
	gap := false
	for i := len(t.units) - 1; i >= 0; i-- {
		u := &t.units[i]
		value := p.value(u.ids)
		u.keep = value > 0 && value >= price*u.cost // a mark has no value
		switch {
		case u.keep:
			p.cover(u.ids)
			tokens += u.cost
			kept = true
		case !gap:
			tokens += gapTokens
		}
		gap = !u.keep
	}
	return tokens, kept
}

// value counts the identifiers that are not kept anywhere yet.
func (p *plan) value(ids []int32) (sum float64) {
	for _, id := range ids {
		if !p.index.items[id].stays && p.covered[id] != p.run {
			sum++
		}
	}
	return sum
}

// cover takes in that identifiers are kept: for the rest of this run they are worth nothing elsewhere.
func (p *plan) cover(ids []int32) {
	for _, id := range ids {
		p.covered[id] = p.run
	}
}
