package history

// Touches returns the position of the first entry of the history that the plan of an Optimize changes, and how many tokens
// it takes from the first n entries. A plan that changes nothing touches the entry behind the last.
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
	next := 0
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
