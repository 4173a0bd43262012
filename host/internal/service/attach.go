package service

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/thresh-dev/thresh/host"
)

// key names a session. The owner is the name of an access token, "" for the local user.
type key struct{ owner, id string }

// attached are the sessions that doors without connections of their own find by name. Lock order: a place's, then mu.
// mu is held for moments only.
type attached struct {
	mu    sync.Mutex
	byKey map[key]*place
}

// place is where the session of a key is while it is open. Its lock is held while the session is opened or closed: two
// requests cannot open it twice, and others do not wait for a session that takes long to load.
type place struct {
	mu      sync.Mutex
	session atomic.Pointer[Session] // nil: it is not open; written with the lock, read without
	gone    bool                    // the place was given up: look for the key again
}

// lock returns the place of a key, locked. Call leave when done. It waits while another request opens or closes the
// session.
func (a *attached) lock(k key) *place {
	for {
		// The loop ends: a place that was given up is no longer in the map.
		a.mu.Lock()
		p := a.byKey[k]
		if p == nil {
			p = &place{}
			a.byKey[k] = p
		}
		a.mu.Unlock()
		// Without a.mu: another request may hold the place as long as it takes to read a session.
		p.mu.Lock()
		if !p.gone {
			return p
		}
		p.mu.Unlock()
	}
}

// leave unlocks a place, and gives it up if it has no session: otherwise requested ids would accumulate. gone tells
// those that already wait for the place to look for the key again.
func (a *attached) leave(k key, p *place) {
	if p.session.Load() == nil {
		p.gone = true
		a.mu.Lock()
		delete(a.byKey, k)
		a.mu.Unlock()
	}
	p.mu.Unlock()
}

// current returns the session of a place as the store has it; nil if it is not open, or was deleted by another host.
// Callers hold the place.
func (p *place) current(ctx context.Context) (*Session, error) {
	session := p.session.Load()
	if session == nil {
		return nil, nil
	}
	// What is in memory says nothing about a session that others delete.
	_, err := session.host.Refresh(ctx, nil)
	if session.host.Closed() {
		p.session.Store(nil)
		return nil, nil
	}
	return session, err
}

// Attach opens a session, or returns the open one: an agent that lost its connection continues with what it had.
// Settings and a system prompt in the request then apply to it. If a setting is refused, those before it in the order
// of their names are still applied.
func (s *Service) Attach(ctx context.Context, r OpenRequest) (*Session, error) {
	k := key{r.Owner, r.ID}
	if r.ID == "" { // a new one, with a random id
		opened, err := s.Open(ctx, r)
		if err != nil {
			return nil, err
		}
		p := s.attached.lock(opened.key)
		p.session.Store(opened)
		s.attached.leave(opened.key, p)
		return opened, nil
	}
	p := s.attached.lock(k)
	defer s.attached.leave(k, p)
	session, err := p.current(ctx)
	if err != nil {
		return nil, err
	}
	if session == nil {
		opened, err := s.Open(ctx, r)
		if err != nil {
			return nil, err
		}
		p.session.Store(opened)
		return opened, nil
	}
	// In a fixed order: a request that fails half-way leaves the same settings each time.
	for _, name := range slices.Sorted(maps.Keys(r.Settings)) {
		if _, err := session.Set(ctx, SetRequest{Key: name, Value: r.Settings[name]}); err != nil {
			return nil, inSettings(r.Settings, err)
		}
	}
	if r.System != nil {
		if err := session.setSystem(ctx, r.System); err != nil {
			return nil, err
		}
	}
	return session, nil
}

// Find returns an open session, or opens a kept one: after a restart, agents continue without noticing. The error for
// another owner's session is the same as for a missing one.
func (s *Service) Find(ctx context.Context, owner, id string) (*Session, error) {
	if id == "" {
		return nil, wrongRequest("session", `"session" is missing: it is what Open returned`)
	}
	if session := s.attached.find(key{owner, id}); session != nil {
		return session, nil
	}
	session, err := s.Attach(ctx, OpenRequest{Owner: owner, ID: id, Existing: true})
	if errors.Is(err, host.ErrNoSession) {
		return nil, NotOpen(id)
	}
	return session, err
}

// find returns the session of a key; nil if it is not open, or has ended by itself. It does not wait for a session that
// is being opened.
func (a *attached) find(k key) *Session {
	a.mu.Lock()
	p := a.byKey[k]
	a.mu.Unlock()
	if p == nil {
		return nil
	}
	if session := p.session.Load(); session != nil && !session.host.Closed() {
		return session
	}
	return nil
}

// NotOpen is the error for a session that was never opened or is closed again. It clips the id, as that may be any text.
func NotOpen(id string) error {
	return &host.Error{Kind: host.KindSession, Err: fmt.Errorf("session %.100q is not open", id)}
}

// Detach closes a session. After an error it is still open.
func (s *Service) Detach(owner, id string) error {
	k := key{owner, id}
	p := s.attached.lock(k)
	defer s.attached.leave(k, p)
	session := p.session.Load()
	if session == nil {
		return NotOpen(id)
	}
	if err := session.Close(); err != nil {
		return err
	}
	p.session.Store(nil)
	return nil
}

// Delete closes a session and removes what was kept of it.
func (s *Service) Delete(ctx context.Context, owner, id string) error {
	k := key{owner, id}
	p := s.attached.lock(k)
	defer s.attached.leave(k, p)
	err := s.host.Delete(ctx, owner, id)
	if errors.Is(err, host.ErrNoSession) {
		err = NotOpen(id)
	}
	if err == nil {
		p.session.Store(nil)
	}
	return err
}

// Attached returns an owner's open sessions, ordered by id.
func (s *Service) Attached(owner string) []*Session {
	s.attached.mu.Lock()
	var open []*Session
	for k, p := range s.attached.byKey {
		if session := p.session.Load(); k.owner == owner && session != nil {
			open = append(open, session)
		}
	}
	s.attached.mu.Unlock()
	slices.SortFunc(open, func(a, b *Session) int { return strings.Compare(a.key.id, b.key.id) })
	return open
}
