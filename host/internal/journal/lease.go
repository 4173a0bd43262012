package journal

import (
	"context"
	"errors"
	"time"

	"github.com/thresh-dev/thresh/host/internal/store"
)

const (
	// leaseTime is how long a lease lasts unless it is extended, which happens at a third of it. If a host dies during
	// a Compress, others wait for that long at most. A host that is held up for longer, and not dead, may find that
	// another one compresses too: the first to finish writes, the other takes its work over.
	leaseTime = 3 * time.Second
	// leasePoll is how often to check another host's lease, which may be released early.
	leasePoll = 200 * time.Millisecond
	// releaseTimeout is how long a turn waits to give its lease back.
	releaseTimeout = time.Second
)

// Lease waits until no other host has the lease, and takes it. The error is ErrMoved if another host has changed the
// session since the turn began: its Compress may have made this one unnecessary. The lease saves work and protects
// nothing: an append is safe without it. Callers must not hold j.writing, because other calls would wait too.
func (j *Journal) Lease(ctx context.Context) (done func(), err error) {
	if j.store == nil {
		return func() {}, nil
	}
	holder := j.keeper.Name
	for {
		head, err := j.store.Lease(ctx, j.key, holder, j.keeper.LeaseTime)
		leased := (*store.LeasedError)(nil)
		switch {
		case err == nil:
			return j.leased(ctx, head)
		case errors.Is(err, store.ErrNotFound): // nothing was written yet, so that no other host knows the session
			return func() {}, nil
		case !errors.As(err, &leased):
			return nil, j.wrong(err)
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
func (j *Journal) leased(ctx context.Context, head store.Head) (done func(), _ error) {
	p, holder := &j.seen, j.keeper.Name
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		extend := time.NewTicker(j.keeper.LeaseTime / 3)
		defer extend.Stop()
		for {
			select {
			case <-extend.C:
				// If this fails, the lease ends, and the store refuses what is written under it.
				_, _ = j.store.Lease(ctx, j.key, holder, j.keeper.LeaseTime)
			case <-ctx.Done():
				return
			}
		}
	}()
	release := func() {
		// The goroutine must end first: an extension after the release would take the lease again.
		cancel()
		<-ended
		j.writing.Lock()
		p.holder = ""
		j.writing.Unlock()
		// Bounded, because the lease ends by itself: a turn that the store failed does not wait for it again.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), releaseTimeout)
		defer cancel()
		_ = j.store.Release(ctx, j.key, holder)
	}
	begun := false
	defer func() {
		if !begun {
			release()
		}
	}()
	n, err := j.hold(ctx, head)
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
// j.writing, so no append of this host comes between the check and the turn's work.
func (j *Journal) hold(ctx context.Context, head store.Head) (n observed, err error) {
	j.writing.Lock()
	defer j.writing.Unlock()
	j.seen.holder = j.keeper.Name
	if head.Position() != j.seen.at {
		n, err = j.catchUp(ctx, 0)
	}
	return n, err
}
