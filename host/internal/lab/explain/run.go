package explain

import (
	"context"
	"errors"
	"fmt"

	"github.com/thresh-dev/thresh/host/internal/engine"
	"github.com/thresh-dev/thresh/host/internal/lab/replay"
	"github.com/thresh-dev/thresh/host/internal/lab/transcript"
	"github.com/thresh-dev/thresh/sdk/tools"
)

// ErrNoSuchTurn is wrapped by the error for an [Options.Turn] that the session does not reach.
var ErrNoSuchTurn = errors.New("the session has no such turn")

// Options of a run.
type Options struct {
	// Turn, if above 0, is the request to stop at: the explanation says what that request held, and what had become of what
	// it did not hold. Entries that came later are not in it.
	Turn int
	// Taxonomy says what tools are for. Required.
	Taxonomy *tools.Taxonomy
	// Progress is called after each turn with the number of entries that were replayed. May be nil.
	Progress func(entries, of int)
}

// Run replays t through sessions of h, as [replay.Run] does, and returns what became of its entries.
func Run(ctx context.Context, h *engine.Host, t *transcript.Transcript, o Options) (Explanation, error) {
	counted, err := h.Count(ctx, t.Entries)
	if err != nil {
		return Explanation{}, err
	}
	r := NewRecorder(t, counted.Tokens, o.Taxonomy)
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	done := false
	report, err := replay.Run(ctx, h, t, replay.Options{
		Counted:  &counted,
		Progress: o.Progress,
		Entry: func(index int, id string) {
			if !done {
				r.Entry(index, id)
			}
		},
		Turn: func(turn replay.Turn, p engine.Prepared) {
			if done {
				return
			}
			r.Turn(turn.Entry, p.Outcome.Changes, p.Outcome.Problems)
			if turn.Turn == o.Turn {
				done = true
				stop()
			}
		},
	})
	if err != nil && !done {
		return Explanation{}, err
	}
	if o.Turn > 0 && !done {
		return Explanation{}, fmt.Errorf("turn %d: %w, it has %d", o.Turn, ErrNoSuchTurn, r.turns)
	}
	out := r.Explanation()
	out.Strategy = report.Strategy
	return out, nil
}
