package compare

import (
	"cmp"
	"slices"
)

// prunings sums up what was removed, by tool and by file. It is a running sum; Pruned is the form for reports.
type prunings struct {
	entries, tokens int
	byTool, byFile  map[string]*Share
}

// newPrunings returns empty sums. The zero value has no maps and cannot be added to.
func newPrunings() *prunings {
	return &prunings{byTool: map[string]*Share{}, byFile: map[string]*Share{}}
}

func (p *prunings) add(o *prunings) {
	p.entries += o.entries
	p.tokens += o.tokens
	for _, m := range []struct{ to, from map[string]*Share }{{p.byTool, o.byTool}, {p.byFile, o.byFile}} {
		for name, s := range m.from {
			sum := named(m.to, name)
			sum.Count += s.Count
			sum.Tokens += s.Tokens
		}
	}
}

func (p *prunings) result() Pruned {
	return Pruned{Entries: p.entries, Tokens: p.tokens, Tools: ranked(p.byTool), Files: ranked(p.byFile)}
}

func named(m map[string]*Share, name string) *Share {
	if m[name] == nil {
		m[name] = &Share{Name: name}
	}
	return m[name]
}

// ranked returns the largest shares and one more with the sum of all others. Ties are broken by count and name, since
// the order of a map differs between runs.
func ranked(m map[string]*Share) []Share {
	out := make([]Share, 0, len(m))
	for _, s := range m {
		out = append(out, *s)
	}
	slices.SortFunc(out, func(a, b Share) int {
		return cmp.Or(cmp.Compare(b.Tokens, a.Tokens), cmp.Compare(b.Count, a.Count), cmp.Compare(a.Name, b.Name))
	})
	if len(out) <= MaxShares {
		return out
	}
	rest := Share{Rest: len(out) - MaxShares}
	for _, s := range out[MaxShares:] {
		rest.Count += s.Count
		rest.Tokens += s.Tokens
	}
	// The rest stands last whatever it sums up to, since it is no single tool or file.
	return append(out[:MaxShares:MaxShares], rest)
}
