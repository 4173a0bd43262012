package tokens

import (
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/sdk/content"
)

func TestTheReferenceCountsTheSame(t *testing.T) {
	for _, encoding := range Encodings() {
		t.Run(encoding, func(t *testing.T) {
			c := testCounters()[encoding]
			reference, err := c.Reference()
			if err != nil {
				t.Fatal(err)
			}
			for i, e := range manyEntries(50) {
				got, skipped, err := reference.Entry(t.Context(), e)
				if want := c.Entry(e); err != nil || got != want || skipped != 0 {
					t.Fatalf("entry %d: %d tokens, %d bytes skipped, %v; want %d", i, got, skipped, err, want)
				}
			}
		})
	}
}

// The library would take minutes for this one.
func TestTheReferenceLeavesOutWhatItWouldTakeTooLongFor(t *testing.T) {
	reference, err := testCounters()[r50k].Reference()
	if err != nil {
		t.Fatal(err)
	}
	long := strings.Repeat("a", 1<<20)
	e := content.Content{Blocks: []content.Block{content.Text{Text: long}, content.Text{Text: "short"}}}
	tokens, skipped, err := reference.Entry(t.Context(), e)
	if want := testCounters()[r50k].Entry(e); err != nil || tokens != want || skipped != len(long) {
		t.Errorf("%d tokens, %d bytes skipped, %v; want %d and %d", tokens, skipped, err, want, len(long))
	}
}
