package engine

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"

	"github.com/thresh-dev/thresh/host/internal/history"
	"github.com/thresh-dev/thresh/host/internal/sessionlog"
	"github.com/thresh-dev/thresh/host/internal/store"
	"github.com/thresh-dev/thresh/host/internal/tokens"
)

const (
	// mostTries is how often an operation is tried again because another host has written in between.
	mostTries = 20
	// snapshotEvery is after how many records a snapshot is written. For long histories it is a part of their length,
	// so that snapshots stay small next to what they save.
	snapshotEvery, snapshotShare = 100, 32
)

// stored is a session's place in the store. It is guarded by [Session.adding], and nil in a host without a store.
//
// Everything is written before it takes effect in memory, and an append takes place only if this host has seen the
// whole log. So memory is what the log says up to at, always. Lock order: adding before [Session.mu]; never the other
// way round.
// store and key do not change; all else does.
type stored struct {
	store store.Store
	key   store.Key
	at    store.Position
	// exists is false until something is written: a session that is opened and never used leaves nothing behind.
	exists bool
	// origin is what a session was forked from that does not exist yet.
	origin store.Origin
	// unsure is set after an error: the write may have taken place.
	unsure bool
	groups sessionlog.Groups // the session's state as the log has it
	// The views that belong to groups.
	sentView, lastView history.View
	since              int    // records since the last snapshot
	holder             string // while this host has the lease: rewrites must be written under it
}

// news is what a look at the log brought, apart from what was known. The zero value says that nothing was new.
type news struct {
	moved     bool // another host has written, or has taken the lease
	own       bool // the write that failed had taken place
	rewritten bool // another host has rewritten the history
	state     bool // another host has changed the state: settings, system prompt, what turns remember
}

// busyError is for a session that other hosts write to all the time. The caller may try again.
func (s *Session) busyError(what string) error {
	return fmt.Errorf("%s: session %q: %w", what, s.key.ID, ErrBusy)
}

// storeError adds the session to an error of the store. The cause stays visible for errors.As.
func (s *Session) storeError(err error) error { return fmt.Errorf("session %q: %w", s.key.ID, err) }

// write appends a change behind what this host has seen of the log; u is what the change holds of the session's state.
// If another host has written more, nothing is written, and the session is brought up to date. Callers hold s.adding.
// It returns nil and the zero news if the change was written. If news.moved is set, it was not, unless news.own is set
// as well: the caller looks at what is new and decides again.
func (s *Session) write(ctx context.Context, tag uint64, holder string, u update, c store.Change) (news, error) {
	p := s.stored
	// Not with its caller: it would not be known whether it took place.
	ctx, cancel := store.Within(context.WithoutCancel(ctx))
	defer cancel()
	// After a write of unknown outcome the position is not known, and an append would conflict with this host's own
	// record.
	if p.unsure {
		if n, err := s.catchUp(ctx, 0); err != nil || n.moved {
			return n, err
		}
	}
	if !p.exists {
		// A session is created with its first write.
		head, err := p.store.Create(ctx, p.key, p.origin)
		switch {
		case errors.Is(err, store.ErrExists): // another host was faster
			p.exists = true
			n, err := s.catchUp(ctx, 0)
			n.moved = true
			return n, err
		case err != nil:
			return news{}, s.storeError(err)
		}
		p.exists, p.at = true, head.Position()
	}
	at := p.at
	at.Holder = holder
	head, err := p.store.Append(ctx, p.key, at, c)
	if err == nil {
		p.at = head.Position()
		p.since += len(c.Records)
		for _, r := range c.Records {
			if r.Kind == store.Snapshot {
				p.since = 0
			}
		}
		// A write that is found in the log later is taken in from there: see catchUp.
		p.wrote(u)
		return news{}, nil
	}
	conflict, fault := (*store.ConflictError)(nil), (*store.Fault)(nil)
	switch {
	case errors.Is(err, store.ErrNotFound):
		return news{}, s.deleted()
	case errors.As(err, &conflict):
		n, err := s.catchUp(ctx, tag)
		n.moved = true
		return n, err
	// The store is certain that nothing was written.
	case errors.As(err, &fault) && !fault.Unknown:
		return news{}, s.storeError(err)
	}
	// Nobody knows yet whether it was written. If that cannot be found out now, the next operation looks again. That it
	// is not there yet says little: the database may still be at work on it.
	p.unsure = true
	if n, lookErr := s.catchUp(ctx, tag); lookErr == nil && n.own {
		return n, nil
	}
	return news{}, &UnknownError{Repeatable: true, Err: s.storeError(err)}
}

