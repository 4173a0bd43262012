package verify

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/thresh-dev/thresh/host/internal/plugins"
	"github.com/thresh-dev/thresh/internal/check"
	"github.com/thresh-dev/thresh/internal/conform/samples"
)

// small returns all samples except the large one. They are built once per run; checks run one after the other, so no
// lock is needed.
func (s *suite) small() []sample {
	if s.few == nil {
		for _, sm := range samples.All() {
			if n := s.bounds.long; n > 0 {
				sm.History = sm.History[:min(n, len(sm.History))]
			}
			s.few = append(s.few, newSample(sm))
		}
	}
	return s.few
}

// large returns the large sample, built on first use: a run with --only may never need it.
func (s *suite) large() sample {
	if s.huge == nil {
		s.huge = new(newSample(samples.Large(s.bounds.large)))
	}
	return *s.huge
}

// all returns all samples, the large one last, so simple faults show up before slow ones. The result is a copy:
// appending to it must not change the cache.
func (s *suite) all() []sample { return append(slices.Clone(s.small()), s.large()) }

// checkOptimizeValid demands that the host's validator accepts every answer. The host would discard a rejected answer
// and send the unpruned history instead.
func checkOptimizeValid(ctx context.Context, s *suite) (string, error) {
	st, err := s.continuous(ctx)
	if err != nil {
		return "", err
	}
	all, edits := s.all(), 0
	for _, sm := range all {
		o, err := optimize(ctx, st, sm, "valid", 1)
		if err != nil {
			return "", err
		}
		edits += o.edits
	}
	return fmt.Sprintf("%d histories, %d edits", len(all), edits), nil
}

// starts is how many processes must give the same answer. Most languages seed their hash tables per process, so the
// usual cause of nondeterminism, iteration over a map, shows up across processes rather than within one. Three, because
// two processes may have the same order by chance.
const starts = 3

// checkOptimizeDeterministic demands the same answer from different processes. After a restart of the plugin, a
// different answer would change the history that the model has seen, and with it invalidate the prompt cache.
func checkOptimizeDeterministic(ctx context.Context, s *suite) (string, error) {
	if _, err := s.continuous(ctx); err != nil {
		return "", err
	}
	var first []optimized
	for i := range starts {
		st, end, err := s.fresh(ctx)
		if err != nil {
			return "", err
		}
		answers, err := optimizeAll(ctx, s, func(sm sample, n int) (optimized, error) {
			return optimize(ctx, st, sm, "same", 1)
		})
		end()
		if err != nil {
			return "", err
		}
		if i == 0 {
			first = answers
			continue
		}
		complaint := fmt.Sprintf("another process gives a different answer to the same request (process %d)", i+1)
		if err := same(s.small(), first, answers, complaint); err != nil {
			return "", err
		}
	}
	return fmt.Sprintf("%d histories in %d processes", len(first), starts), nil
}

// optimizeAll optimises all small samples in order. An error that the strategy returns, or an answer that the host
// rejects, counts as an answer: it must be as reproducible as any other, and optimize-valid judges it. A crash or
// timeout ends the check at once; asking on would cost a timeout per sample.
func optimizeAll(ctx context.Context, s *suite, ask func(sm sample, n int) (optimized, error)) ([]optimized, error) {
	answers := make([]optimized, len(s.small()))
	for i, sm := range s.small() {
		a, err := ask(sm, i)
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case errors.Is(err, plugins.ErrStrategy), errors.As(err, new(*check.Error)):
			a = optimized{bytes: "error: " + err.Error()}
		case err != nil:
			return nil, err
		}
		answers[i] = a
	}
	return answers, nil
}

// same compares the encoded answers to the samples of and returns complaint for the first pair that differs.
func same(of []sample, a, b []optimized, complaint string) error {
	for i := range of {
		if a[i].bytes != b[i].bytes {
			return on(&of[i], fmt.Errorf("%s: first %d edits, then %d", complaint, a[i].edits, b[i].edits))
		}
	}
	return nil
}

// checkOptimizePure demands that an answer depends on the history alone. It asks for all samples, then again under
// other session ids and revisions, and then as in the first round. A cache by session id, by revision or by time
// gives itself away. Hosts restart plugins and move sessions between processes, so state in the plugin is never
// reliable.
func checkOptimizePure(ctx context.Context, s *suite) (string, error) {
	st, end, err := s.freshContinuous(ctx)
	if err != nil {
		return "", err
	}
	defer end()
	// Each call sends everything: what a mirror of the call before does to the answer is for optimize-delta to find.
	whole := func(sm sample, session string, revision uint64) (optimized, error) {
		st.EndSession(session)
		return optimize(ctx, st, sm, session, revision)
	}
	rounds := []func(sm sample, n int) (optimized, error){
		func(sm sample, _ int) (optimized, error) { return whole(sm, "a", 1) },
		func(sm sample, n int) (optimized, error) {
			// Revisions that jump, as they do when a host is restored from a transcript.
			return whole(sm, fmt.Sprint("b", n), uint64(7+n))
		},
		func(sm sample, _ int) (optimized, error) { return whole(sm, "a", 1) },
	}
	var first []optimized
	for i, ask := range rounds {
		answers, err := optimizeAll(ctx, s, ask)
		if err != nil {
			return "", err
		}
		if i == 0 {
			first = answers
			continue
		}
		const complaint = "the answer changes after other calls, though the history is the same; " +
			"nothing may be kept between calls"
		if err := same(s.small(), first, answers, complaint); err != nil {
			return "", err
		}
	}
	return fmt.Sprintf("%d histories, %d times each", len(first), len(rounds)), nil
}

// checkOptimizeIdempotent demands that a strategy leaves its own result alone. One that finds more to prune in it
// would change the history on every turn, even without new entries, and the prompt cache would never be used.
func checkOptimizeIdempotent(ctx context.Context, s *suite) (string, error) {
	st, err := s.continuous(ctx)
	if err != nil {
		return "", err
	}
	pruned := 0
	for _, sm := range s.all() {
		first, err := optimize(ctx, st, sm, "again", 1)
		if err != nil {
			return "", err
		}
		if first.edits == 0 {
			continue
		}
		pruned++
		// In a session of its own: what a memo of the first run does to it is for optimize-delta to find.
		second, err := optimize(ctx, st, first.after, "again, pruned", 2)
		if err != nil {
			return "", fmt.Errorf("run on its own result: %w", err)
		}
		if second.edits > 0 {
			return "", on(&sm, fmt.Errorf(
				"run on its own result, it makes %d more edits (the first run made %d)", second.edits, first.edits))
		}
	}
	return fmt.Sprintf("%d histories of which it pruned something", pruned), nil
}
