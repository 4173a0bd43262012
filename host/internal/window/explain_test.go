package window_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/thresh-dev/thresh/host/internal/journal"
	"github.com/thresh-dev/thresh/host/internal/store"
	"github.com/thresh-dev/thresh/host/internal/window"
	"github.com/thresh-dev/thresh/host/outcome"
	"github.com/thresh-dev/thresh/internal/testkit/gen"
	"github.com/thresh-dev/thresh/internal/testkit/race"
	"github.com/thresh-dev/thresh/sdk/content"
)

// What the log of a session says of its entries is what the outcomes of its turns said.
func TestTheLogExplainsWhatTurnsDid(t *testing.T) {
	race.Skip(t)
	laddered := false
	for _, way := range []struct {
		strategy string
		limit    int
	}{{"high-density", 4000}, {"top-down-truncation", 4000}, {"high-density", 700}} {
		settings := map[string]any{"model.contextLimit": way.limit, "compression.strategy": way.strategy,
			"compression.density.recencyPruning": true}
		kept := store.NewMemory()
		s, err := openOn(t, kept, settings).Open(window.Opening{Key: store.Key{ID: "s"}})
		must(t, err, nil)
		var want []outcome.Change
		entries := gen.Session(100, 5)
		for i := range len(entries) / 2 {
			_, err := s.Add(t.Context(), window.Addition{Entries: entries[2*i : 2*i+2], Judge: window.Anything})
			must(t, err, nil)
			ready, _ := s.Prepare(t.Context(), window.Sending{})
			for _, c := range ready.Outcome.Changes {
				if !slices.Contains([]string{outcome.StepOptimize, outcome.StepCompress, outcome.StepKeep}, c.Step) {
					c.Step, laddered = journal.StepLadder, true
				}
				want = append(want, c)
			}
		}
		got, err := s.Explain(t.Context(), "")
		must(t, err, nil)
		var changes []outcome.Change
		for _, c := range got {
			changes = append(changes, c.Change)
		}
		diff := cmp.Diff(want, changes, cmpopts.EquateEmpty(), cmp.AllowUnexported(content.Content{}))
		if diff != "" || len(want) == 0 {
			t.Errorf("%v: %d changes\n%s", way, len(want), diff)
		}
		for _, c := range got {
			of, err := s.Explain(t.Context(), c.EntryID)
			if err != nil || len(of) == 0 || of[len(of)-1].EntryID != c.EntryID {
				t.Fatalf("of %s: %v, %v", c.EntryID, of, err)
			}
		}
	}
	if !laddered {
		t.Error("no room was made without a strategy")
	}
}
