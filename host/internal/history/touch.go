package history

// Touches returns the position of the first entry that the plan of an Optimize changes, and how many tokens it
// removes from the first n entries. For an empty plan the position is the length of the history. The prompt cache
// stays valid up to that position.
func (p *Plan) Touches(n int) (first, saved int) {
	old := p.base.Entries
	first = len(old)
	if p.Empty() {
		return first, 0
	}
	touch := func(i, tokens int) {
		first = min(first, i)
		if i < n {
			saved += tokens
		}
	}
	next := 0 // the first old entry that no part so far refers to
	for k, part := range p.parts {
		for ; next < part.Index; next++ {
			touch(next, old[next].Tokens)
		}
		next = part.Index + 1
		if part.Edited {
			touch(part.Index, old[part.Index].Tokens-p.entries[k].Tokens)
		}
	}
	for ; next < len(old); next++ {
		touch(next, old[next].Tokens)
	}
	return first, saved
}
