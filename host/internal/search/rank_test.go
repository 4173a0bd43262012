package search

import (
	"slices"
	"testing"
)

// ranked returns the numbers of the passages that are found for words, when the first of each few that are looked at is
// found and the others come back.
func ranked(t *testing.T, words string, texts []string, few int) (order []int) {
	t.Helper()
	p, err := Query{Words: words}.Parse()
	if err != nil {
		t.Fatal(err)
	}
	x, ok := p.NewIndex(indexed(texts))
	if !ok {
		t.Fatal("the index is of another form")
	}
	r := p.Rank([]Index{x}, false, func(int, Spot) bool { return true })
	for {
		next := r.Next(few)
		if len(next) == 0 {
			return order
		}
		order = append(order, next[0].Number)
		r.Found(next[0], next[1:])
	}
}

func TestRank(t *testing.T) {
	for name, c := range map[string]struct {
		words string
		texts []string
		want  []int
	}{
		"more and rarer words": {"red blue", []string{"red", "blue", "red blue", "red ball", "green"}, []int{2, 1, 0, 3}},
		"the newest of equals": {"red", []string{"red", "red", "red"}, []int{2, 1, 0}},
		"what is not found yet": {"red blue gold",
			[]string{"gold s t", "red blue", "red blue", "red blue", "x", "x", "x", "x", "x", "x", "x"}, []int{3, 0, 2, 1}},
		"no word but in quotes": {`"=>"`, []string{"=>", "!"}, []int{1, 0}},
		"nothing":               {"black", []string{"white"}, nil},
	} {
		for few := 1; few < 4; few++ { // how many are read at a time changes nothing
			if got := ranked(t, c.words, c.texts, few); !slices.Equal(got, c.want) {
				t.Errorf("%s: %v, want %v", name, got, c.want)
			}
		}
	}
}

// One other word of a long text is found among the first passages, although all the rest stands together in any number
// of others.
func TestTheOneOtherWordIsFound(t *testing.T) {
	words := "one two three four five six seven eight nine ten"
	texts := []string{"it is other"}
	for range 30 {
		texts = append(texts, words+" and more", "nothing of them")
	}
	if got := ranked(t, words+" other", texts, 8); !slices.Contains(got[:3], 0) {
		t.Errorf("the first are %v", got[:3])
	}
}
