package network

import (
	"context"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"
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
	err   string // what it said
}

// problem says why no requests should be sent; "" if they should. As everyone may ask, it names no file and no address:
// the log does, once for each problem.
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
	if r.err != "" {
		return "the session store cannot be used: the log says why"
	}
	return ""
}

// look asks the host. Callers hold r.mu.
func (r *readiness) look() {
	ctx, cancel := context.WithTimeout(context.Background(), readyTimeout)
	defer cancel()
	before := r.err
	r.err = ""
	if err := r.ask(ctx); err != nil {
		r.err = err.Error()
	}
	r.asked = time.Now()
	switch {
	case r.err == before:
	case r.err == "":
		r.log.Info("ready again")
	default:
		r.log.Error("not ready: the session store cannot be used", "error", r.err)
	}
}
