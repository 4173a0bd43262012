package verify

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/thresh-dev/thresh/host/internal/plugins"
	"github.com/thresh-dev/thresh/internal/conform"
)

// deltaSteps is how many calls of one session are made of each sample. It leaves room for two or three rewrites.
const deltaSteps = 8

// checkOptimizeDelta demands that a plugin which mirrors histories answers as it does when it is sent everything. A
// session of each sample is added to in random parts, rewritten by what the plugin prunes, and now and then ended, so
// that the plugin starts with nothing. Each call is compared with one of a session of its own, which has no memo.
//
// What goes wrong otherwise shows only in long sessions: a memo that does not follow a rewrite, or a history that the
// strategy changed in place.
func checkOptimizeDelta(ctx context.Context, s *suite) (string, error) {
	st, end, err := s.freshContinuous(ctx)
	if err != nil {
		return "", err
	}
	defer end()
	switch yes, err := mirrors(ctx, st); {
	case err != nil:
		return "", err
	case !yes:
		return "", skipped("it keeps no mirror (history_delta): it is always sent the whole history")
	}
	all, err := s.small(ctx)
	if err != nil {
		return "", err
	}
	var found findings
	calls, edits := 0, 0
	for i, sm := range all {
		n, e, err := deltaSession(ctx, st, sm, rand.New(rand.NewPCG(uint64(i), 1)))
		found.add(sm.name, err)
		if calls, edits = calls+n, edits+e; found.full() || err != nil && !answeredBadly(err) {
			break
		}
	}
	if err := found.err(); err != nil {
		return "", err
	}
	if edits == 0 {
		return "", unseen("it prunes nothing", len(all))
	}
	return fmt.Sprintf("%d histories, %d calls", len(all), calls), nil
}

// deltaSession plays one sample and returns how many calls it made, and of how many edits it learned. The same rnd plays
// it the same way.
func deltaSession(ctx context.Context, st *plugins.Strategy, sm sample, rnd *rand.Rand) (calls, edits int, err error) {
	session := "delta " + sm.name
	now, next := sample{name: sm.name}, 0 // next is the first entry of sm that was not added
	for step := 1; step <= deltaSteps; step++ {
		to := len(sm.entries)
		if step < deltaSteps-1 { // the last call brings nothing, and sees what became of the edits before
			to = next + rnd.IntN(1+(to-next)/2)
		}
		// The first call brings something: a memo of nothing finds no fault.
		if next == 0 && to == 0 {
			to = min(1, len(sm.entries))
		}
		// Never in place: the host side remembers the list that it sent, as it does for a history.
		now.entries = append(now.entries[:len(now.entries):len(now.entries)], sm.entries[next:to]...)
		next = to
		// First in a session that is used once: its answer owes nothing to a memo.
		want, err := optimize(ctx, st, now, fmt.Sprint("whole ", step, " ", sm.name), uint64(step))
		if err != nil {
			return calls, edits, err
		}
		got, err := optimize(ctx, st, now, session, uint64(step))
		if err != nil && !answeredBadly(err) {
			return calls, edits, err
		}
		if err != nil && !strings.Contains(err.Error(), " in place") {
			got.bytes = "error: " + err.Error()
		} else if err != nil {
			return calls, edits, err
		}
		if got.bytes != want.bytes {
			return calls, edits, different(conform.ErrMemo, want, got, fmt.Sprintf(
				"call %d of a session, sent the whole history and then what is new", step))
		}
		calls, edits = calls+1, edits+got.edits
		// Applied at once, held back as the cadence may, or a session that the plugin has to hear of again.
		switch rnd.IntN(4) {
		case 0, 1:
			now = got.after
		case 2:
			st.EndSession(session)
		}
	}
	return calls, edits, nil
}

// mirrors reports whether the plugin is sent what is new. Only its process can tell: the declaration is not a part of
// what strategies say about themselves.
func mirrors(ctx context.Context, st *plugins.Strategy) (bool, error) {
	l, err := st.Acquire(ctx)
	if err != nil {
		return false, err
	}
	defer l.Release()
	return l.Plugin().Mirrors(), nil
}
