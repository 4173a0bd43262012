package replay

import (
	"context"

	"github.com/thresh-dev/thresh/host/internal/lab/transcript"
	"github.com/thresh-dev/thresh/host/internal/window"
)

// Report is what tests look at of a replay.
type Report struct {
	Strategy string  `json:"strategy"`
	Entries  int     `json:"entries"`
	Turns    []Turn  `json:"turns"`
	Totals   Totals  `json:"totals"`
	Saved    float64 `json:"saved"`
}

// Run replays t through sessions of h and reports every turn. What was replayed before an error comes back with it.
func Run(ctx context.Context, h *window.Host, t *transcript.Transcript, o Options) (Report, error) {
	report := Report{Strategy: h.Config().Settings().Compression.Strategy, Entries: len(t.Entries)}
	if name, ok := o.Settings["compression.strategy"].(string); ok {
		report.Strategy = name
	}
	r, err := Record(ctx, h, t)
	if err != nil {
		return report, err
	}
	for turn, failed := range r.Turns(ctx, h, o) {
		if failed != nil {
			err = failed
			break
		}
		billed := turn
		billed.AfterCompress, billed.Unpruned = r.billed(turn)
		report.Totals.Count(billed)
		turn.Added, turn.Prepared = nil, window.Prepared{} // else every state of the history stays in memory
		report.Turns = append(report.Turns, turn)
	}
	report.Saved = report.Totals.Saved()
	return report, err
}