// deleted ends a session that another host, or a command, has deleted. Its memory no longer belongs to anything: the
// next open of this name makes a new session.
func (s *Session) deleted() error {
	s.end()
	s.host.forget(s)
	return fmt.Errorf("session %q: %w", s.key.ID, ErrDeleted)
}

// storeAdded writes entries that are about to be added. Entries get their place in the log here, before they are in the
// history. A refused write leaves a place that is wrong, and the next try sets it again.
func (s *Session) storeAdded(ctx context.Context, entries []*history.Entry, once *sessionlog.Once) (news, error) {
	p := s.stored
	if p == nil {
		return news{}, nil
	}
	state, err := s.changed()
	if err != nil {
		return news{}, err
	}
	w, tag := sessionlog.Writer{}, rand.Uint64()
	now := s.history.Snapshot()
	sum := store.Summary{Entries: len(now.Entries) + len(entries), Tokens: now.Tokens}
	// What the session was opened with comes before its first entries.
	records := state.records(tag)
	seq := p.at.Revision + uint64(len(records)) + 1
	for i, e := range entries {
		e.Place = history.Place{Record: seq, Index: i}
		sum.Tokens += e.Tokens
	}
	added := sessionlog.Added{Tag: tag, Encoding: s.currentCounter().Encoding(), Entries: entries, Once: once}
	if _, memory := p.store.(*store.Memory); memory {
		records = append(records, added.Later())
	} else {
		records = append(records, store.Record{Kind: store.Added, Data: w.Added(added)})
	}
	return s.write(ctx, tag, "", state, store.Change{Records: records, Contents: w.Contents, Summary: sum})
}

// apply returns the function that carries out a plan of a turn: it writes the rewrite, then changes the history. It is
// the [prepare.Request.Apply] of a turn with a strategy. Between the look at the history and its change no entry may be
// added, so it holds s.adding throughout.
func (s *Session) apply(strategy string) func(*history.Plan, string) error {
	return func(plan *history.Plan, step string) error {
		s.adding.Lock()
		defer s.adding.Unlock()
		if err := s.flush(); err != nil { // a removed entry that is in no log would be lost
			return err
		}
		// Without a store there is nothing to write, and the loop is not entered.
		for try := 0; s.stored != nil; try++ {
			n, err := s.storeRewritten(plan, step, strategy)
			switch {
			case err != nil:
				return err
			// The replay of the record has changed the history already.
			case n.own:
				return nil
			case n.rewritten || n.state || n.moved && try == mostTries:
				return ErrMoved // the turn has to be run again on what there is now
			}
			if !n.moved {
				break
			}
		}
		_, err := s.history.Apply(plan)
		return err
	}
}

// storeRewritten writes a rewrite that is about to be applied, and what the turn has learned so far. Callers hold
// s.adding. The summary is that of the history after it.
func (s *Session) storeRewritten(plan *history.Plan, step, strategy string) (news, error) {
	p := s.stored
	rewrite, err := s.history.Ready(plan)
	switch {
	case errors.Is(err, history.ErrStale): // an addition has taken in a rewrite of another host meanwhile
		return news{}, ErrMoved
	case err != nil:
		return news{}, err
	}
	state, err := s.changed()
	if err != nil {
		return news{}, err
	}
	w, tag := sessionlog.Writer{}, rand.Uint64()
	// The state comes first: the views in it are of the history before the rewrite.
	records := state.records(tag)
	now := s.history.Snapshot()
	data := w.Rewritten(p.at.Revision+uint64(len(records))+1, sessionlog.Rewritten{
		Tag: tag, Encoding: s.currentCounter().Encoding(), Step: step, Strategy: strategy, Rewrite: rewrite,
	})
	records = append(records, store.Record{Kind: store.Rewritten, Data: data})
	entries, tokens := plan.Base()
	sum := store.Summary{
		Entries: len(now.Entries) - entries + plan.Len(), Tokens: now.Tokens - tokens + plan.After,
	}
	n, err := s.write(context.Background(), tag, p.holder, state, store.Change{
		Records: records, Contents: w.Contents, Summary: sum,
	})
	if n.moved {
		// The lease has ended, or has gone to another host. If that has not rewritten the history, the revision alone
		// makes the next try safe.
		p.holder = ""
	}
	return n, err
}

