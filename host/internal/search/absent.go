package search

// maxAbsent is how many words of a query are looked at for whether they occur.
const maxAbsent = 32

// Absent returns the words of a query that no passage has which may be found, as the query has them: what is asked for
// was not there.
func (p Parsed) Absent(indexes []Index, may func(session int, at Spot) bool) (all []string) {
	some := func(term int) bool {
		for session, x := range indexes {
			for _, n := range x.has[term] {
				if may(session, x.Spots[n]) {
					return true
				}
			}
		}
		return false
	}
	for _, w := range p.words[:min(len(p.words), maxAbsent)] {
		found := p.together(w.parts, indexes, may)
		for _, term := range w.any {
			found = found || some(term)
		}
		if !found {
			all = append(all, w.text)
		}
	}
	return all
}

// together reports whether a passage has all of some terms, each in any form.
func (p Parsed) together(terms []int, indexes []Index, may func(session int, at Spot) bool) bool {
	for session, x := range indexes {
		has, counted := make([]int, len(x.Spots)), 0
		for _, term := range terms {
			all := [][]uint32{x.has[term]}
			for _, a := range p.asked {
				if a.term == term {
					for _, also := range a.forms {
						all = append(all, x.has[also])
					}
				}
			}
			for _, list := range all {
				for _, n := range list {
					if has[n] == counted { // each term once
						has[n]++
					}
				}
			}
			counted++
		}
		for n, k := range has {
			if k == counted && counted > 0 && may(session, x.Spots[n]) {
				return true
			}
		}
	}
	return false
}
