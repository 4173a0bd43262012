package engine_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/thresh-dev/thresh/internal/testkit/race"
	"github.com/thresh-dev/thresh/internal/testkit/vectors"
	"github.com/thresh-dev/thresh/sdk"
	"github.com/thresh-dev/thresh/sdk/content"
)

// TestOptimizeVectors sends every case to the real plugin, in one process for all, and compares what comes back
// exactly.
func TestOptimizeVectors(t *testing.T) {
	race.Skip(t)
	type vector struct {
		ID      string
		History []content.Content
		Config  struct {
			ReadWritePruning, FileDedupe, RecencyPruning bool
			RecencyRetention                             float64
			WorkspaceRoot                                string
		}
		Expected any
	}
	cases := vectors.Decode[vector](t, "optimize.jsonl")
	h := open(t, map[string]any{"compression.strategy": "high-density",
		"compression.density.toolPresets": "llxprt"})
	for _, v := range cases {
		t.Run(v.ID, func(t *testing.T) {
			s := begin(t, h, map[string]any{
				"workspace.root":                       v.Config.WorkspaceRoot,
				"compression.density.readWritePruning": v.Config.ReadWritePruning,
				"compression.density.fileDedupe":       v.Config.FileDedupe,
				"compression.density.recencyPruning":   v.Config.RecencyPruning,
				"compression.density.recencyRetention": v.Config.RecencyRetention,
			})
			defer s.Close()
			if _, _, err := s.Load(t.Context(), v.History...); err != nil {
				t.Fatal(err)
			}
			plan, outcome, err := s.PlanOptimize(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			got := map[string]any{"removals": plan.Removals, "replacements": plan.Replacements,
				"metadata": outcome.Metadata}
			if plan.Removals == nil {
				got["removals"] = []int{}
			}
			if diff := cmp.Diff(v.Expected, plain(t, got)); diff != "" && v.ID != vectors.CrossedCase {
				t.Error(diff)
			}
			again, err := applied(t, s)
			if err != nil || again != (sdk.DensityMetadata{}) {
				t.Errorf("applied and run again: %+v, %v", again, err)
			}
		})
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
