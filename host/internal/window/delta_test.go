package window_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/thresh-dev/thresh/host/internal/window"
	"github.com/thresh-dev/thresh/internal/testkit/gen"
	"github.com/thresh-dev/thresh/internal/testkit/race"
	"github.com/thresh-dev/thresh/sdk"
	"github.com/thresh-dev/thresh/sdk/content"
)

// A session goes the same way whether the plugin is sent what is new or everything: the same edits, turn by turn, the
// same history in the end. The real high-density prunes and compresses here, so that the history is rewritten in all
// the ways there are.
func TestASessionGoesTheSameWayWithAndWithoutMirrors(t *testing.T) {
	race.Skip(t)
	entries := gen.Session(240, 3)
	for _, cadence := range []string{"every-turn", "priced"} {
		t.Run(cadence, func(t *testing.T) {
			settings := map[string]any{
				"compression.density.cadence": cadence, "model.contextLimit": 20_000, "model.encoding": "cl100k_base",
				"compression.density.recencyPruning": true,
			}
			var sessions []*window.Session
			for _, bytes := range []int{256 << 20, 0} {
				settings["plugins.mirrorBytes"] = bytes
				sessions = append(sessions, begin(t, open(t, settings), nil))
			}
			rewrites := 0
			for at := 0; at < len(entries); {
				next := min(at+3, len(entries))
				for next < len(entries) && entries[next].Speaker == content.Tool {
					next++ // an agent asks for a turn when the tools have answered
				}
				var turns []window.Prepared
				for _, s := range sessions {
					add(t, s, entries[at:next]...)
					turns = append(turns, prepareTurn(t, s))
				}
				at = next
				if diff := cmp.Diff(turns[1].Contents(), turns[0].Contents(), cmp.Comparer(sdk.Content.Equal)); diff != "" {
					t.Fatalf("after %d entries the history is another one (-full +delta):\n%s", at, diff)
				}
				delta, full := turns[0].Outcome, turns[1].Outcome
				if delta.Optimize.Removed != full.Optimize.Removed ||
					delta.Optimize.Replaced != full.Optimize.Replaced ||
					delta.Optimize.Metadata != full.Optimize.Metadata || delta.Compress.Kind != full.Compress.Kind {
					t.Fatalf("after %d entries:\ndelta %+v\nfull  %+v", at, delta, full)
				}
				rewrites += len(delta.Changes)
			}
			if rewrites == 0 {
				t.Error("nothing was rewritten: the session tells nothing")
			}
		})
	}
}
