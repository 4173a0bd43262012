package explain

import (
	"slices"
	"sort"
)

// pair says that a[A] and b[B] belong together.
type pair struct{ A, B int }

// mostDepth bounds how often a range is split at what is unique in it. What is left then is paired without that, so
// that no input takes more than this many looks at each element.
const mostDepth = 24

// align returns pairs of positions with equal keys, ascending in both: what two sequences have in common, in the
// sense of a diff. Keys that are "" are paired with nothing. It need not be the longest such list, but takes the time
// of sorting: first it pairs what is equal at both ends, then what is there once on either side, then looks again
// between those; where nothing is unique, the first of a kind goes with the first, the second with the second.
func align(a, b []string) []pair {
	var out []pair
	alignRange(a, b, 0, 0, mostDepth, &out)
	return out
}

// alignRange aligns a and b, which begin at fromA and fromB, and appends the pairs to out.
func alignRange(a, b []string, fromA, fromB, depth int, out *[]pair) {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] && a[n] != "" {
		*out = append(*out, pair{fromA + n, fromB + n})
		n++
	}
	a, b, fromA, fromB = a[n:], b[n:], fromA+n, fromB+n
	end := 0
	for end < len(a) && end < len(b) && a[len(a)-1-end] == b[len(b)-1-end] && a[len(a)-1-end] != "" {
		end++
	}
	midA, midB := a[:len(a)-end], b[:len(b)-end]
	unique := depth > 0
	anchors := ascending(candidates(midA, midB, unique))
	if unique && len(anchors) == 0 {
		unique = false
		anchors = ascending(candidates(midA, midB, false))
	}
	at := pair{}
	for _, p := range append(anchors, pair{len(midA), len(midB)}) {
		if unique && at.A < p.A && at.B < p.B {
			alignRange(midA[at.A:p.A], midB[at.B:p.B], fromA+at.A, fromB+at.B, depth-1, out)
		}
		if p.A < len(midA) {
			*out = append(*out, pair{fromA + p.A, fromB + p.B})
		}
		at = pair{p.A + 1, p.B + 1}
	}
	for i := range end {
		*out = append(*out, pair{fromA + len(midA) + i, fromB + len(midB) + i})
	}
}

// candidates pairs the first of each key with the first, the second with the second, ascending in A; with unique,
// only keys that are on either side once.
func candidates(a, b []string, unique bool) []pair {
	where := map[string][]int{} // in b
	for j, key := range b {
		if key != "" {
			where[key] = append(where[key], j)
		}
	}
	times := map[string]int{} // in a
	for _, key := range a {
		times[key]++
	}
	var out []pair
	for i, key := range a {
		left := where[key]
		if len(left) == 0 || unique && (times[key] > 1 || len(left) > 1) {
			continue
		}
		out = append(out, pair{i, left[0]})
		where[key] = left[1:]
	}
	return out
}

// ascending returns the longest list of pairs that ascends in B too.
func ascending(pairs []pair) []pair {
	ends := make([]int, 0, len(pairs)) // ends[n]: the pair with the least B that ends a list of n+1
	before := make([]int, len(pairs))
	for i, p := range pairs {
		n := sort.Search(len(ends), func(k int) bool { return pairs[ends[k]].B >= p.B })
		before[i] = -1
		if n > 0 {
			before[i] = ends[n-1]
		}
		if n == len(ends) {
			ends = append(ends, i)
		} else {
			ends[n] = i
		}
	}
	if len(ends) == 0 {
		return nil
	}
	var out []pair
	for i := ends[len(ends)-1]; i >= 0; i = before[i] {
		out = append(out, pairs[i])
	}
	slices.Reverse(out)
	return out
}
