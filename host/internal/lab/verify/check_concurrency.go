package verify

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/thresh-dev/thresh/host/internal/plugins"
	"github.com/thresh-dev/thresh/sdk"
)

func sortedKeys[K cmp.Ordered, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }

func checkConcurrency(ctx context.Context, s *suite) (string, error) {
	st, err := s.strategy(ctx)
	if err != nil {
		return "", err
	}
	detail := ""
	if st.Info().Trigger.Mode == sdk.ModeContinuous {
		if err := s.optimizeAtOnce(ctx, st); err != nil {
			return "", fmt.Errorf("calls of Optimize at once: %w", err)
		}
		detail = fmt.Sprintf("%d Optimize, ", s.bounds.calls)
	}
	if st, err = s.compressing(ctx); err != nil {
		return "", err
	}
	if err := s.compressAtOnce(ctx, st); err != nil {
		return "", fmt.Errorf("calls of Compress at once: %w", err)
	}
	detail += fmt.Sprintf("%d Compress", s.bounds.calls)
	if s.asked.generations.Load() == 0 {
		return detail, nil
	}
	if err := s.oneHeld(ctx, st); err != nil {
		return "", err
	}
	return detail + ", one while another waits for the model", nil
}

func (s *suite) optimizeAtOnce(ctx context.Context, st *plugins.Strategy) error {
	alone, err := optimizeAll(ctx, s, func(sm sample, _ int) (optimized, error) { return optimize(ctx, st, sm, "alone", 1) })
	if err != nil {
		return err
	}
	var g errgroup.Group
	for i := range s.bounds.calls {
		k := i % len(alone)
		sm := s.small()[k]
		g.Go(func() error {
			a, err := optimize(ctx, st, sm, fmt.Sprint("s", i), 1)
			if err != nil {
				return err
			}
			return same([]sample{sm}, alone[k:k+1], []optimized{a}, "the answer among many calls is another than alone")
		})
	}
	return g.Wait()
}

func (s *suite) compressAtOnce(ctx context.Context, st *plugins.Strategy) error {
	var g errgroup.Group
	for i := range s.bounds.calls {
		sm := s.small()[i%len(s.small())]
		g.Go(func() error {
			_, err := compress(ctx, st, sm, &services{})
			return err
		})
	}
	return g.Wait()
}

// oneHeld has one session wait for its model while another is served.
func (s *suite) oneHeld(ctx context.Context, st *plugins.Strategy) error {
	release, reached, held := make(chan struct{}), make(chan struct{}, 1), make(chan error, 1)
	go func() {
		_, err := compress(ctx, st, s.plain(), &services{hold: release, reached: reached})
		held <- err
	}()
	select {
	case <-reached:
	case err := <-held:
		return err
	}
	patience, cancel := context.WithTimeout(ctx, s.bounds.held)
	defer cancel()
	_, err := compress(patience, st, s.plain(), &services{})
	close(release)
	if waited := <-held; err == nil {
		err = waited
	}
	if patience.Err() != nil && ctx.Err() == nil {
		return fmt.Errorf("while one session waits for the model, another gets no answer for %v", s.bounds.held)
	}
	return err
}
