package network

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/thresh-dev/thresh/host/internal/store"
)

const (
	// readyTimeout is how long the host may take to say whether requests would succeed: whoever asks has a limit of its
	// own.
	readyTimeout = 2 * time.Second
	// readyFor is how long an answer holds. Everyone may ask, as often as they like.
	readyFor = 500 * time.Millisecond
)

// readiness tells whether requests should be sent here.
type readiness struct {
	ending <-chan struct{}
	ask    func(context.Context) error // nil: always ready until the end
	log    hclog.Logger

	mu    sync.Mutex // held while the host is asked, so that it is asked once
	asked time.Time
	// answer is what a question waits for that took longer than readyTimeout: no other is asked meanwhile.
	answer chan error
	err    error // what it said
}

// problem says why no requests should be sent; "" if they should. As everyone may ask, it has a word for the cause, and
// names no file and no address: the log does, once for each problem.
func (r *readiness) problem() string {
	if ended(r.ending) {
		return "shutting down"
	}
	if r.ask == nil {
		return ""
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if time.Since(r.asked) > readyFor {
		r.look()
	}
	if r.err == nil {
		return ""
	}
	return sentence(r.err) + ": the log says more"
}

// sentence says without names what a problem is about: anything but a fault of the store is about the configuration.
func sentence(err error) string {
	if fault := (*store.Fault)(nil); errors.As(err, &fault) {
		return fmt.Sprintf("the session store cannot be used (%s)", fault.Cause)
	}
	return "the configuration cannot be used"
}

// look asks the host, and waits for the answer for readyTimeout. Callers hold r.mu.
func (r *readiness) look() {
	before := r.err
	r.err = r.wait()
	r.asked = time.Now()
	switch {
	case r.err == nil && before != nil:
		r.log.Info("ready again")
	case r.err != nil && before == nil:
		r.log.Error("not ready: "+sentence(r.err), "error", r.err)
	}
}

// wait returns what the host says. A disk may keep a question that no context ends.
func (r *readiness) wait() error {
	patience := time.Duration(0)
	if r.answer == nil {
		patience = readyTimeout
		answer := make(chan error, 1)
		r.answer = answer
		go func() {
			ctx, cancel := context.WithTimeoutCause(context.Background(), readyTimeout, store.ErrSlow)
			defer cancel()
			answer <- r.ask(ctx)
		}()
	}
	var err error
	select {
	case err = <-r.answer:
	case <-time.After(patience):
		if len(r.answer) == 0 {
			return &store.Fault{Cause: store.Slow, Store: "(asked whether it is ready)", Err: store.ErrSlow}
		}
		err = <-r.answer // both were there
	}
	r.answer = nil
	return err
}
