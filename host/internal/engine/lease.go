package engine

import (
	"context"
	"errors"
	"time"

	"github.com/thresh-dev/thresh/host/internal/store"
)

const (
	// leaseTime is how long a lease lasts unless it is extended, which happens at a third of it. A host that dies in
	// the middle of a Compress keeps others from it for that long at most.
	leaseTime = 30 * time.Second
	// leasePoll is how often to look whether another host's lease has ended. The lease may be released early, so its
	// end is not simply waited for.
	leasePoll = 200 * time.Millisecond
	// releaseTimeout is how long a turn waits for its lease to be given back.
	releaseTimeout = time.Second
)

// compressing returns what a turn does before it asks for a Compress: it takes the session's lease, so that no two
// hosts pay for the same Compress. It is nil without a store: no other host has the session then.
func (s *Session) compressing() func(context.Context) (func(), error) {
	if s.stored == nil {
		return nil
	}
	return s.lease
}

// lease waits until no other host has the lease, and takes it. The error is ErrMoved if another host has changed the
// session since the turn began: its Compress may have made this one unnecessary. The lease is a saving and not a
// protection: an append is safe without it. Callers must not hold s.adding, as other calls would wait with them.
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

// leased keeps a lease that was taken until done is called. The lease outlives the context of the turn, because the
// rewrite is written under it even if the caller has gone. Rewrites name the holder as long as p.holder is set.
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
		// The goroutine has to end first: an extension after the release would take the lease again.
		cancel()
		<-ended
		s.adding.Lock()
		p.holder = ""
		s.adding.Unlock()
		// It ends by itself otherwise: a turn that failed for the store does not wait for it once more.
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

// hold makes rewrites name this host as the holder of the lease, and takes in what others wrote before it had that:
// under s.adding, so that no append of this host comes between the check and the turn's work.
func (s *Session) hold(ctx context.Context, head store.Head) (n news, err error) {
	s.adding.Lock()
	defer s.adding.Unlock()
	s.stored.holder = s.host.name
	if head.Position() != s.stored.at {
		n, err = s.catchUp(ctx, 0)
	}
	return n, err
}
