package engine

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/thresh-dev/thresh/host/internal/history"
	"github.com/thresh-dev/thresh/host/internal/sessionlog"
	"github.com/thresh-dev/thresh/host/internal/store"
	"github.com/thresh-dev/thresh/host/internal/tokens"
)

const (
	// mostTries is how often an operation is repeated because another host has written in between.
	mostTries = 20
	// snapshotEvery is after how many records a snapshot is written. For long histories it is a share of their length,
	// because snapshots must stay small next to what they save.
	snapshotEvery, snapshotShare = 100, 32
)

// stored is a session's place in the store, nil without one. [Session.adding] guards it, except store and key, which do
// not change.
//
// Everything is written before it takes effect in memory, and an append takes place only if this host has seen the
// whole log. So memory is always what the log says up to at. Lock order: adding before [Session.mu].
type stored struct {
	store store.Store
	key   store.Key
	at    store.Position
	// exists is false until something is written: a session that is opened and never used leaves nothing behind. created
	// tells it from a later one of the same name.
	exists  bool
	created time.Time
	// origin is what a session that does not exist yet was forked from.
	origin store.Origin
	// unsure is set after an error: the write may have taken place. lost are the tags of such writes until the log says.
	// The transcript log lacks what they added.
	unsure             bool
	lost               []uint64
	groups             sessionlog.Groups // the session's state as the log has it
	sentView, lastView history.View
	since              int    // records since the last snapshot
	holder             string // while this host has the lease: rewrites must be written under it
}

// news is what was new in the log.
type news struct {
	moved     bool // another host has written, or has taken the lease
	own       bool // the write that failed had taken place
	rewritten bool // another host has rewritten the history
	state     bool // another host has changed the state: settings, system prompt, what turns remember
}

// busyError is for a session that other hosts keep writing to.
func (s *Session) busyError(what string) error {
	return fmt.Errorf("%s: session %q: %w", what, s.key.ID, ErrBusy)
}

func (s *Session) storeError(err error) error { return fmt.Errorf("session %q: %w", s.key.ID, err) }

// write appends a change behind what this host has seen of the log; u is the change's part in the session's state. If
// another host has written more, nothing is written, and the session is brought up to date. If news.moved is set
// without news.own, the change was not written: the caller looks at what is new and decides again. Callers hold
// s.adding.
func (s *Session) write(ctx context.Context, tag uint64, holder string, u update, c store.Change) (news, error) {
	p := s.stored
	// Not ended with its caller: it would not be known whether it took place.
	ctx, cancel := store.Within(context.WithoutCancel(ctx))
	defer cancel()
	// After a write of unknown outcome, an append could conflict with this host's own record.
	if p.unsure {
		if n, err := s.catchUp(ctx, 0); err != nil || n.moved {
			return n, err
		}
	}
	if !p.exists {
		head, err := p.store.Create(ctx, p.key, p.origin)
		switch {
		case errors.Is(err, store.ErrExists): // another host was faster
			n, err := s.catchUp(ctx, 0)
			n.moved = true
			return n, err
		case err != nil:
			return news{}, s.storeError(err)
		}
		p.found(head)
		p.at = head.Position()
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
		p.wrote(u)
		p.lost = nil // those that had not taken place cannot any more
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
	case errors.As(err, &fault) && !fault.Unknown:
		return news{}, s.storeError(err)
	}
	// It is not known whether it was written. If that cannot be found out now, the next operation looks again. Its
	// absence says little: the database may still be working on it.
	p.unsure, p.lost = true, append(p.lost, tag)
	if n, lookErr := s.catchUp(ctx, tag); lookErr == nil && n.own {
		return n, nil
	}
	return news{}, &UnknownError{Repeatable: true, Err: s.storeError(err)}
}

// found notes the session that the store has.
func (p *stored) found(h store.Head) { p.exists, p.created = true, h.Created }

// another reports whether that is a later session of the same name.
func (p *stored) another(h store.Head) bool { return p.exists && !h.Created.Equal(p.created) }

// deleted ends a session that another host or a command has deleted. The next open of its name makes a new session.
func (s *Session) deleted() error {
	s.end()
	s.host.forget(s)
	return fmt.Errorf("session %q: %w", s.key.ID, ErrDeleted)
}

// storeAdded writes entries that are about to be added, and sets their place in the log. A refused write leaves a wrong
// place, which the next try sets again.
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

// apply returns the function that carries out a plan of a turn, [prepare.Request.Apply]: it writes the rewrite, then
// changes the history. It holds s.adding throughout, because no entry may be added in between.
func (s *Session) apply(strategy string) func(*history.Plan, string) error {
	return func(plan *history.Plan, step string) error {
		s.adding.Lock()
		defer s.adding.Unlock()
		if err := s.flush(); err != nil { // a removed entry that is in no log would be lost
			return err
		}
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
// s.adding.
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
	// The state comes first: its views are of the history before the rewrite.
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
		// The lease has ended or passed to another host. If that host has not rewritten the history, the revision alone
		// makes the next try safe.
		p.holder = ""
	}
	return n, err
}

// storeState writes changes of the session's state, and a snapshot if one is due, in one append. Callers hold s.adding.
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

// change makes a change of the session's state and writes it. It makes it again if another host has changed the state
// meanwhile, and undoes it if it cannot be written. The error wraps [ErrBusy] if other hosts wrote each time.
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
		// The state that was read has overwritten the change.
		case n.state:
			made = false
			before = s.state()
		}
	}
	return errors.Join(s.busyError(what), s.undo(before, counter))
}

// undo restores the session's state in memory: nothing of the change was written.
func (s *Session) undo(before memory, counter *tokens.Counter) error {
	s.mu.Lock()
	if s.counter != counter {
		s.useCounter(counter)
	}
	s.mu.Unlock()
	before.Turns.Sent.View = before.sent
	return s.adopt(before.State, before.last)
}

// Refresh takes in what other hosts have written, for a request made at the moment upTo; nil is now. Everything that
// changes a session does so by itself. It does nothing without a store or in a closed session.
//
// It returns the moment up to which the request may see the history. What other hosts added before the request is in
// the log but not yet in this host's memory, so by upTo alone it would count as added later.
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

// settle writes what a turn has learned. The error is ErrMoved if another host has rewritten the history or run a turn:
// what this turn returns is then not what is sent. A turn overtaken only by entries writes again behind them.
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

// restart forgets what an unsettled turn learned, by installing the log's state.
func (s *Session) restart() error {
	s.adding.Lock()
	defer s.adding.Unlock()
	_, err := s.install()
	return err
}
