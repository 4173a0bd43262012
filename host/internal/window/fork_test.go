package window_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/thresh-dev/thresh/host/internal/journal"
	"github.com/thresh-dev/thresh/host/internal/store"
	"github.com/thresh-dev/thresh/host/internal/window"
	"github.com/thresh-dev/thresh/internal/testkit/gen"
)

// A session that is forked at any moment does what its parent did from there on, byte for byte, also when the parent is
// gone; and it has everything that was ever added.
func TestAForkGoesOnAsItsParent(t *testing.T) {
	entries := gen.Session(80, 5)
	for _, strategy := range []string{"high-density", "top-down-truncation"} {
		kept := store.NewMemory()
		h := openOn(t, kept, map[string]any{"model.contextLimit": 4000, "compression.strategy": strategy,
			"compression.density.recencyPruning": true})
		h.SetSnapshotEvery(7)
		parent, err := h.Open(window.Opening{Key: store.Key{ID: "parent"}})
		must(t, err, nil)
		steps := script(entries, 9)
		did := make([]any, len(steps))
		// forks are the moments before something was added, by the step that added it.
		forks := map[int]journal.Fork{}
		for i, step := range steps {
			added := moment(t, parent)
			did[i] = step(t, parent)
			if n, _ := added.Counts(); n > 0 && moment(t, parent) != added && i%3 == 0 {
				forks[i] = journal.Fork{Parent: "parent", At: parent.Position() - 1, Entries: int(n), Whole: true}
			}
		}
		ids := map[int]string{}
		for i, fork := range forks {
			ids[i] = fmt.Sprint("fork-", i)
			s, err := h.Open(window.Opening{Key: store.Key{ID: ids[i]}, Fork: &fork})
			must(t, err, nil)
			must(t, s.Close(), nil)
		}
		must(t, h.Delete(t.Context(), "", "parent"), nil)
		for i, fork := range forks {
			head, err := kept.Head(t.Context(), store.Key{ID: ids[i]})
			want := store.Origin{Parent: store.Key{ID: "parent"}, ForkedAt: fork.At, ForkedEntries: fork.Entries}
			if err != nil || head.Origin != want {
				t.Errorf("%v, %v", head.Origin, err)
			}
			s, err := h.Open(window.Opening{Key: store.Key{ID: ids[i]}})
			must(t, err, nil)
			for j := i; j < min(i+20, len(steps)); j++ {
				if diff := cmp.Diff(did[j], steps[j](t, s)); diff != "" {
					t.Fatalf("%s: step %d of a fork before step %d:\n%s", strategy, j, i, diff)
				}
			}
			all, err := journal.Read(t.Context(), kept, head.Key)
			must(t, err, nil)
			for n, e := range all.Added {
				if !e.Content.Equal(entries[n]) {
					t.Fatalf("entry %d of a fork is another", n)
				}
			}
			if len(all.Added) <= fork.Entries {
				t.Errorf("%d entries in a fork at %d", len(all.Added), fork.Entries)
			}
		}
		if len(forks) < 5 {
			t.Errorf("%d forks", len(forks))
		}
	}
}
