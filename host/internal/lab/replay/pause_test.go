package replay_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/thresh-dev/thresh/host/internal/lab/replay"
	"github.com/thresh-dev/thresh/host/internal/lab/transcript"
	"github.com/thresh-dev/thresh/sdk"
	"github.com/thresh-dev/thresh/sdk/content"
)

// A replay compresses after the recorder's pauses if they outlast the prompt cache, however fast the replay is.
func TestRecordedPausesAreThoseOfTheReplay(t *testing.T) {
	for name, c := range map[string]struct {
		pause  time.Duration
		prices string
		want   []sdk.CompressReason // of the turns that compressed
	}{
		"longer than the cache lives": {6 * time.Minute, "anthropic-sonnet", []sdk.CompressReason{"cache-cold"}},
		"shorter":                     {5 * time.Minute, "anthropic-sonnet", nil},
		"a cache that lives an hour":  {6 * time.Minute, "anthropic-sonnet-1h", nil},
	} {
		t.Run(name, func(t *testing.T) {
			var entries []content.Content
			at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
			for i := range 6 {
				if i == 5 {
					at = at.Add(c.pause)
				}
				for _, e := range []content.Content{says("human", "question"), says("ai", strings.Repeat("long ", 250))} {
					e.Metadata = json.RawMessage(fmt.Sprintf(`{"timestamp":%q}`, at.Format(time.RFC3339)))
					entries = append(entries, e)
				}
			}
			r, err := replay.Run(t.Context(), open(t, 3200), &transcript.Transcript{Entries: entries}, replay.Options{
				Settings: map[string]any{"compression.strategy": "distill", "model.priceList": c.prices},
			})
			if err != nil {
				t.Fatal(err)
			}
			var got []sdk.CompressReason
			for _, turn := range r.Turns {
				if turn.Compress.Kind != "" {
					got = append(got, turn.Compress.Reason)
				}
			}
			if diff := cmp.Diff(c.want, got); diff != "" || r.Totals.PeakUnpruned < 1200 || r.Totals.PeakUnpruned > 1700 {
				t.Errorf("%d tokens, %s", r.Totals.PeakUnpruned, diff)
			}
		})
	}
}
