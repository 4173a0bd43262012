package history

// sums[i] is the tokens of all entries up to and including i. Any range of entries costs two lookups, and a rewrite
// moves consecutive numbers instead of looking at every entry.
type sums []int

func (s sums) all() int { return s.of(0, len(s)) }

func (s sums) of(from, to int) int {
	if from >= to {
		return 0
	}
	if from == 0 {
		return s[to-1]
	}
	return s[to-1] - s[from-1]
}

func (s sums) add(tokens int) sums { return append(s, s.all()+tokens) }

func (s sums) addRange(other sums, from, to int) sums {
	shift := s.all() - other.of(0, from)
	for _, n := range other[from:to] {
		s = append(s, n+shift)
	}
	return s
}
