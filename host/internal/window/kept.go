package window

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/thresh-dev/thresh/host/config"
	"github.com/thresh-dev/thresh/host/internal/journal"
	"github.com/thresh-dev/thresh/host/internal/store"
	"github.com/thresh-dev/thresh/host/internal/store/backends"
)

// openStore opens the store that the options ask for; nil for sessions of the lab, of which nothing is kept. One in
// memory ends with the host. closeStore leaves the options' own store open.
func openStore(o Options, set config.Settings) (kept store.Store, closeStore func() error, err error) {
	none := func() error { return nil }
	if o.Store != nil || !o.Keep {
		return o.Store, none, nil
	}
	kept, err = backends.Open(context.Background(), set.Sessions.Store)
	switch {
	case err != nil:
		return nil, none, err
	case kept == nil:
		kept = store.NewMemory()
	}
	return kept, kept.Close, nil
}

// Store returns where sessions are kept; nil only in the lab.
func (h *Host) Store() store.Store { return h.store }

// Delete deletes a session from the store with all its records. One that is open in this host is closed first; other
// hosts notice at their next access. The error wraps [journal.ErrNoSession] if the session is neither open nor in the
// store.
func (h *Host) Delete(ctx context.Context, owner, id string) error {
	key := store.Key{Owner: owner, ID: id}
	// Closed without h.mu, which Close takes.
	h.mu.Lock()
	s := h.sessions[key]
	h.mu.Unlock()
	if s != nil {
		if err := s.Close(); err != nil {
			return err
		}
	}
	if h.store != nil {
		switch err := h.store.Delete(ctx, key); {
		case err == nil:
			return nil
		case !errors.Is(err, store.ErrNotFound):
			return fmt.Errorf("delete session %q: %w", id, err)
		}
	}
	if s == nil {
		return fmt.Errorf("delete session %q: %w", id, journal.ErrNoSession)
	}
	return nil
}

// expireEvery is how often to look for expired sessions: keeping one an hour too long does no harm.
const expireEvery = time.Hour

// expire deletes sessions that were not used for sessions.keep, now and every expireEvery until ctx ends.
func (h *Host) expire(ctx context.Context, kept store.Store) {
	tick := time.NewTicker(expireEvery)
	defer tick.Stop()
	for {
		if keep := h.Config().Settings().Sessions.Keep; keep > 0 {
			n, err := kept.Expire(ctx, keep)
			switch {
			case ctx.Err() != nil:
				return
			case err != nil:
				h.log.Warn("old sessions could not be deleted", "error", err)
			case n > 0:
				h.log.Info("sessions were deleted that were not used for sessions.keep", "sessions", n, "keep", keep)
			}
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}
