package search

import (
	"slices"
	"testing"
)

// Words in another form, in another language, and what means the same are found; behind what has the word itself.
func TestAlike(t *testing.T) {
	for query, texts := range map[string][]string{
		"retry":          {"it was retried", "retries", "retrying"},
		"parsing":        {"parse it", "it was parsed"},
		"failed":         {"a SyntaxError here", "it fails", "Traceback (most recent call last)", "오류가 났다"},
		"limit of 1600":  {"at most 1,600 of them", "at most 1.600", "at most 1_600", "最大 １６００", "١٦٠٠"},
		"1,600":          {"1600 bytes"},
		"three":          {"there are 3 of them"},
		"delete the dir": {"rm -r", "remove the folder"},
	} {
		p, err := Query{Words: query}.Parse()
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range texts {
			x, ok := p.NewIndex(indexed([]string{"nothing here", text}))
			found := p.Rank([]Index{x}, false, func(int, Spot) bool { return true }).Next(9)
			if !ok || !slices.ContainsFunc(found, func(h Hit) bool { return h.Number == 1 }) {
				t.Errorf("%s does not find %s", query, text)
			}
		}
	}
	if got := ranked(t, "failed", []string{"an error", "it failed", "an exception"}, 1); got[0] != 1 {
		t.Errorf("the word itself comes behind others: %v", got)
	}
}

func TestAbsent(t *testing.T) {
	x := []string{"func getUserById in host/store.go", "it failed", "other parts: get it, by id"}
	for query, want := range map[string][]string{
		"getUserById failing store.go": nil, "getOrder failed": {"getOrder"}, `zebra "it was"`: {"zebra", "was"},
		"user by id": nil, "getItById": {"getItById"}, "store.py": {"store.py"}, "SyntaxError": {"SyntaxError"},
	} {
		p, err := Query{Words: query}.Parse()
		if err != nil {
			t.Fatal(err)
		}
		index, _ := p.NewIndex(indexed(x))
		if got := p.Absent([]Index{index}, func(int, Spot) bool { return true }); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", query, got, want)
		}
	}
	p, _ := Query{Words: "failed"}.Parse()
	index, _ := p.NewIndex(indexed(x))
	if got := p.Absent([]Index{index}, func(_ int, at Spot) bool { return at.Record != 2 }); len(got) != 1 {
		t.Errorf("what may not be found is there: %q", got)
	}
}

func TestMore(t *testing.T) {
	p, err := Query{Words: "red blue"}.Parse()
	if err != nil {
		t.Fatal(err)
	}
	x, _ := p.NewIndex(indexed([]string{"red blue", "red blue 2", "red", "blue red 3", "blue"}))
	r := p.Rank([]Index{x}, false, func(int, Spot) bool { return true })
	next := r.Next(4)
	r.Found(next[0], next[1:])
	if n := r.More(); n != 2 {
		t.Errorf("%d more have both words", n)
	}
}
