package plugins

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/thresh-dev/thresh/host/internal/plugins/isolate"
)

func TestMissingMeasuresAreNamedByReason(t *testing.T) {
	t.Parallel()
	got := byReason([]string{"files: no Landlock", "calls: an old kernel", "network: no Landlock", "ending: why: this"})
	want := []string{"files, network: no Landlock", "calls: an old kernel", "ending: why: this"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// A measure without a sentence of its own tells the user nothing.
func TestEachMeasureSaysWhatItKeepsAPluginFrom(t *testing.T) {
	t.Parallel()
	for _, c := range isolate.Probe() {
		if without[c.Measure] == "" {
			t.Errorf("%s: no sentence for it", c.Measure)
		}
	}
}
