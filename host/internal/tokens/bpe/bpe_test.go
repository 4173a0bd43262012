package bpe

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/thresh-dev/thresh/internal/testkit/race"
)

// vocabulary draws a vocabulary as training would make one: every byte, then tokens that merge two earlier ones.
func vocabulary(t *rapid.T) map[string]int {
	ranks := map[string]int{}
	for b := range 256 {
		ranks[string([]byte{byte(b)})] = b
	}
	letters := []string{"a", "b", "c"}
	tokens := slices.Clone(letters)
	for range rapid.IntRange(0, 40).Draw(t, "merges") {
		left, right := rapid.SampledFrom(tokens).Draw(t, "left"), rapid.SampledFrom(tokens).Draw(t, "right")
		// A token is learned from text as it is merged so far. So its two parts must stay as they are in it.
		merged := left + right
		if _, ok := ranks[merged]; ok || len(merged) > 40 ||
			!slices.Equal(merge(merged, ranks), []string{left, right}) {
			continue
		}
		ranks[merged] = len(ranks)
		tokens = append(tokens, merged)
	}
	return ranks
}

// merge is byte-pair encoding by its definition.
func merge(s string, ranks map[string]int) []string {
	parts := strings.Split(s, "")
	for {
		best, at := len(ranks), -1
		for i := range len(parts) - 1 {
			if rank, ok := ranks[parts[i]+parts[i+1]]; ok && rank < best {
				best, at = rank, i
			}
		}
		if at < 0 {
			return parts
		}
		parts = slices.Replace(parts, at, at+2, parts[at]+parts[at+1])
	}
}

func compiled(t interface{ Fatal(...any) }, ranks map[string]int) *Table {
	data, err := Compile(ranks)
	if err != nil {
		t.Fatal(err)
	}
	table, err := Load(string(data))
	if err != nil {
		t.Fatal(err)
	}
	return table
}

func TestCountIsWhatMergingGives(t *testing.T) {
	race.Skip(t)
	rapid.Check(t, func(t *rapid.T) {
		ranks := vocabulary(t)
		table, work := compiled(t, ranks), new(Work)
		for range 5 { // the work of one count must not change the next
			s := rapid.StringOfN(rapid.RuneFrom([]rune("abc")), 1, 60, -1).Draw(t, "text")
			got, err := table.Count(t.Context(), "?"+s+"!", 1, 1+len(s), work)
			if want := len(merge(s, ranks)); err != nil || got != want {
				t.Fatalf("%q: %d tokens, %v, want %d", s, got, err, want)
			}
		}
	})
}

func TestPartsAddUpToThePiece(t *testing.T) {
	race.Skip(t)
	rapid.Check(t, func(t *rapid.T) {
		ranks := vocabulary(t)
		table, work := compiled(t, ranks), new(Work)
		s := rapid.StringOfN(rapid.RuneFrom([]rune("abc")), 1, 2*overlap, -1).Draw(t, "text")
		s = strings.Repeat(s, rapid.IntRange(1, 4).Draw(t, "times"))
		size := rapid.IntRange(1, len(s)).Draw(t, "size")
		var parts []Part
		for from := 0; from < len(s); from += size {
			p, err := table.CountPart(t.Context(), s, from, min(from+size, len(s)), work)
			if err != nil {
				t.Fatal(err)
			}
			parts = append(parts, p)
		}
		want, err := table.Count(t.Context(), s, 0, len(s), work)
		if err != nil {
			t.Fatal(err)
		}
		// Without a place to join at, the caller counts the piece as a whole.
		if got, ok := table.Join(s, parts); ok && got != want {
			t.Fatalf("%q in parts of %d: %d tokens, want %d", s, size, got, want)
		}
	})
}

func TestATableHoldsItsVocabulary(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ranks := vocabulary(t)
		got := compiled(t, ranks).Ranks()
		if len(got) != len(ranks) {
			t.Fatalf("%d tokens, want %d", len(got), len(ranks))
		}
		for token, rank := range ranks {
			if got[token] != rank {
				t.Fatalf("%q has rank %d, want %d", token, got[token], rank)
			}
		}
	})
}

// Counting relies on these properties of a vocabulary; without them it would be wrong, or never end.
func TestCompileRefusesWhatIsNoByteVocabulary(t *testing.T) {
	tests := map[string]struct {
		change func(ranks map[string]int)
		want   string
	}{
		"no token for a byte":          {func(r map[string]int) { delete(r, "x") }, "byte 0x78"},
		"two tokens of one rank":       {func(r map[string]int) { r["ab"] = 'x' }, "the same rank"},
		"a token that nothing gives":   {func(r map[string]int) { r["abc"] = 256 }, `"abc"`},
		"a part with a higher rank":    {func(r map[string]int) { r["ab"], r["abc"] = 257, 256 }, `"abc"`},
		"an empty token":               {func(r map[string]int) { r[""] = 256 }, `""`},
		"a token of more than a label": {func(r map[string]int) { r[strings.Repeat("a", 256)] = 256 }, "bytes"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			ranks := map[string]int{}
			for b := range 256 {
				ranks[string([]byte{byte(b)})] = b
			}
			test.change(ranks)
			if _, err := Compile(ranks); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want one with %q", err, test.want)
			}
		})
	}
}

func TestLoadRefusesOtherData(t *testing.T) {
	data, err := Compile(rapid.Custom(vocabulary).Example(1))
	if err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{"", "tpe", "no vocabulary at all", string(data[:len(data)-1]), string(data[1:])} {
		if _, err := Load(bad); err == nil {
			t.Errorf("%d bytes were accepted", len(bad))
		}
	}
}
