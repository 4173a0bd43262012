package sdktest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/thresh-dev/thresh/internal/conform"
	"github.com/thresh-dev/thresh/sdk"
)

// deltaSteps is how many calls of one session Conformance makes of each history. Faults of a memo show at the second or
// third rewrite; more calls only take time.
const deltaSteps = 6

// session plays a history as a host does that sends what is new: all calls see the same entries and the same memo. rnd
// says how much is added for each call, and when the history is rewritten or the memo lost. Each answer must be that of
// a call which gets the whole history, a copy of its own, and no memo.
func (c Config) session(
	ctx context.Context, o sdk.Optimizer, info sdk.Info, history []sdk.Content, rnd *rand.Rand,
) error {
	var s played
	for step := 1; step <= deltaSteps; step++ {
		// At most half of what is left, so the last call but one always brings something. The last one sees what
		// became of its edits.
		n := len(history)
		if step < deltaSteps-1 {
			n = rnd.IntN(n/2 + 1)
		}
		s.add(history[:n])
		history = history[n:]
		want, _, err := c.optimizeOnce(ctx, o, info, s.was)
		if err != nil {
			return err
		}
		in, err := c.optimizeInput(info, nil)
		if err != nil {
			return err
		}
		in.History, in.Memo, in.Unchanged, in.Applied = slices.Clip(s.shared), &s.memo, s.unchanged, s.applied
		got, err := o.Optimize(ctx, in)
		if err != nil {
			return fmt.Errorf("%s: Optimize with a memo, %d of %d entries unchanged, %d left by edits: %w", info.Name,
				s.unchanged, len(s.shared), s.applied, err)
		}
		var found problems
		// With a host that sends only what is new, the strategy would damage its own input for all later calls.
		if i := firstDifference(s.was, s.shared); i >= 0 {
			found.broken(conform.ErrInputChanged, i, "later calls of the session see it too")
		}
		if e := different(conform.ErrMemo, want, got, fmt.Sprintf("of %d entries %d are unchanged since it was stored, and "+
			"%d left by edits that were applied; without it, then with it", len(s.shared), s.unchanged, s.applied)); e != nil {
			found.addAll(e)
		}
		if len(found) > 0 {
			return found.err("Optimize")
		}
		stored := s.memo.Stored()
		if stored {
			s.unchanged, s.applied = len(s.shared), 0
		}
		// In half of the steps the result is applied, if the host would accept it; in a quarter the memo is lost.
		switch then := rnd.IntN(4); then {
		case 0, 1:
			// Together with another rewrite, the edits cannot be told from it.
			if told := stored && then == 0; CheckDensity(s.was, want) == nil {
				s.apply(want, told)
			}
		case 2:
			s.memo, s.unchanged, s.applied = sdk.Memo{}, 0, 0
		}
	}
	return nil
}

// played is the state of a session that is played, as the SDK would keep it in the strategy's process.
type played struct {
	was    []sdk.Content // as it should be
	shared []sdk.Content // what the strategy gets, call by call
	memo   sdk.Memo
	// unchanged is how many entries at the beginning the memo was stored for, applied how many the edits that were
	// stored with it left.
	unchanged, applied int
}

// add appends entries. The strategy gets copies, so what it writes to them shows when both are compared.
func (s *played) add(entries []sdk.Content) {
	for _, e := range entries {
		s.was = append(s.was, e)
		s.shared = append(s.shared, cloneEntry(e).WithOrigin(len(s.shared)))
	}
}

// apply rewrites the history as a host does that applies a result: entries before the first edit stay the same ones,
// and with them what the memo says of them. told: the strategy is told that these were its edits.
func (s *played) apply(r sdk.DensityResult, told bool) {
	first := len(s.was)
	if len(r.Removals) > 0 {
		first = r.Removals[0]
	}
	for i := range r.Replacements {
		first = min(first, i)
	}
	if first == len(s.was) {
		return // no edits are no rewrite
	}
	rest := Apply(s.was, r)[first:]
	s.was, s.shared = slices.Clone(s.was[:first]), s.shared[:first:first]
	s.add(rest)
	s.unchanged, s.applied = min(s.unchanged, first), 0
	if told {
		s.applied = len(s.was)
	}
	if s.unchanged == 0 && s.applied == 0 {
		s.memo = sdk.Memo{}
	}
}
