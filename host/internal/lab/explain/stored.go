package explain

import (
	"context"
	"fmt"

	"github.com/thresh-dev/thresh/host/internal/journal"
	"github.com/thresh-dev/thresh/host/internal/lab/transcript"
	"github.com/thresh-dev/thresh/host/internal/store"
	"github.com/thresh-dev/thresh/host/internal/tokens"
	"github.com/thresh-dev/thresh/host/outcome"
	"github.com/thresh-dev/thresh/sdk/tools"
)

// Stored returns what happened to each entry of a stored session, as its log says: nothing is replayed, and no strategy
// is asked. A turn is counted for each time that something was added. turn is as in [Options]; counter counts what tools
// and files take. The error wraps [store.ErrNotFound] if there is no such session.
func Stored(
	ctx context.Context, in store.Store, key store.Key, turn int, taxonomy *tools.Taxonomy, counter *tokens.Counter,
) (Explanation, error) {
	t := &transcript.Transcript{}
	var counts []int
	var events []journal.Event
	turns := 0
	for e, err := range journal.Events(ctx, in, key) {
		if err != nil {
			return Explanation{}, err
		}
		if len(e.Added) > 0 {
			if turn > 0 && turns == turn {
				break
			}
			turns++
		}
		for _, a := range e.Added {
			t.Entries, counts = append(t.Entries, a.Content), append(counts, a.Tokens)
		}
		events = append(events, e)
	}
	if turns < turn {
		return Explanation{}, fmt.Errorf("turn %d: %w, it has %d", turn, ErrNoSuchTurn, turns)
	}
	r := NewRecorder(t, func(entry int) int { return counts[entry] }, taxonomy)
	strategy, next := "", 0
	var changes []outcome.Change // since something was last added
	for i, e := range events {
		for _, a := range e.Added {
			r.Entry(next, a.ID)
			next++
		}
		if changes = append(changes, e.Changes...); e.Strategy != "" {
			strategy = e.Strategy
		}
		if i+1 == len(events) || len(events[i+1].Added) > 0 {
			r.Turn(next-1, changes, nil)
			changes = nil
		}
	}
	out := r.Explanation()
	out.Tools, out.Files = shares(t.Entries, taxonomy, "", counter)
	out.Strategy = strategy
	return out, nil
}
