package explain

import (
	"context"
	"errors"
	"fmt"

	"github.com/thresh-dev/thresh/host/internal/engine"
	"github.com/thresh-dev/thresh/host/internal/lab/replay"
	"github.com/thresh-dev/thresh/host/internal/transcript"
	"github.com/thresh-dev/thresh/sdk/tools"
)

// ErrNoSuchTurn is wrapped by the error for an [Options.Turn] that the session does not reach.
var ErrNoSuchTurn = errors.New("the session has no such turn")

// Options of a run.
type Options struct {
	// Turn, if above 0, is the request to stop at: the explanation says what that request held, and what had become
	// of what it did not hold. Entries that came later are not in it.
	Turn int
	// Taxonomy says what tools are for. Required.
	Taxonomy *tools.Taxonomy
	// Progress is called after each entry with the number of entries that were replayed. May be nil.
	Progress func(entries, of int)
}

// Run replays t through sessions of h and returns what became of its entries.
func Run(ctx context.Context, h *engine.Host, t *transcript.Transcript, o Options) (Explanation, error) {
	recording, err := replay.Record(ctx, h, t)
	if err != nil {
		return Explanation{}, err
	}
	r := NewRecorder(t, recording.Counted.Tokens, o.Taxonomy)
	for turn, err := range recording.Turns(ctx, h, replay.Options{Progress: o.Progress}) {
		if err != nil {
			return Explanation{}, err
		}
		for _, added := range turn.Added {
			r.Entry(added.Index, added.ID)
		}
		out := turn.Prepared.Outcome
		r.Turn(turn.Entry, out.Changes, out.Problems)
		if turn.Turn == o.Turn {
			break
		}
	}
	switch {
	case o.Turn > r.turns:
		return Explanation{}, fmt.Errorf("turn %d: %w, it has %d", o.Turn, ErrNoSuchTurn, r.turns)
	case o.Turn == 0:
		// Entries behind the last turn are in no request, so nothing can have become of them. No change will name
		// their ids.
		for i := len(r.entries); i < len(t.Entries); i++ {
			r.Entry(i, "")
		}
	}
	out := r.Explanation()
	out.Strategy = h.Config().Settings().Compression.Strategy
	return out, nil
}
