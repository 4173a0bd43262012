package explain

import (
	"context"
	"errors"
	"fmt"

	"github.com/thresh-dev/thresh/host/internal/lab/replay"
	"github.com/thresh-dev/thresh/host/internal/lab/transcript"
	"github.com/thresh-dev/thresh/host/internal/window"
	"github.com/thresh-dev/thresh/sdk/tools"
)

// ErrNoSuchTurn is wrapped by the error for an [Options.Turn] that the session does not reach.
var ErrNoSuchTurn = errors.New("the session has no such turn")

type Options struct {
	// Turn is the request to stop at, counted from 1; 0: replay to the end. The explanation then describes the
	// history as it was in that request, and leaves out entries that came later.
	Turn int
	// Taxonomy says which tool calls concern which files. Required.
	Taxonomy *tools.Taxonomy
	// Progress is called after each entry with the number of entries that were replayed. May be nil.
	Progress func(entries, of int)
}

// Run replays t through h and returns what happened to each entry. Errors come from the replay, or are [ErrNoSuchTurn],
// and ctx's; there is no partial explanation.
func Run(ctx context.Context, h *window.Host, t *transcript.Transcript, o Options) (Explanation, error) {
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
		// Entries after the last turn are in no request, so nothing can have happened to them. They get no id, as no
		// change will refer to one.
		for i := len(r.entries); i < len(t.Entries); i++ {
			r.Entry(i, "")
		}
	}
	out := r.Explanation()
	out.Tools, out.Files = shares(t.Entries[:len(r.entries)], o.Taxonomy, t.Dir, recording.Counted.Counter())
	out.Strategy = h.Config().Settings().Compression.Strategy
	return out, nil
}
