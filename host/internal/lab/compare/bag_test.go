package compare_test

import (
	"testing"

	"github.com/thresh-dev/thresh/host/internal/lab/compare"
	"github.com/thresh-dev/thresh/host/internal/lab/transcript"
	"github.com/thresh-dev/thresh/host/internal/pricing"
	"github.com/thresh-dev/thresh/internal/testkit/race"
	"github.com/thresh-dev/thresh/internal/testkit/repo"
)

// A list of all names raises the recall of names. It must not raise what is asked of a recommended strategy, and must
// not be recommended itself.
func TestAListOfNamesGainsNothing(t *testing.T) {
	race.Skip(t)
	h := open(t, map[string]any{"model.contextLimit": 60_000})
	o := compare.Options{Prices: []*pricing.List{{Name: "l", Input: 3, CacheRead: 0.3, CacheWrite: 3.75}}}
	for _, file := range repo.Samples(t) {
		tr, err := transcript.ReadFile(file, transcript.Options{})
		if err != nil {
			t.Fatal(err)
		}
		o.Sessions = append(o.Sessions, compare.Session{Name: file, Transcript: tr})
	}
	for _, name := range []string{"bag", "tail", "high-density"} {
		o.Variants = append(o.Variants, compare.Variant{Strategy: name})
	}
	r, err := compare.Run(t.Context(), h, o)
	if err != nil {
		t.Fatal(err)
	}
	bag, tail := r.Totals.Variants[0], r.Totals.Variants[1]
	if bag.Error != "" || tail.Error != "" || bag.OverLimit > 0 {
		t.Fatalf("%s, %s, %d over the limit", bag.Error, tail.Error, bag.OverLimit)
	}
	t.Logf("recall %.3f with the list, %.3f without; on lines %.3f and %.3f", bag.Recall.Share, tail.Recall.Share,
		bag.Recall.ShareLines, tail.Recall.ShareLines)
	if bag.Recall.Share < tail.Recall.Share+0.05 {
		t.Errorf("the list is no good list: recall %.3f, without it %.3f", bag.Recall.Share, tail.Recall.Share)
	}
	if bag.Recall.ShareLines > tail.Recall.ShareLines+0.001 {
		t.Errorf("the list gains: %.3f, without it %.3f", bag.Recall.ShareLines, tail.Recall.ShareLines)
	}
	if bag.Kept > tail.Kept+0.001 {
		t.Errorf("the list gains what recommendations go by: %.3f, without it %.3f", bag.Kept, tail.Kept)
	}
	// At a floor that the list would pass by its recall of names.
	if got := r.KeepsMost(); got == "bag" {
		t.Errorf("named for what it keeps: %s", got)
	}
	if got := r.Recommend(bag.Recall.Share - 0.01); got == nil || got.Variant == "bag" {
		t.Errorf("recommended: %+v", got)
	}
}
