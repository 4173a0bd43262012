package main

import "math"

const (
	// gapTokens is what the mark of a gap counts, gapCost what opening one costs in the choice.
	gapTokens, gapCost = 7, 3.5
	// callShare of its tokens is what a call must be worth to stay although nothing of its result does. callBonus is
	// what it is worth by itself, when new.
	callShare, callBonus = 0.2, 8.0
	// foldTokens is about what a call counts in the line that stands for it.
	foldTokens = 8
	// Prices are powers of two between these exponents, found in so many steps.
	cheapest, dearest, steps = -12.0, 4.0, 18
)

// settle finds the lowest price at which what stays counts at most budget tokens, and chooses by it.
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

// choose decides at a price, in value per token, what stays, and returns about how many tokens that is. It goes from
// the newest exchange to the oldest and from the last line up, so that what stands in several places is kept where it
// was seen last. A call stays if it is worth it by itself or if something of its result stays.
func (p *plan) choose(price float64) (tokens float64) {
	p.run++
	tokens = p.base
	for i := len(p.groups) - 1; i >= 0; i-- {
		g := &p.groups[i]
		stays := g.fold
		if g.calls {
			worth := p.value(p.callIDs, g.ids) + callBonus/(1+p.age[g.exchange.Last()])
			stays = worth >= price*callShare*g.base
		}
		if stays {
			p.cover(p.callIDs, g.ids)
		}
		for t := g.texts.to - 1; t >= g.texts.from; t-- {
			n, kept := p.chooseLines(&p.texts[t], price)
			tokens += n
			stays = stays || kept
		}
		switch g.gone = !stays; {
		case stays:
			p.cover(p.callIDs, g.ids)
			tokens += g.base
		case g.calls:
			tokens += foldTokens
		}
	}
	return tokens
}

// chooseLines decides about the lines of one text.
func (p *plan) chooseLines(t *text, price float64) (tokens float64, kept bool) {
	// The gap below the current line: whether there is one, what its lines count, and where it ends.
	open, gap, end := false, 0.0, int32(0)
	for i := t.units.to - 1; i >= t.units.from; i-- {
		u := &p.units[i]
		value, cost := p.value(p.ids, u.ids)+u.bonus, u.cost
		if open {
			cost += gapCost
		}
		u.keep = value > 0 && value >= price*cost // a mark has no value
		if !u.keep {
			if !open {
				tokens += gapTokens
				open, gap, end = true, 0, i
			}
			gap += u.cost
			if u.gap > 0 {
				gap = math.Inf(1)
			}
			continue
		}
		if open && gap <= gapTokens { // a mark would be no shorter
			for k := i + 1; k <= end; k++ {
				p.units[k].keep = true
			}
			tokens += gap - gapTokens
		}
		open, kept = false, true
		tokens += u.cost
		p.cover(p.ids, u.ids)
	}
	if !kept && t.said() {
		return 0, false
	}
	return tokens, kept
}

// value adds up what the items of a span are worth that are not kept yet.
func (p *plan) value(ids []int32, s span) (sum float64) {
	for _, id := range ids[s.from:s.to] {
		if !p.holds(id) {
			sum += p.index.items[id].weight
		}
	}
	return sum
}

// holds reports whether an item is kept somewhere.
func (p *plan) holds(id int32) bool { return p.index.items[id].stays || p.covered[id] == p.run }

func (p *plan) cover(ids []int32, s span) {
	for _, id := range ids[s.from:s.to] {
		p.covered[id] = p.run
	}
}
