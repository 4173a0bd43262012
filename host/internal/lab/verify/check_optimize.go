package verify

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/thresh-dev/thresh/host/internal/plugins"
	"github.com/thresh-dev/thresh/internal/check"
	"github.com/thresh-dev/thresh/internal/testkit/samples"
)

// small returns all samples but the large one.
func (s *suite) small() []sample {
	if s.few == nil {
		for _, sm := range samples.All() {
			s.few = append(s.few, newSample(sm))
		}
	}
	return s.few
}

// large returns the large sample.
func (s *suite) large() sample {
	if s.huge == nil {
		s.huge = new(newSample(samples.Large(s.bounds.large)))
	}
	return *s.huge
}

// all returns the samples with the large one.
func (s *suite) all() []sample { return append(slices.Clone(s.small()), s.large()) }

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

// starts is how many processes must answer the same.
const starts = 3

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
		answers, err := optimizeAll(ctx, s, func(sm sample, n int) (optimized, error) { return optimize(ctx, st, sm, "same", 1) })
		end()
		if err != nil {
			return "", err
		}
		if i == 0 {
			first = answers
			continue
		}
		if err := same(s.small(), first, answers, fmt.Sprintf("another process answers the same request otherwise (process %d)", i+1)); err != nil {
			return "", err
		}
	}
	return fmt.Sprintf("%d histories in %d processes", len(first), starts), nil
}

// optimizeAll has all samples optimised, in order. An error that the strategy returns is an answer too, and is judged
// in optimize-valid; a plugin that crashes or hangs is not asked on.
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

func same(of []sample, a, b []optimized, complaint string) error {
	for i := range of {
		if a[i].bytes != b[i].bytes {
			return on(&of[i], fmt.Errorf("%s: first %d edits, then %d", complaint, a[i].edits, b[i].edits))
		}
	}
	return nil
}

func checkOptimizePure(ctx context.Context, s *suite) (string, error) {
	if _, err := s.continuous(ctx); err != nil {
		return "", err
	}
	st, end, err := s.fresh(ctx)
	if err != nil {
		return "", err
	}
	defer end()
	rounds := []func(sm sample, n int) (optimized, error){
		func(sm sample, _ int) (optimized, error) { return optimize(ctx, st, sm, "a", 1) },
		func(sm sample, n int) (optimized, error) {
			return optimize(ctx, st, sm, fmt.Sprint("b", n), uint64(7+n))
		},
		func(sm sample, _ int) (optimized, error) { return optimize(ctx, st, sm, "a", 1) },
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
		if err := same(s.small(), first, answers, "the answer changes after other calls, though the history is the same; nothing may be kept between calls"); err != nil {
			return "", err
		}
	}
	return fmt.Sprintf("%d histories, %d times each", len(first), len(rounds)), nil
}

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
		second, err := optimize(ctx, st, first.after, "again", 2)
		if err != nil {
			return "", fmt.Errorf("run on its own result: %w", err)
		}
		if second.edits > 0 {
			return "", on(&sm, fmt.Errorf("run on its own result, it makes %d more edits (the first run made %d)", second.edits, first.edits))
		}
	}
	return fmt.Sprintf("%d histories of which it pruned something", pruned), nil
}
