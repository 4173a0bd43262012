package prune

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/thresh-dev/thresh/sdk"
	"github.com/thresh-dev/thresh/sdk/sdktest"
)

func pin(entry sdk.Content) sdk.Content {
	entry.Metadata = json.RawMessage(`{"pinned":true}`)
	return entry
}

// What is superseded stays if it is pinned, a pair also if only one half of it is, and what is not pinned goes as it
// would otherwise.
func TestPinnedEntriesAreNotPruned(t *testing.T) {
	read, write := exchange("r", "read_file", "a.go"), exchange("w", "write_file", "a.go")
	include := said(sdk.Human, "--- a.go ---\nx\n--- End of content ---\n")
	first, second, third := exchange("1", "grep", "x"), exchange("2", "grep", "x"), exchange("3", "grep", "x")
	pinnedAnswer := func(e []sdk.Content) []sdk.Content { return []sdk.Content{e[0], pin(e[1])} }
	tests := map[string]struct {
		history []sdk.Content
		edited  []int
	}{
		"a read":                   {join([]sdk.Content{pin(read[0]), read[1]}, write), nil},
		"the answer to a read":     {join(pinnedAnswer(read), write), nil},
		"a write still counts":     {join(read, []sdk.Content{pin(write[0]), pin(write[1])}), []int{0, 1}},
		"an inclusion":             {[]sdk.Content{include, pin(include), include}, []int{0}},
		"an old result":            {join(pinnedAnswer(first), second, third), []int{3}},
		"the newest result counts": {join(first, pinnedAnswer(second)), []int{1}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got := sdktest.Optimize(t, strategy{}, test.history, sdktest.Config{Density: &sdk.DensityConfig{
				ReadWritePruning: true, FileDedupe: true, RecencyPruning: true, RecencyRetention: 1,
			}})
			edited := got.Removals
			for i := range got.Replacements {
				edited = append(edited, i)
			}
			slices.Sort(edited)
			if !slices.Equal(edited, test.edited) {
				t.Errorf("edited entries %v, want %v", edited, test.edited)
			}
			m := got.Metadata
			if n := 2*m.ReadWritePairsPruned + m.FileDeduplicationsPruned + m.RecencyPruned; n != len(test.edited) {
				t.Errorf("%d entries were edited, but the metadata says %+v", len(test.edited), m)
			}
		})
	}
}
