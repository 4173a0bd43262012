package window_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/thresh-dev/thresh/host/internal/window"
	"github.com/thresh-dev/thresh/internal/testkit/vectors"
	"github.com/thresh-dev/thresh/sdk"
	"github.com/thresh-dev/thresh/sdk/content"
)

// TestOptimizeVectors sends cases to the real plugin, one for each combination of settings that has something to remove,
// and compares what comes back exactly. All of them are in sdk/prune.
func TestOptimizeVectors(t *testing.T) {
	type vector struct {
		ID      string
		History []content.Content
		Config  struct {
			ReadWritePruning, FileDedupe, RecencyPruning bool
			RecencyRetention                             float64
			WorkspaceRoot                                string
		}
		Expected struct {
			Removals     []int
			Replacements map[string]any
			Metadata     any
		}
	}
	cases := vectors.Decode[vector](t, "optimize.jsonl")
	h := open(t, map[string]any{"compression.strategy": "high-density",
		"compression.density.toolPresets": "llxprt"})
	played := map[any]bool{}
	for _, v := range cases {
		of := v.Config
		of.WorkspaceRoot = ""
		if played[of] || len(v.Expected.Removals)+len(v.Expected.Replacements) == 0 || v.ID == vectors.CrossedCase {
			continue
		}
		played[of] = true
		t.Run(v.ID, func(t *testing.T) {
			s := begin(t, h, map[string]any{
				"workspace.root":                       v.Config.WorkspaceRoot,
				"compression.density.readWritePruning": v.Config.ReadWritePruning,
				"compression.density.fileDedupe":       v.Config.FileDedupe,
				"compression.density.recencyPruning":   v.Config.RecencyPruning,
				"compression.density.recencyRetention": v.Config.RecencyRetention,
			})
			defer s.Close()
			if _, err := s.Add(t.Context(), window.Addition{Entries: v.History, Judge: window.Anything}); err != nil {
				t.Fatal(err)
			}
			plan, outcome, err := s.PlanOptimize(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			replaced := map[int]content.Content{}
			for i, c := range plan.Replacements { // without the host's own record of its marks
				c.Metadata = v.History[i].Metadata
				replaced[i] = c
			}
			got := map[string]any{"Removals": append([]int{}, plan.Removals...), "Replacements": replaced,
				"Metadata": outcome.Metadata}
			if diff := cmp.Diff(plain(t, v.Expected), plain(t, got)); diff != "" {
				t.Error(diff)
			}
			again, err := applied(t, s)
			if err != nil || again != (sdk.DensityMetadata{}) {
				t.Errorf("applied and run again: %+v, %v", again, err)
			}
		})
	}
	if len(played) < 4 {
		t.Errorf("only %d combinations of settings were tried", len(played))
	}
}

// plain is a value as JSON has it.
func plain(t *testing.T, v any) any {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return vectors.Value(t, text)
}
