package verify

import (
	"context"
	"fmt"
	"sync"

	"github.com/thresh-dev/thresh/host/internal/plugins"
	"github.com/thresh-dev/thresh/internal/check"
	"github.com/thresh-dev/thresh/internal/conform"
	"github.com/thresh-dev/thresh/sdk"
)

// checkConcurrency demands that calls in parallel get the answers that they would get alone. A host serves all its
// sessions with one process of a plugin, so a strategy that keeps state in globals mixes up sessions. The last part
// demands that a session which waits for the model does not block others, as a global lock around Compress would.
func checkConcurrency(ctx context.Context, s *suite) (string, error) {
	st, err := s.strategy(ctx)
	if err != nil {
		return "", err
	}
	detail := ""
	if st.Info().Trigger.Mode == sdk.ModeContinuous {
		if err := s.optimizeAtOnce(ctx, st); err != nil {
			return "", err
		}
		detail = fmt.Sprintf("%d Optimize, ", s.bounds.calls)
	}
	if st, err = s.compressing(ctx); err != nil {
		return "", err
	}
	if err := s.compressAtOnce(ctx, st); err != nil {
		return "", err
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

// optimizeAtOnce compares the answers of parallel calls, each with a session id of its own, with answers given alone.
func (s *suite) optimizeAtOnce(ctx context.Context, st *plugins.Strategy) error {
	alone, err := optimizeAll(ctx, s, func(sm sample, _ int) (optimized, error) {
		return optimize(ctx, st, sm, "alone", 1)
	})
	if err != nil {
		return err
	}
	return s.atOnce(func(i int, sm sample) *check.Error {
		// Different session ids: a plugin may serialise the calls of one session, and the fault is between sessions.
		got, err := optimize(ctx, st, sm, fmt.Sprint("s", i), 1)
		if err != nil {
			got.bytes = "error: " + err.Error()
		}
		if want := alone[i%len(alone)]; got.bytes != want.bytes {
			return different(conform.ErrAtOnce, want, got, "Optimize alone, then among others")
		}
		return nil
	})
}

// compressAtOnce demands that parallel calls succeed where they did alone. Their answers are not compared: unlike an
// Optimize, a Compress need not be deterministic.
func (s *suite) compressAtOnce(ctx context.Context, st *plugins.Strategy) error {
	alone, err := s.compressed(ctx)
	if err != nil {
		return err
	}
	return s.atOnce(func(i int, sm sample) *check.Error {
		k := i % len(s.few)
		if k >= len(alone) || alone[k].err != nil {
			return nil // other checks complain
		}
		if _, err := compress(ctx, st, sm, &services{}); err != nil {
			return &check.Error{Index: -1, Err: conform.ErrAtOnce, Came: sentence(err), Detail: "Compress succeeds alone"}
		}
		return nil
	})
}

// atOnce makes calls in parallel. Neighbouring calls get different histories, so a mix-up changes an answer.
func (s *suite) atOnce(call func(i int, sm sample) *check.Error) error {
	wrong := make([]*check.Error, s.bounds.calls)
	var wg sync.WaitGroup
	for i := range wrong {
		wg.Go(func() { wrong[i] = call(i, s.few[i%len(s.few)]) })
	}
	wg.Wait()
	var found findings
	for i, e := range wrong {
		if e != nil {
			found.judged(s.few[i%len(s.few)].name, e)
		}
	}
	return found.err()
}

// oneHeld blocks the model call of one session and demands that another session is served meanwhile. The call that is
// held runs in a goroutine of its own, which ends before oneHeld returns: held has room for its result.
func (s *suite) oneHeld(ctx context.Context, st *plugins.Strategy) error {
	// Buffered: neither the service nor the goroutine may block when this function has stopped listening.
	release, reached, held := make(chan struct{}), make(chan struct{}, 1), make(chan error, 1)
	go func() {
		_, err := compress(ctx, st, s.plain(), &services{hold: release, reached: reached})
		held <- err
	}()
	select {
	case <-reached:
	// The call ended without a model call, which the first Compress made. That is allowed: strategies may decide by
	// content.
	case err := <-held:
		return err
	}
	// Not s.bounds.call: that bound is long, and would make this check the slowest of all for a plugin that fails it.
	bounded, cancel := context.WithTimeout(ctx, s.bounds.held)
	defer cancel()
	_, err := compress(bounded, st, s.plain(), &services{})
	// Before the result is judged, or the held call would never end.
	close(release)
	if waited := <-held; err == nil {
		err = waited
	}
	// The plugin was too slow, not the user impatient.
	if bounded.Err() != nil && ctx.Err() == nil {
		return fmt.Errorf("while one session waits for the model, another gets no answer for %v", s.bounds.held)
	}
	return err
}
