package history

// Touches returns the position of the first entry that the plan changes or puts something before, up to which the
// prompt cache is valid, and how many tokens it removes from the first n entries. For an empty plan the position is the
// length of the history. saved is negative if edits make entries larger.
func (p *Plan) Touches(n int) (first, saved int) {
	old := p.base.Entries
	first = len(old)
	touch := func(i, tokens int) {
		first = min(first, i)
		if i < n {
			saved += tokens
		}
	}
	next := 0 // the first old entry that no piece so far has
	gone := func(until int) {
		for ; next < until; next++ {
			touch(next, old[next].Tokens)
		}
	}
	for _, piece := range p.rewrite().Pieces {
		if piece.From < 0 {
			// A new entry changes the prompt from its place on, and saves nothing.
			first = min(first, next)
			continue
		}
		gone(piece.From)
		if piece.Entry != nil {
			touch(next, old[next].Tokens-piece.Entry.Tokens)
		}
		next = piece.To
	}
	gone(len(old))
	return first, saved
}
