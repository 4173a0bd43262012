package postgres

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/thresh-dev/thresh/host/internal/store"
)

// Pauses between tries double, with a random part.
const (
	firstPause   = 10 * time.Millisecond
	longestPause = time.Second
)

// retry is try within [store.CallTimeout].
func (s *Store) retry(ctx context.Context, f func(ctx context.Context, maybe bool) error) error {
	ctx, cancel := store.Within(ctx)
	defer cancel()
	return s.try(ctx, f)
}

// try calls f until it gets an answer from the database; after [store.CallTimeout] it begins no other try. maybe says
// that an earlier try may have taken effect: f must then find out, so nothing is done twice. An error that leaves this
// open is a [store.Fault] with Unknown set.
func (s *Store) try(ctx context.Context, f func(ctx context.Context, maybe bool) error) error {
	if s.alive.Err() != nil {
		return store.ErrClosed
	}
	if ctx.Err() != nil {
		return s.fault(ctx, ctx.Err())
	}
	until := time.Now().Add(store.CallTimeout)
	var maybe bool
	for pause := firstPause; ; pause = min(2*pause, longestPause) {
		err := f(ctx, maybe)
		again, committed := broken(err)
		maybe = maybe || committed
		if !again || ctx.Err() != nil || s.alive.Err() != nil || time.Now().After(until) {
			err = s.final(ctx, err, maybe)
			s.doubt.Note(err)
			return err
		}
		// Random, so hosts that lost the database together do not come back together.
		select {
		case <-time.After(pause/2 + rand.N(pause)):
		case <-ctx.Done():
			return s.final(ctx, err, maybe)
		case <-s.alive.Done():
			return s.final(ctx, err, maybe)
		}
	}
}

// once calls f, which cannot find out whether it has taken effect, until something was sent to the database. After
// that, an error is a fault with Unknown set.
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

// final is the error of a call that is given up. That the database cannot be reached says more than that time ran out,
// except for a call that its caller ended and that has had no effect.
func (s *Store) final(ctx context.Context, err error, maybe bool) error {
	slow := ctx.Err() != nil && isTimeout(err)
	if slow {
		// Other connections may be as dead, such as after a switch to a standby: the next calls make new ones.
		s.pool.Reset()
	}
	ours := errors.Is(context.Cause(ctx), store.ErrSlow)
	switch again, _ := broken(err); {
	case !again, s.alive.Err() != nil, !maybe && errors.Is(ctx.Err(), context.Canceled), slow && !maybe && !ours:
		return s.fault(ctx, err)
	case slow && ours:
		return &store.Fault{Cause: store.Slow, Store: s.name, Unknown: maybe, Err: store.ErrSlow}
	}
	// Only connection errors are tried again, even those without a code that says so.
	cause := cause(err)
	if cause == store.Broken {
		cause = store.Gone
	}
	return &store.Fault{Cause: cause, Store: s.name, Unknown: maybe, Err: err}
}

func isTimeout(err error) bool {
	return errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) || pgconn.Timeout(err)
}
