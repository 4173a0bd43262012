package service

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/thresh-dev/thresh/host"
	"github.com/thresh-dev/thresh/host/api"
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
	session atomic.Pointer[host.Session] // nil: it is not open; written with the lock, read without
	gone    bool                         // the place was given up: look for the key again
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
func (p *place) current(ctx context.Context) (*host.Session, error) {
	session := p.session.Load()
	if session == nil {
		return nil, nil
	}
	// What is in memory says nothing about a session that others delete.
	_, err := session.State(ctx)
	if session.Closed() {
		p.session.Store(nil)
		return nil, nil
	}
	return session, err
}

// session is one that its door closes in its place.
type session struct {
	*host.Session
	service *Service
	key     key
}

func (s *session) Close(ctx context.Context) error { return s.service.detach(ctx, s.key) }

func (s *Service) of(k key, opened *host.Session) api.Session { return &session{opened, s, k} }

// attach opens a session, or returns the open one: an agent that lost its connection continues with what it had.
// Settings and a system prompt in the request then apply to it. If a setting is refused, those before it in the order
// of their names are still applied.
func (s *Service) attach(ctx context.Context, r api.OpenRequest) (api.Session, error) {
	k := key{r.Owner, r.ID}
	if r.ID == "" { // a new one, with a random id
		opened, err := s.host.Open(ctx, r)
		if err != nil {
			return nil, err
		}
		k.id = opened.ID()
		p := s.attached.lock(k)
		p.session.Store(opened)
		s.attached.leave(k, p)
		return s.of(k, opened), nil
	}
	p := s.attached.lock(k)
	defer s.attached.leave(k, p)
	opened, err := p.current(ctx)
	if err != nil {
		return nil, err
	}
	if opened == nil {
		if opened, err = s.host.Open(ctx, r); err != nil {
			return nil, err
		}
		p.session.Store(opened)
		return s.of(k, opened), nil
	}
	// In a fixed order: a request that fails half-way leaves the same settings each time.
	for _, name := range slices.Sorted(maps.Keys(r.Settings)) {
		if err := opened.Set(ctx, api.SetRequest{Key: name, Value: r.Settings[name]}); err != nil {
			e := *host.ErrorOf(err)
			if e.Field != "" { // it is the setting that is refused
				e.Field = "settings." + name
			}
			return nil, &e
		}
	}
	if r.System != nil {
		if _, err := opened.SetSystem(ctx, api.SystemRequest{System: r.System}); err != nil {
			return nil, err
		}
	}
	return s.of(k, opened), nil
}

// Find returns an open session, or opens a kept one: after a restart, agents continue without noticing. One that another
// door has open is found to read. The error for another owner's session is the same as for a missing one.
func (s *Service) Find(ctx context.Context, owner, id string, read bool) (api.Session, error) {
	if id == "" {
		return nil, api.Refuse("session", `"session" is missing: it is what session.open returned`)
	}
	k := key{owner, id}
	if opened := s.attached.find(k); opened != nil {
		return s.of(k, opened), nil
	}
	found, err := s.attach(ctx, api.OpenRequest{Owner: owner, ID: id, Existing: true})
	if errors.Is(err, host.ErrNoSession) {
		return nil, NotOpen(id)
	}
	if read && errors.Is(err, host.ErrSessionExists) {
		if theirs := s.host.Opened(owner, id); theirs != nil {
			return theirs, nil
		}
	}
	return found, err
}

// find returns the session of a key; nil if it is not open, or has ended by itself. It does not wait for a session that
// is being opened.
func (a *attached) find(k key) *host.Session {
	a.mu.Lock()
	p := a.byKey[k]
	a.mu.Unlock()
	if p == nil {
		return nil
	}
	if session := p.session.Load(); session != nil && !session.Closed() {
		return session
	}
	return nil
}

// detach closes a session. After an error it is still open.
func (s *Service) detach(ctx context.Context, k key) error {
	p := s.attached.lock(k)
	defer s.attached.leave(k, p)
	session := p.session.Load()
	if session == nil {
		return NotOpen(k.id)
	}
	if err := session.Close(ctx); err != nil {
		return err
	}
	p.session.Store(nil)
	return nil
}

// delete closes a session and removes what was kept of it.
func (s *Service) delete(ctx context.Context, owner, id string) error {
	k := key{owner, id}
	p := s.attached.lock(k)
	defer s.attached.leave(k, p)
	err := s.host.Delete(ctx, api.Of{Owner: owner, Session: id})
	if errors.Is(err, host.ErrNoSession) {
		err = NotOpen(id)
	}
	if err == nil {
		p.session.Store(nil)
	}
	return err
}

// open is how many sessions an owner has open.
func (s *Service) open(owner string) (n int) {
	s.attached.mu.Lock()
	defer s.attached.mu.Unlock()
	for k, p := range s.attached.byKey {
		if k.owner == owner && p.session.Load() != nil {
			n++
		}
	}
	return n
}
