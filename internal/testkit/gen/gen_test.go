package gen_test

import (
	"encoding/json"
	"testing"

	"pgregory.net/rapid"

	"github.com/thresh-dev/thresh/internal/testkit/gen"
	"github.com/thresh-dev/thresh/sdk/content"
)

func size(history []content.Content) (n int) {
	for _, c := range history {
		n += len(c.AppendJSON(nil))
	}
	return n
}

func TestSessionIsTheSameEachTimeAndOfTheSizeAskedFor(t *testing.T) {
	a, b := gen.Session(5000, 1), gen.Session(5000, 1)
	if len(a) != 5000 {
		t.Fatalf("got %d entries", len(a))
	}
	for i := range a {
		if !a[i].Equal(b[i]) {
			t.Fatalf("entry %d differs between two runs", i)
		}
	}
	if n := size(a); n < 3_000_000 || n > 6_000_000 {
		t.Errorf("5,000 entries have %d bytes, not about 4 million", n)
	}
}

func TestGeneratedEntriesAreValidAndComeBackAsTheyWere(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		for i, c := range gen.History(gen.Options{Malformed: true, MediaBlocks: true}).Draw(t, "history") {
			raw := c.AppendJSON(nil)
			if !json.Valid(raw) {
				t.Fatalf("entry %d is no JSON: %s", i, raw)
			}
			var back content.Content
			if err := back.UnmarshalJSON(raw); err != nil {
				t.Fatal(err)
			}
			if !back.Equal(c) {
				t.Fatalf("entry %d changed:\n%s\n%s", i, raw, back.AppendJSON(nil))
			}
		}
	})
}

func TestMalformedHistoriesAreMadeOnlyWhenAskedFor(t *testing.T) {
	odd := func(o gen.Options) (n int) {
		g := gen.History(o)
		for seed := range 50 {
			for _, c := range g.Example(seed) {
				if !c.Speaker.Known() || c.Blocks == nil {
					n++
				}
			}
		}
		return n
	}
	if n := odd(gen.Options{}); n != 0 {
		t.Errorf("%d malformed entries without Malformed", n)
	}
	if n := odd(gen.Options{Malformed: true}); n == 0 {
		t.Error("no malformed entries with Malformed")
	}
}
