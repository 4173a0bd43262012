package oneshot

import (
	"testing"

	"github.com/thresh-dev/thresh/internal/testkit/gen"
	"github.com/thresh-dev/thresh/internal/testkit/summarytest"
	"github.com/thresh-dev/thresh/sdk"
	"github.com/thresh-dev/thresh/sdk/sdktest"
)

func TestInfo(t *testing.T) { sdktest.CheckInfo(t, Strategy{}) }

func TestVectors(t *testing.T) { summarytest.CheckVectors(t, Strategy{}, "compress_oneshot.jsonl") }

func TestPinnedEntriesStay(t *testing.T) { summarytest.CheckPinned(t, Strategy{}) }

func TestCompressProperties(t *testing.T) { summarytest.CheckProperties(t, Strategy{}) }

func TestWithoutAModelItSaysWhatToConfigure(t *testing.T) { summarytest.CheckNoModel(t, Strategy{}) }

func TestAnEmptySummaryIsAnError(t *testing.T) { summarytest.CheckEmptySummary(t, Strategy{}) }

func BenchmarkCompress(b *testing.B) { summarytest.Benchmark(b, Strategy{}) }

func TestTheRange(t *testing.T) {
	tests := map[string]struct {
		history string
		bottom  float64 // share
		noop    sdk.NoOpReason
		to      int
	}{
		"nothing there":                 {"", 0.4, sdk.NoOpEmptyHistory, 0},
		"the share, rounded down":       {"aaaaaaaaaaaah", 0.2, "", 10},
		"too few":                       {"aaaah", 0.4, sdk.NoOpTooFew, 0},
		"just enough":                   {"aaaah", 0.2, "", 4},
		"too few, before the cut moves": {"hhctuh", 0.5, sdk.NoOpTooFew, 0},
		"the cut moves past responses":  {"hctuaaactuah", 0.3, "", 10},
		"off the end, it moves back":    {"haaaaactu", 0.2, "", 6},
		"too few, once it moved":        {"haactu", 0.2, sdk.NoOpTooFew, 0},
		"all is to be preserved":        {"hahahaha", 1, sdk.NoOpTooFew, 0},
		"all, but for what waits":       {"haaaaaac", 0, "", 7},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			c := summarytest.Config(100_000, sdktest.Answers(summarytest.Snapshot))
			c.PreserveThreshold = &test.bottom
			got := sdktest.Compress(t, Strategy{}, gen.Letters(t, test.history), c)
			if got.NoOp != test.noop {
				t.Fatalf("no-op %q, want %q", got.NoOp, test.noop)
			}
			if got.NoOp == "" && *got.Metadata.MiddleCompressed != test.to {
				t.Errorf("%d entries were summarised, want %d", *got.Metadata.MiddleCompressed, test.to)
			}
		})
	}
}