// storeState writes what changed in the session's state, and a snapshot if one is due. Callers hold s.adding. A
// snapshot and the state that it contains are one append.
func (s *Session) storeState(ctx context.Context) (news, error) {
	p := s.stored
	if p == nil {
		return news{}, nil
	}
	state, err := s.changed()
	if err != nil {
		return news{}, err
	}
	tag := rand.Uint64()
	c := store.Change{Records: state.records(tag)}
	now := s.history.Snapshot()
	// A snapshot of a long history names many entries, so it is due after more records.
	if every := max(s.host.snapshotEvery, len(now.Entries)/snapshotShare); p.since >= every {
		snapshot, err := s.snapshot(tag, state)
		if err != nil {
			return news{}, err
		}
		c.Records = append(c.Records, snapshot...)
	}
	if len(c.Records) == 0 {
		return news{}, nil
	}
	c.Summary = store.Summary{Entries: len(now.Entries), Tokens: now.Tokens}
	return s.write(ctx, tag, "", state, c)
}

// change makes a change of the session's state, and writes it. It is made again if another host has changed the state
// meanwhile, and undone if it cannot be written. The error wraps [ErrBusy] if other hosts wrote each time. what names
// the operation in errors.
func (s *Session) change(ctx context.Context, what string, change func() error) error {
	leave, err := s.enter()
	defer leave()
	if err != nil {
		return err
	}
	s.adding.Lock()
	defer s.adding.Unlock()
	if s.done.Err() != nil {
		return s.closedError(what)
	}
	if s.stored == nil {
		return change()
	}
	before, counter := s.state(), s.currentCounter()
	made := false
	for range mostTries {
		if !made {
			if err := change(); err != nil {
				return err
			}
			made = true
		}
		n, err := s.storeState(ctx)
		switch {
		case err != nil:
			return errors.Join(err, s.undo(before, counter))
		case n.own || !n.moved:
			return nil
		// What was changed is overwritten by the state that was read.
		case n.state:
			made = false
			before = s.state()
		}
	}
	return errors.Join(s.busyError(what), s.undo(before, counter))
}

// undo makes the session's state what it was. It works on memory alone: nothing of the change was written.
func (s *Session) undo(before memory, counter *tokens.Counter) error {
	s.mu.Lock()
	if s.counter != counter {
		s.useCounter(counter)
	}
	s.mu.Unlock()
	before.Turns.Sent.View = before.sent
	return s.adopt(before.State, before.last)
}

// Refresh takes in what other hosts have written, for a request that was made at the moment upTo; nil is now.
// Everything that changes a session does so by itself. It does nothing without a store, or in a session that is closed.
//
// It returns the moment up to which the request may see the history. What other hosts added before the request was made
// is in the log, but not in this host's memory yet, so that by upTo alone it would count as added later.
func (s *Session) Refresh(ctx context.Context, upTo *history.Mark) (*history.Mark, error) {
	if s.stored == nil || s.done.Err() != nil {
		return upTo, nil
	}
	leave, err := s.enter()
	defer leave()
	if err != nil {
		return upTo, err
	}
	s.adding.Lock()
	defer s.adding.Unlock()
	if _, err := s.catchUp(ctx, 0); err != nil || upTo == nil {
		return upTo, err
	}
	moment := s.own.upTo(*upTo, s.history.Mark())
	return &moment, nil
}

// settle writes what a turn has learned. The error is ErrMoved if another host has rewritten the history, or has run a
// turn: what this one returns is then not what is sent. A turn that was overtaken by entries alone writes again behind
// them.
func (s *Session) settle(ctx context.Context) error {
	s.adding.Lock()
	defer s.adding.Unlock()
	for range mostTries {
		n, err := s.storeState(ctx)
		switch {
		case err != nil:
			return err
		case n.own || !n.moved:
			return nil
		case n.rewritten || n.state:
			return ErrMoved
		}
	}
	return s.busyError("prepare")
}

// restart forgets what a turn learned that has to be run again, and what it returned to no one. The state in the log is
// the one before the turn, as it had not settled.
func (s *Session) restart() error {
	s.adding.Lock()
	defer s.adding.Unlock()
	_, err := s.install()
	return err
}
