package engine

import (
	"context"
	"encoding/json"
	"time"

	"github.com/thresh-dev/thresh/host/internal/history"
	"github.com/thresh-dev/thresh/host/internal/prepare"
	"github.com/thresh-dev/thresh/host/internal/sessionlog"
	"github.com/thresh-dev/thresh/host/internal/store"
	"github.com/thresh-dev/thresh/host/internal/todos"
)

// Sessions in a store need not be in memory. The host keeps the most recently used ones, up to sessions.maxMemory bytes
// in all, and reads a session again when it is used.

// enter marks the session as in use until leave is called, and reads it again from the store if its memory was
// released. leave must be called even after an error. Sessions without a store are never released, so their uses are
// not counted.
func (s *Session) enter() (leave func(), err error) {
	if s.stored == nil {
		return func() {}, nil
	}
	// Before the flag is read: sleep reads the two in the other order, so one of them sees the other.
	s.using.Add(1)
	if s.released.Load() {
		defer func() {
			if p := recover(); p != nil { // leave is not deferred yet
				s.abandon()
				panic(p)
			}
		}()
		err = s.wake()
	}
	return s.leave, err
}

// leave ends a use. The last one counts the session's memory, and makes the host release any excess. It must be
// deferred directly to see a panic, which ends the session and continues.
func (s *Session) leave() {
	if p := recover(); p != nil {
		s.abandon()
		panic(p)
	}
	s.used.Store(time.Now().UnixNano())
	if s.using.Add(-1) == 0 && s.done.Err() == nil {
		s.host.memory.Add(s.resize(int64(s.history.Bytes())))
		s.host.release()
	}
}

func (s *Session) resize(bytes int64) int64 { return bytes - s.bytes.Swap(bytes) }

func (s *Session) wake() error {
	s.adding.Lock()
	defer s.adding.Unlock()
	if !s.released.Load() {
		return nil
	}
	if s.done.Err() != nil {
		return s.closedError("read")
	}
	ctx, cancel := store.Within(s.done)
	defer cancel()
	at := s.stored.at
	found, err := s.load(ctx)
	switch {
	case err != nil:
		s.empty() // of what was read before the error
		s.stored.at = at
		return err
	case !found:
		return s.deleted()
	}
	s.released.Store(false)
	return nil
}

// sleep releases the memory of an idle session, unless it is in use again or has nothing in the store.
func (s *Session) sleep() {
	s.adding.Lock()
	defer s.adding.Unlock()
	if !s.stored.exists || s.released.Swap(true) {
		return
	}
	// A use that begins now sees that it is released, and waits for the lock.
	if s.using.Load() > 0 || s.done.Err() != nil {
		s.released.Store(false)
		return
	}
	s.empty()
	s.host.memory.Add(s.resize(0))
	// The plugin's process and the host's side of it both hold entries of the session.
	s.host.plugins.EndSession(s.name())
}

func (s *Session) empty() {
	_ = s.history.Restore(history.State{}, nil) // nothing cannot be wrong
	s.tasks, s.additions = todos.Tracker{}, nil
	p := s.stored
	// at is for Position.
	*p = stored{store: p.store, key: p.key, exists: true, created: p.created, at: p.at, lost: p.lost,
		groups: sessionlog.Groups{}}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last, s.viewed, s.sent = history.View{}, false, 0
	s.overrides, s.system = map[string]json.RawMessage{}, nil
	s.pipeline.Restore(prepare.State{})
}

// release releases the least recently used sessions until the rest is within sessions.maxMemory.
func (h *Host) release() {
	limit := int64(h.Config().Settings().Sessions.MaxMemory)
	if limit == 0 || h.memory.Load() <= limit || !h.releasing.TryLock() {
		return
	}
	defer h.releasing.Unlock()
	// Down to nine tenths, so not every use of a session releases another.
	for h.memory.Load() > limit/10*9 {
		s := h.leastRecent()
		if s == nil {
			return
		}
		s.sleep()
	}
}

// leastRecent returns the idle session that was used least recently, or nil. It walks all sessions of the host, but
// only while they exceed the limit.
func (h *Host) leastRecent() (found *Session) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, s := range h.sessions {
		if s.using.Load() == 0 && s.bytes.Load() > 0 && (found == nil || s.used.Load() < found.used.Load()) {
			found = s
		}
	}
	return found
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
