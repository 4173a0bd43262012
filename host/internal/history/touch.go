package history

// Touches returns the position of the first entry that the plan changes or puts something before, up to which the
// prompt cache is valid, and how many tokens it removes from the first n entries. For an empty plan the position is the
// length of the history. saved is negative if edits make entries larger.
func (p *Plan) Touches(n int) (first, saved int) {
	old := p.base.Entries
	first = len(old)
	if p.parts == nil && p.changes == nil {
		return first, 0
	}
	touch := func(i, tokens int) {
		first = min(first, i)
		if i < n {
			saved += tokens
		}
	}
	if p.changes != nil { // of an Optimize: nothing else is touched
		for i, c := range p.changes {
			left := 0
			if !c.Removed {
				left = p.changed[i].Tokens
			}
			touch(c.Index, old[c.Index].Tokens-left)
		}
		return first, saved
	}
	next := 0 // the first old entry that no part so far refers to
	for k, part := range p.parts {
		if part.Index < 0 {
			// A new entry changes the prompt from its place on, and saves nothing.
			first = min(first, next)
			continue
		}
		for ; old[next] != p.old[part.Index]; next++ { // the strategy may not have been given blank entries
			touch(next, old[next].Tokens)
		}
		if part.Edited {
			touch(next, old[next].Tokens-p.entries[k].Tokens)
		}
		next++
	}
	for ; next < len(old); next++ {
		touch(next, old[next].Tokens)
	}
	return first, saved
}
