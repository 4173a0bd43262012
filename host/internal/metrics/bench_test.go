package metrics_test

import (
	"testing"
	"time"

	"github.com/thresh-dev/thresh/host/internal/metrics"
	"github.com/thresh-dev/thresh/host/internal/prepare"
	"github.com/thresh-dev/thresh/host/outcome"
	"github.com/thresh-dev/thresh/sdk"
)

// BenchmarkRecord is what measuring adds to a turn: "optimize" is the usual one, "everything" compresses with a model
// and goes down the ladder as well.
func BenchmarkRecord(b *testing.B) {
	llm := &prepare.LLM{Profile: "cheap", Model: sdk.Model{Name: "small-1"}}
	for name, change := range map[string]func(*outcome.Outcome){
		"optimize": nil,
		"everything": func(o *outcome.Outcome) {
			o.Compress = outcome.Compress{
				Kind: outcome.KindApplied, Reason: sdk.ReasonHardLimit, TokensBefore: 600, TokensAfter: 300,
				PluginTime: time.Second,
				LLM: &outcome.Spent{Calls: 2, Attempts: 2, InputTokens: 900, CacheReadTokens: 300,
					CacheWriteTokens: 300, OutputTokens: 20, CostUSD: 0.01},
			}
			o.Ladder = []outcome.LadderStep{{Rung: outcome.RungResults, TokensBefore: 9, TokensAfter: 3},
				{Rung: outcome.RungExchanges, TokensBefore: 3, TokensAfter: 1}}
			o.Calibration = &outcome.Calibration{Ratio: 1.1}
		},
	} {
		b.Run(name, func(b *testing.B) {
			r, _ := newRecorder(b, metrics.Sources{})
			out, req := aTurn(change), prepare.Request{Settings: prepare.Settings{LLM: llm}}
			b.ReportAllocs()
			for b.Loop() {
				r.Turn(b.Context(), req, &out, nil)
			}
		})
	}
}
