package topdown

import (
	"testing"

	"github.com/thresh-dev/thresh/internal/testkit/gen"
	"github.com/thresh-dev/thresh/sdk"
	"github.com/thresh-dev/thresh/sdk/sdktest"
)

// sdktest refuses a result in which a pinned entry is missing or changed.
func TestPinnedEntriesStay(t *testing.T) {
	history := gen.Letters(t, "hahctuahaha")
	for _, i := range []int{2, 4} { // 4 is a response: its exchange, 3 to 5, stays whole
		history[i].Metadata = []byte(`{"pinned":true}`)
	}
	c := sdktest.Config{Counter: tens, Threshold: 1, ContextLimit: 50}
	out := sdktest.Compress(t, Strategy{}, history, c)
	if n := len(out.History); n >= len(history) || !out.History[0].Pinned() || out.History[1].Speaker != sdk.AI ||
		int(out.Metadata.Counts["entriesDropped"]) != len(history)-n {
		t.Errorf("%d of %d entries are left: %v; %v", n, len(history), out.History, out.Metadata.Counts)
	}
	for i := range history {
		history[i].Metadata = []byte(`{"pinned":true}`)
	}
	if out := sdktest.Compress(t, Strategy{}, history, c); out.NoOp != sdk.NoOpNoGain {
		t.Errorf("all entries are pinned: no-op %q", out.NoOp)
	}
}

// What is pinned takes room from the newest entries.
func TestPinnedEntriesCountForTheTarget(t *testing.T) {
	history := gen.Letters(t, "hahahahahaha")
	c := sdktest.Config{Counter: tens, Threshold: 1, ContextLimit: 100} // of 12 entries fewer than 6 fit
	for pinned := range 4 {
		if pinned > 0 {
			history[pinned-1].Metadata = []byte(`{"pinned":true}`)
		}
		if n := len(sdktest.Compress(t, Strategy{}, history, c).History); n != 5 {
			t.Errorf("%d entries are pinned: %d are left", pinned, n)
		}
	}
}
