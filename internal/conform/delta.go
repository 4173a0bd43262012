package conform

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/thresh-dev/thresh/internal/conform/samples"
	"github.com/thresh-dev/thresh/sdk"
)

// deltaSteps is how many calls of one session are made of each sample. It leaves room for two or three rewrites.
const deltaSteps = 8

// checkDelta demands that a strategy that is sent what is new, or has a memo, answers as it does without. A session of
// each sample is added to in random parts, rewritten by what the strategy prunes, and now and then ended, so that it
// starts with nothing. Each call is compared with one of a session of its own.
//
// What goes wrong otherwise shows only in long sessions: a memo that does not follow a rewrite, or a history that the
// strategy changed in place.
func checkDelta(ctx context.Context, r *Runner) (string, error) {
	if _, err := r.continuous(ctx); err != nil {
		return "", err
	}
	s, o, end, err := r.fresh(ctx)
	if err != nil {
		return "", err
	}
	defer end()
	all, err := r.small(ctx)
	if err != nil {
		return "", err
	}
	var found Findings
	d := delta{Runner: r, o: o}
	for i, sm := range all {
		session, err := r.Subject.Session(ctx, s, "delta "+sm.Name)
		if err != nil {
			return "", err
		}
		err = d.play(ctx, session, sm, rand.New(rand.NewPCG(uint64(i), 1)))
		if lost(err) {
			return "", err
		}
		if found.Add(sm.Name, err); found.full() {
			break
		}
	}
	return r.verdict(&found, d.edits, "it prunes nothing", len(all), "%d histories, %d calls", len(all), d.calls)
}

type delta struct {
	*Runner
	o            sdk.Optimizer
	calls, edits int // that were made, and that it learned of
}

// play plays one sample. The same rnd plays it the same way.
func (d *delta) play(ctx context.Context, session Session, sm samples.Sample, rnd *rand.Rand) error {
	var now []sdk.Content
	left := sm.History
	for step := 1; step <= deltaSteps; step++ {
		n := len(left)
		if step < deltaSteps-1 { // the last call brings nothing, and sees what became of the edits before
			n = rnd.IntN(1 + n/2)
		}
		// The first call brings something: a memo of nothing finds no fault.
		if len(now) == 0 && n == 0 {
			n = min(1, len(left))
		}
		session.Add(left[:n])
		now = append(now[:len(now):len(now)], left[:n]...)
		left = left[n:]
		// First in a session that is used once: its answer owes nothing to a memo.
		whole := samples.Sample{Name: sm.Name, History: now}
		want, err := d.pruning(ctx, d.o, fmt.Sprint("whole ", step, " ", sm.Name), whole)
		if err != nil {
			return err
		}
		in := d.around.OptimizeInput("", nil)
		in.Revision = uint64(step)
		answer, told, err := session.Optimize(ctx, in)
		if err != nil && (errors.Is(err, ErrInputChanged) || strings.Contains(err.Error(), inPlace)) {
			return err
		}
		got, err := replied(ctx, sm.Name, pruned(answer), err)
		if err != nil {
			return err
		}
		if e := want.different(ErrMemo, got, fmt.Sprintf("call %d of a session; without it, then with it: %s", step,
			told)); e != nil {
			return e
		}
		d.calls, d.edits = d.calls+1, d.edits+edits(got.edits)
		// Applied at once, or held back as the cadence may, or a session that the strategy has to hear of again.
		switch then := rnd.IntN(4); then {
		case 0, 1:
			// Together with another rewrite, the edits cannot be told from it.
			if after, err := Optimized(now, got.edits); err == nil && edits(got.edits) > 0 {
				session.Rewrite(after, then == 0)
				now = after
			}
		case 2:
			session.Forget()
		}
	}
	return nil
}
