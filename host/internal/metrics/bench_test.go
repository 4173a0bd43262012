package metrics_test

import (
	"testing"
	"time"

	"github.com/thresh-dev/thresh/host/internal/metrics"
	"github.com/thresh-dev/thresh/host/internal/prepare"
	"github.com/thresh-dev/thresh/sdk"
)

// BenchmarkRecord is what measuring adds to a turn: "optimize" is the usual one, "everything" compresses with a model and
// goes down the ladder as well.
func BenchmarkRecord(b *testing.B) {
	llm := &prepare.LLM{Profile: "cheap", Model: sdk.Model{Name: "small-1"}}
	for name, change := range map[string]func(*prepare.Outcome){
		"optimize": nil,
		"everything": func(o *prepare.Outcome) {
			o.Compress = prepare.CompressOutcome{
				Kind: prepare.KindApplied, Reason: sdk.ReasonHardLimit, TokensBefore: 600, TokensAfter: 300, PluginTime: time.Second,
				LLM: &prepare.Spent{Calls: 2, Attempts: 2, InputTokens: 900, CacheReadTokens: 300, CacheWriteTokens: 300, OutputTokens: 20, CostUSD: 0.01},
			}
			o.Ladder = []prepare.LadderStep{{Rung: prepare.RungResults, TokensBefore: 9, TokensAfter: 3}, {Rung: prepare.RungExchanges, TokensBefore: 3, TokensAfter: 1}}
			o.Calibration = &prepare.Calibration{Ratio: 1.1}
		},
	} {
		b.Run(name, func(b *testing.B) {
			r, _ := newRecorder(b, metrics.Sources{})
			out, req := outcome(change), prepare.Request{Settings: prepare.Settings{LLM: llm}}
			b.ReportAllocs()
			for b.Loop() {
				r.Turn(b.Context(), req, &out, nil)
			}
		})
	}
}
