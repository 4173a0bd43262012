package summarytest

import (
	"testing"

	"github.com/thresh-dev/thresh/internal/testkit/gen"
	"github.com/thresh-dev/thresh/sdk"
	"github.com/thresh-dev/thresh/sdk/sdktest"
)

// CheckPinned compresses a history with a pinned entry in the range that is summarised. sdktest refuses a result in
// which it is missing or changed.
func CheckPinned(t *testing.T, s sdk.Strategy) {
	t.Helper()
	history := gen.Letters(t, "hahahahahahahahahaha")
	// The middle of 20 entries: inside the range that every strategy here summarises.
	history[8].Metadata = []byte(`{"pinned":true}`)
	out := sdktest.Compress(t, s, history, Config(100_000, sdktest.Answers(Snapshot)))
	if out.NoOp != "" || len(out.History) >= len(history) {
		t.Errorf("no-op %q, %d of %d entries are left", out.NoOp, len(out.History), len(history))
	}
}
