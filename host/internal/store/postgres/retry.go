package postgres

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/thresh-dev/thresh/host/internal/store"
)

// Pauses between the tries. They double, with a random part.
const (
	firstPause   = 10 * time.Millisecond
	longestPause = time.Second
)

// retry is try with an end: see [store.CallTimeout].
func (s *Store) retry(ctx context.Context, f func(ctx context.Context, maybe bool) error) error {
	ctx, cancel := store.Within(ctx)
	defer cancel()
	return s.try(ctx, f)
}

// try calls f until it gets an answer from the database; after [store.CallTimeout] no other try begins. maybe says that an earlier try may have taken effect: f then
// must find out, so that nothing is done twice. An error that leaves this open is a [store.Fault] with Unknown set.
// A store that was closed makes no try at all: the pool would report its own error.
func (s *Store) try(ctx context.Context, f func(ctx context.Context, maybe bool) error) error {
	if s.alive.Err() != nil {
		return store.ErrClosed
	}
	if ctx.Err() != nil {
		return s.fault(ctx, ctx.Err())
	}
	// By this host's clock, which may be wrong but goes on: time.Now has a monotonic reading.
	until := time.Now().Add(store.CallTimeout)
	var maybe bool
	for pause := firstPause; ; pause = min(2*pause, longestPause) {
		err := f(ctx, maybe)
		// Once a try may have taken effect, this holds for all that follow.
		again, committed := broken(err)
		maybe = maybe || committed
		if !again || ctx.Err() != nil || s.alive.Err() != nil || time.Now().After(until) {
			err = s.final(ctx, err, maybe)
			s.doubt.Note(err)
			return err
		}
		// Hosts that lost the database together should not come back together.
		select {
		case <-time.After(pause/2 + rand.N(pause)):
		case <-ctx.Done():
			return s.final(ctx, err, maybe)
		case <-s.alive.Done():
			return s.final(ctx, err, maybe)
		}
	}
}

// once calls f, which cannot find out whether it has taken effect, until it was sent to the database. A connection that
// could not be made is tried again; after anything was sent, the error is a fault with Unknown set.
func (s *Store) once(ctx context.Context, f func(ctx context.Context) error) error {
	var last error
	err := s.retry(ctx, func(ctx context.Context, maybe bool) error {
		if maybe {
			return &store.Fault{Cause: store.Gone, Store: s.name, Unknown: true, Err: last}
		}
		last = f(ctx)
		return last
	})
	return err
}

// final is the error of a call that is given up. That the database could not be reached says more than that the time
// was over; but a call that its caller has ended, and that has had no effect, is that.
func (s *Store) final(ctx context.Context, err error, maybe bool) error {
	slow := ctx.Err() != nil && isTimeout(err)
	if slow {
		// Other connections may be as dead, as after a switch to a standby: the next calls make new ones.
		s.pool.Reset()
	}
	ours := errors.Is(context.Cause(ctx), store.ErrSlow)
	switch again, _ := broken(err); {
	case !again, s.alive.Err() != nil, !maybe && errors.Is(ctx.Err(), context.Canceled), slow && !maybe && !ours:
		return s.fault(ctx, err)
	case slow && ours:
		return &store.Fault{Cause: store.Slow, Store: s.name, Unknown: maybe, Err: store.ErrSlow}
	}
	// What is tried again is a connection, even if its error has no code that says so.
	cause := cause(err)
	if cause == store.Broken {
		cause = store.Gone
	}
	return &store.Fault{Cause: cause, Store: s.name, Unknown: maybe, Err: err}
}

// isTimeout says whether err is of a context that has ended.
func isTimeout(err error) bool {
	return errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) || pgconn.Timeout(err)
}
