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
	if n := len(out.History); n >= len(history) || !out.History[0].Pinned() || out.History[1].Speaker != sdk.AI {
		t.Errorf("%d of %d entries are left: %v", n, len(history), out.History)
	}
}
