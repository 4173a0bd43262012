package explain

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"
)

func TestAlignPairsWhatIsEqualInOrder(t *testing.T) {
	key := rapid.SampledFrom([]string{"", "a", "b", "c", "d", "e", "f"})
	rapid.Check(t, func(rt *rapid.T) {
		a, b := rapid.SliceOf(key).Draw(rt, "a"), rapid.SliceOf(key).Draw(rt, "b")
		last := pair{-1, -1}
		for _, p := range align(a, b) {
			if p.A <= last.A || p.B <= last.B || a[p.A] != b[p.B] || a[p.A] == "" {
				rt.Fatalf("%v follows %v", p, last)
			}
			last = p
		}
	})
}

// Of sequences without repeats the longest common part is found.
func TestAlignIsBestWithoutRepeats(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		draw := func(name string) []string {
			return rapid.SliceOfNDistinct(rapid.StringMatching(`[a-z]`), 0, 12, rapid.ID).Draw(rt, name)
		}
		a, b := draw("a"), draw("b")
		if got, want := len(align(a, b)), longestCommon(a, b); got != want {
			rt.Fatalf("%d pairs, want %d", got, want)
		}
	})
}

func longestCommon(a, b []string) int {
	rows := make([][]int, len(a)+1)
	for i := range rows {
		rows[i] = make([]int, len(b)+1)
	}
	for i := range a {
		for j := range b {
			if rows[i+1][j+1] = max(rows[i][j+1], rows[i+1][j]); a[i] == b[j] {
				rows[i+1][j+1] = rows[i][j] + 1
			}
		}
	}
	return rows[len(a)][len(b)]
}

// The time grows with the length alone, whatever is in it: compare the sizes.
func BenchmarkAlign(b *testing.B) {
	for _, n := range []int{25_000, 50_000, 100_000} {
		for name, key := range map[string]func(side, i int) string{
			"nothing in common": func(side, i int) string { return fmt.Sprint(side, i) },
			"reversed":          func(side, i int) string { return fmt.Sprint(max(0, side*(n-1)) + i - 2*side*i) },
			"two kinds":         func(side, i int) string { return fmt.Sprint((i*i + side*i/3) % 2) },
			"interleaved":       func(side, i int) string { return fmt.Sprint(i / (2 + side)) },
		} {
			x, y := make([]string, n), make([]string, n)
			for i := range n {
				x[i], y[i] = key(0, i), key(1, i)
			}
			b.Run(fmt.Sprintf("%s/%d", name, n), func(b *testing.B) {
				for b.Loop() {
					align(x, y)
				}
			})
		}
	}
}
