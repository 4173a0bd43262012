package highdensity

import (
	"encoding/json"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/thresh-dev/thresh/sdk"
	"github.com/thresh-dev/thresh/sdk/sdktest"
)

// Whatever is pinned, both calls leave it as it is.
func TestPinnedEntriesStay(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		history, density := histories().Draw(rt, "history"), sdk.DensityConfig{ReadWritePruning: true,
			FileDedupe: true, RecencyPruning: true, RecencyRetention: rapid.IntRange(1, 4).Draw(rt, "retention")}
		var pinned []sdk.Content
		for i := range history {
			if rapid.IntRange(0, 3).Draw(rt, "pinned") == 0 {
				history[i].Metadata = json.RawMessage(`{"pinned":true}`)
				pinned = append(pinned, history[i])
			}
		}
		config := sdktest.Config{WorkspaceRoot: "/w", Density: &density, ContextLimit: 100, PreserveThreshold: new(0.1)}
		optimized, err := config.Optimize(t.Context(), Strategy{}, history)
		if err != nil {
			rt.Fatal(err)
		}
		history = slices.DeleteFunc(slices.Clone(history), sdk.Content.Blank) // as a Compress gets it
		pinned = slices.DeleteFunc(pinned, sdk.Content.Blank)
		compressed, err := config.Compress(t.Context(), Strategy{}, history)
		if err != nil {
			rt.Fatal(err)
		}
		for name, left := range map[string][]sdk.Content{
			"Optimize": optimized.History, "Compress": compressed.History,
		} {
			for _, entry := range pinned {
				at := slices.IndexFunc(left, entry.Equal)
				if at < 0 {
					rt.Fatalf("%s: a pinned entry is gone or changed: %s", name, entry.AppendJSON(nil))
				}
				left = left[at+1:]
			}
		}
	})
}
