package turns

import "github.com/thresh-dev/thresh/sdk/content"

// Exchange is the smallest set of entries that must be kept or removed together: entries of the AI with calls and the
// entries with their responses, or one entry that belongs to no pair.
type Exchange struct {
	// Entries are positions in the history, ascending. They need not be adjacent: a human may have spoken while a tool
	// was running.
	Entries []int
	// Pairs counts the answered calls.
	Pairs int
	// Pending reports whether a call of the exchange has no response.
	Pending bool
}

// First returns the position of the first entry.
func (e Exchange) First() int { return e.Entries[0] }

// Last returns the position of the last entry.
func (e Exchange) Last() int { return e.Entries[len(e.Entries)-1] }

// Exchanges divides a history into exchanges, ordered by their first entries. Every entry is in exactly one. pairs is
// the result of [Pair] for this history, or nil.
func Exchanges(history []content.Content, pairs *Pairs) []Exchange {
	if pairs == nil {
		pairs = Pair(history)
	}
	n := pairs.entries()
	sets := newSets(n)
	for i := range n {
		for _, partner := range pairs.blocks(i) {
			if partner != none {
				sets.join(i, partner.Entry)
			}
		}
	}

	size := make([]int, n)
	for i := range n {
		size[sets.find(i)]++
	}
	room := make([]int, n)
	index := make([]int, n) // of the exchange of a set, by the set's first entry
	var out []Exchange
	used := 0
	for i := range n {
		s := sets.find(i)
		if s == i {
			index[s] = len(out)
			out = append(out, Exchange{Entries: room[used : used : used+size[s]]})
			used += size[s]
		}
		x := &out[index[s]]
		x.Entries = append(x.Entries, i)
		for _, partner := range pairs.blocks(i) {
			if partner != none && partner.Entry < i {
				x.Pairs++
			}
		}
	}
	for _, call := range pairs.pending {
		out[index[sets.find(call.Entry)]].Pending = true
	}
	return out
}

// sets are disjoint sets of entries, each known by its first entry.
type sets []int

func newSets(n int) sets {
	s := make(sets, n)
	for i := range s {
		s[i] = i
	}
	return s
}

func (s sets) find(i int) int {
	for s[i] != i {
		s[i] = s[s[i]] // halves the path for the next search
		i = s[i]
	}
	return i
}

func (s sets) join(a, b int) {
	a, b = s.find(a), s.find(b)
	s[max(a, b)] = min(a, b)
}
