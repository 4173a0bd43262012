package engine

import (
	"context"
	"errors"
	"time"

	"github.com/thresh-dev/thresh/host/internal/store"
)

const (
	// leaseTime is how long a lease lasts unless it is extended, which happens at a third of it. If a host dies during
	// a Compress, others wait for that long at most.
	leaseTime = 30 * time.Second
	// leasePoll is how often to check another host's lease, which may be released early.
	leasePoll = 200 * time.Millisecond
	// releaseTimeout is how long a turn waits to give its lease back.
	releaseTimeout = time.Second
)

// compressing returns what a turn does before it asks for a Compress: it takes the session's lease, so no two hosts pay
// for the same Compress. It is nil without a store.
func (s *Session) compressing() func(context.Context) (func(), error) {
	if s.stored == nil {
		return nil
	}
	return s.lease
}

// lease waits until no other host has the lease, and takes it. The error is ErrMoved if another host has changed the
// session since the turn began: its Compress may have made this one unnecessary. The lease saves work and protects
// nothing: an append is safe without it. Callers must not hold s.adding, because other calls would wait too.
func (s *Session) lease(ctx context.Context) (done func(), err error) {
	p, holder := s.stored, s.host.name
	for {
		head, err := p.store.Lease(ctx, p.key, holder, s.host.leaseTime)
		leased := (*store.LeasedError)(nil)
		switch {
		case err == nil:
			return s.leased(ctx, head)
		case errors.Is(err, store.ErrNotFound): // nothing was written yet, so that no other host knows the session
			return func() {}, nil
		case !errors.As(err, &leased):
			return nil, s.storeError(err)
		}
		select {
		case <-time.After(min(leased.Left, leasePoll)):
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// leased keeps a taken lease until done is called. It outlives the turn's context, because the rewrite is written under
// it even if the caller has gone. Rewrites name the holder while p.holder is set.
func (s *Session) leased(ctx context.Context, head store.Head) (done func(), _ error) {
	p, holder := s.stored, s.host.name
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		extend := time.NewTicker(s.host.leaseTime / 3)
		defer extend.Stop()
		for {
			select {
			case <-extend.C:
				// If this fails, the lease ends, and the store refuses what is written under it.
				_, _ = p.store.Lease(ctx, p.key, holder, s.host.leaseTime)
			case <-ctx.Done():
				return
			}
		}
	}()
	release := func() {
		// The goroutine must end first: an extension after the release would take the lease again.
		cancel()
		<-ended
		s.adding.Lock()
		p.holder = ""
		s.adding.Unlock()
		// Bounded, because the lease ends by itself: a turn that the store failed does not wait for it again.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), releaseTimeout)
		defer cancel()
		_ = p.store.Release(ctx, p.key, holder)
	}
	begun := false
	defer func() {
		if !begun {
			release()
		}
	}()
	n, err := s.hold(ctx, head)
	// Entries that another host added do no harm: a Compress covers the history up to where it began.
	if err == nil && (n.rewritten || n.state) {
		err = ErrMoved
	}
	if err != nil {
		return nil, err
	}
	begun = true
	return release, nil
}

// hold makes rewrites name this host as the lease's holder, and takes in what others wrote before. It does so under
// s.adding, so no append of this host comes between the check and the turn's work.
func (s *Session) hold(ctx context.Context, head store.Head) (n news, err error) {
	s.adding.Lock()
	defer s.adding.Unlock()
	s.stored.holder = s.host.name
	if head.Position() != s.stored.at {
		n, err = s.catchUp(ctx, 0)
	}
	return n, err
}
