package conform

import (
	"context"
	"fmt"
	"sync"

	"github.com/thresh-dev/thresh/internal/check"
	"github.com/thresh-dev/thresh/internal/conform/samples"
	"github.com/thresh-dev/thresh/sdk"
)

// checkAtOnce demands that calls in parallel get the answers that they would get alone. A host serves all its sessions
// with one process of a plugin, so a strategy that keeps state in globals mixes up sessions. The last part demands
// that a session which waits for the model does not block others, as a global lock around Compress would.
func checkAtOnce(ctx context.Context, r *Runner) (string, error) {
	s, err := r.shared(ctx)
	if err != nil {
		return "", err
	}
	detail := ""
	if o, err := r.optimizer(s); err == nil {
		if err := r.optimizeAtOnce(ctx, o); err != nil {
			return "", err
		}
		detail = fmt.Sprintf("%d Optimize, ", r.Limits.Calls)
	}
	if s, err = r.compressing(ctx); err != nil {
		return "", err
	}
	if err := r.compressAtOnce(ctx, s); err != nil {
		return "", err
	}
	detail += fmt.Sprintf("%d Compress", r.Limits.Calls)
	if r.asked.Generations.Load() == 0 {
		return detail, nil
	}
	if err := r.oneHeld(ctx, s); err != nil {
		return "", err
	}
	return detail + ", one while another waits for the model", nil
}

// optimizeAtOnce compares the answers of parallel calls, each with a session id of its own, with answers given alone.
func (r *Runner) optimizeAtOnce(ctx context.Context, o sdk.Optimizer) error {
	c := comparison{Runner: r}
	if err := c.round(ctx, o, "", func(int) string { return "alone" }); err != nil {
		return err
	}
	return r.atOnce(func(i, k int, sm samples.Sample) *check.Error {
		// Different session ids: a plugin may serialise the calls of one session, and the fault is between sessions.
		got, err := r.pruning(ctx, o, fmt.Sprint("s", i), sm)
		if err != nil {
			got = reply{key: err.Error(), said: err.Error(), failed: true}
		}
		return c.first[k].different(ErrAtOnce, got, "Optimize alone, then among others")
	})
}

// compressAtOnce demands that parallel calls succeed where they did alone. Their answers are not compared: unlike an
// Optimize, a Compress need not be deterministic.
func (r *Runner) compressAtOnce(ctx context.Context, s sdk.Strategy) error {
	alone, err := r.compressed(ctx)
	if err != nil {
		return err
	}
	return r.atOnce(func(_, k int, sm samples.Sample) *check.Error {
		if k >= len(alone) || alone[k].err != nil {
			return nil // other checks complain
		}
		if _, err := r.compress(ctx, s, sm, r.newHost()); err != nil {
			return &check.Error{Index: -1, Err: ErrAtOnce, Came: line(err), Detail: "Compress succeeds alone"}
		}
		return nil
	})
}

// atOnce makes calls in parallel. Neighbouring calls get different histories, so a mix-up changes an answer.
func (r *Runner) atOnce(call func(i, k int, sm samples.Sample) *check.Error) error {
	wrong := make([]*check.Error, r.Limits.Calls)
	var wg sync.WaitGroup
	for i := range wrong {
		k := i % len(r.few)
		wg.Go(func() { wrong[i] = call(i, k, r.few[k]) })
	}
	wg.Wait()
	var found Findings
	for i, e := range wrong {
		if e != nil {
			found.Judged(r.few[i%len(r.few)].Name, e)
		}
	}
	return found.Err()
}

// oneHeld blocks the model call of one session and demands that another session is served meanwhile. The call that is
// held runs in a goroutine of its own, which ends before oneHeld returns: held has room for its result.
func (r *Runner) oneHeld(ctx context.Context, s sdk.Strategy) error {
	// Buffered: neither the service nor the goroutine may block when this function has stopped listening.
	release, reached, held := make(chan struct{}), make(chan struct{}, 1), make(chan error, 1)
	go func() {
		host := r.newHost()
		host.Hold, host.Reached = release, reached
		_, err := r.compress(ctx, s, r.Plain(), host)
		held <- err
	}()
	select {
	case <-reached:
	// The call ended without a model call, which the first Compress made. That is allowed: strategies may decide by
	// content.
	case err := <-held:
		return err
	}
	// Not the limit of any call: that is long, and would make this check the slowest of all for a plugin that fails it.
	bounded, cancel := context.WithTimeout(ctx, r.Limits.Held)
	defer cancel()
	served := make(chan error, 1)
	go func() {
		_, err := r.compress(bounded, s, r.Plain(), r.newHost())
		served <- err
	}()
	var err error
	select {
	case err = <-served:
		served <- nil
	case <-bounded.Done(): // a strategy that waits for a lock does not hear of it
	}
	// Before the result is judged, or the held call would never end.
	close(release)
	if waited := <-held; err == nil {
		err = waited
	}
	<-served
	// The strategy was too slow, not the user impatient.
	if bounded.Err() != nil && ctx.Err() == nil {
		return fmt.Errorf("while one session waits for the model, another gets no answer for %v", r.Limits.Held)
	}
	return err
}
