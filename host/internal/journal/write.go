package journal

import (
	"context"
	"errors"

	"github.com/thresh-dev/thresh/host/internal/history"
	"github.com/thresh-dev/thresh/host/internal/journal/sessionlog"
	"github.com/thresh-dev/thresh/host/internal/store"
	"github.com/thresh-dev/thresh/host/internal/tokens"
)

const (
	// MaxTries is how often an operation is repeated because another host has written in between.
	MaxTries = 20
	// snapshotEvery is after how many records a snapshot is written. For long histories it is a share of their length,
	// because snapshots must stay small next to what they save.
	snapshotEvery, snapshotShare = 100, 32
)

// observed is what was new in the log.
type observed struct {
	moved     bool // another host has written, or has taken the lease
	own       bool // the write that failed had taken place
	rewritten bool // another host has rewritten the history
	state     bool // another host has changed the state: settings, system prompt, what turns remember
}

// write appends a draft behind what this host has seen of the log. If another host has written more, nothing is
// written, and the session is brought up to date. If observed.moved is set without observed.own, the draft was not
// written: the caller looks at what is new and decides again. Callers hold j.writing.
func (j *Journal) write(ctx context.Context, d draft) (observed, error) {
	p := &j.seen
	// Not ended with its caller: it would not be known whether it took place.
	ctx, cancel := store.Within(context.WithoutCancel(ctx))
	defer cancel()
	// After a write of unknown outcome, an append could conflict with this host's own record.
	if p.unsure {
		if n, err := j.catchUp(ctx, 0); err != nil || n.moved {
			return n, err
		}
	}
	if !p.exists {
		head, err := j.store.Create(ctx, j.key, p.origin)
		switch {
		case errors.Is(err, store.ErrExists): // another host was faster
			n, err := j.catchUp(ctx, 0)
			n.moved = true
			return n, err
		case err != nil:
			return observed{}, j.wrong(err)
		}
		p.found(head)
		p.at = head.Position()
	}
	at := p.at
	at.Holder = d.holder
	head, err := j.store.Append(ctx, j.key, at, d.Change)
	if err == nil {
		p.wrote(d, head)
		return observed{}, nil
	}
	conflict, fault := (*store.ConflictError)(nil), (*store.Fault)(nil)
	switch {
	case errors.Is(err, store.ErrNotFound):
		return observed{}, j.deleted()
	case errors.As(err, &conflict):
		n, err := j.catchUp(ctx, d.tag)
		n.moved = true
		return n, err
	case errors.As(err, &fault) && !fault.Unknown:
		return observed{}, j.wrong(err)
	}
	// It is not known whether it was written. If that cannot be found out now, the next operation looks again. That
	// it is missing proves nothing: the database may still be working on it.
	p.unsure, p.lost = true, append(p.lost, d.tag)
	n, lookErr := j.catchUp(ctx, d.tag)
	if lookErr == nil && n.own {
		return n, nil
	}
	return n, &UnknownError{Repeatable: true, Err: j.wrong(err)}
}

// wrote notes that a draft is in the log.
func (p *seen) wrote(d draft, head store.Head) {
	p.at = head.Position()
	p.since += len(d.Records)
	for _, r := range d.Records {
		if r.Kind == store.Snapshot {
			p.since = 0
		}
	}
	if d.groups != nil {
		p.groups.Take(d.groups)
		p.sentView, p.lastView = d.memory.SentView, d.memory.LastView
	}
	p.lost = nil // those that had not taken place cannot any more
}

// found notes the session that the store has.
func (p *seen) found(h store.Head) { p.exists, p.created = true, h.Created }

// another reports whether that is a later session of the same name.
func (p *seen) another(h store.Head) bool { return p.exists && !h.Created.Equal(p.created) }

// deleted ends a session that another host or a command has deleted. The next open of its name makes a new session.
func (j *Journal) deleted() error {
	j.session.End()
	return j.wrong(ErrDeleted)
}

// writeAdded writes entries that are about to be added, and sets their place in the log. A refused write leaves a wrong
// place, which the next try sets again.
func (j *Journal) writeAdded(ctx context.Context, entries []*history.Entry, once *sessionlog.Once) (observed, error) {
	if j.store == nil {
		return observed{}, nil
	}
	d := j.draft()
	if len(j.seen.groups) == 0 { // what the session was opened with comes before its first entries
		if err := j.state(&d); err != nil {
			return observed{}, err
		}
	}
	seq := d.next(&j.seen)
	for i, e := range entries {
		e.Place = history.Place{Record: seq, Index: i}
		d.Summary.Tokens += e.Tokens
	}
	d.Summary.Entries += len(entries)
	added := sessionlog.Added{Tag: d.tag, Encoding: j.session.Counter().Encoding(), Entries: entries, Once: once}
	if j.store.Ephemeral() {
		d.Records = append(d.Records, added.Later())
	} else {
		w := sessionlog.Writer{}
		d.Records = append(d.Records, store.Record{Kind: store.Added, Data: w.Added(added)})
		d.Contents = w.Contents
	}
	return j.write(ctx, d)
}

// Rewrite carries out the plan of a step of a turn: it writes the rewrite, then changes the history. No entry is added
// in between. The error is [ErrMoved] if another host has changed the session: the turn has to run again.
func (j *Journal) Rewrite(plan *history.Plan, step, strategy string) error {
	if err := j.Flush(); err != nil { // a removed entry that is in no log would be lost
		return err
	}
	j.writing.Lock()
	defer j.writing.Unlock()
	for try := 0; j.store != nil; try++ {
		n, err := j.writeRewritten(plan, step, strategy)
		switch {
		case err != nil:
			return err
		// The replay of the record has changed the history already.
		case n.own:
			return nil
		case n.rewritten || n.state || n.moved && try == MaxTries:
			return ErrMoved // the turn has to be run again on what there is now
		}
		if !n.moved {
			break
		}
	}
	_, err := j.history.Apply(plan)
	return err
}

// writeRewritten writes a rewrite that is about to be applied, and what the turn has learned so far. Callers hold
// j.writing.
func (j *Journal) writeRewritten(plan *history.Plan, step, strategy string) (observed, error) {
	rewrite, err := j.history.Ready(plan)
	switch {
	case errors.Is(err, history.ErrStale): // an addition has taken in a rewrite of another host meanwhile
		return observed{}, ErrMoved
	case err != nil:
		return observed{}, err
	}
	d := j.draft()
	if err := j.state(&d); err != nil { // before the rewrite: its views are of the history as it was
		return observed{}, err
	}
	w := sessionlog.Writer{}
	data := w.Rewritten(d.next(&j.seen), sessionlog.Rewritten{
		Tag: d.tag, Encoding: j.session.Counter().Encoding(), Step: step, Strategy: strategy, Rewrite: rewrite,
	})
	d.Records, d.Contents = append(d.Records, store.Record{Kind: store.Rewritten, Data: data}), w.Contents
	entries, tokens := plan.Base()
	d.Summary.Entries += plan.Len() - entries
	d.Summary.Tokens += plan.After - tokens
	d.holder = j.seen.holder
	n, err := j.write(context.Background(), d)
	if n.moved {
		// The lease has ended or passed to another host. If that host has not rewritten the history, the revision alone
		// makes the next try safe.
		j.seen.holder = ""
	}
	return n, err
}

// writeState writes changes of the session's state, and a snapshot if one is due, in one append. Callers hold
// j.writing.
func (j *Journal) writeState(ctx context.Context) (observed, error) {
	if j.store == nil {
		return observed{}, nil
	}
	d := j.draft()
	if err := j.state(&d); err != nil {
		return observed{}, err
	}
	if j.seen.since >= max(j.keeper.SnapshotEvery, d.Summary.Entries/snapshotShare) {
		if err := j.snapshot(&d); err != nil {
			return observed{}, err
		}
	}
	if len(d.Records) == 0 {
		return observed{}, nil
	}
	return j.write(ctx, d)
}

// Change makes a change of what the session remembers and writes it. It makes it again if another host has changed the
// state meanwhile, and undoes it if it cannot be written. The error wraps [ErrBusy] if other hosts wrote each time.
func (j *Journal) Change(ctx context.Context, what string, change func() error) error {
	leave, err := j.Enter()
	defer leave()
	if err != nil {
		return err
	}
	j.writing.Lock()
	defer j.writing.Unlock()
	if j.done.Err() != nil {
		return j.failed(what, ErrClosed)
	}
	if j.store == nil {
		return change()
	}
	before, counter := j.remembers(), j.session.Counter()
	made := false
	for range MaxTries {
		if !made {
			if err := change(); err != nil {
				return err
			}
			made = true
		}
		n, err := j.writeState(ctx)
		if n.state { // what was read has overwritten the change
			made, before = false, j.remembers()
		}
		switch {
		case err != nil:
			return errors.Join(err, j.undo(before, counter))
		case n.own || !n.moved:
			return nil
		}
	}
	return errors.Join(j.busy(what), j.undo(before, counter))
}

// undo restores the session's state in memory: nothing of the change was written.
func (j *Journal) undo(before Memory, counter *tokens.Counter) error {
	if j.session.Counter() != counter {
		j.session.Count(counter)
	}
	return j.session.Adopt(before, false)
}

// Refresh takes in what other hosts have written, for a request made at the moment upTo; nil is now. Everything that
// changes a session does so by itself. It does nothing without a store or in a closed session.
//
// It returns the moment up to which the request may see the history. What other hosts added before the request is in
// the log but not yet in this host's memory, so by upTo alone it would count as added later.
func (j *Journal) Refresh(ctx context.Context, upTo *history.Point) (*history.Point, error) {
	if j.store == nil || j.done.Err() != nil {
		return upTo, nil
	}
	leave, err := j.Enter()
	defer leave()
	if err != nil {
		return upTo, err
	}
	j.writing.Lock()
	defer j.writing.Unlock()
	if _, err := j.catchUp(ctx, 0); err != nil || upTo == nil {
		return upTo, err
	}
	moment := j.own.upTo(*upTo, j.history.Point())
	return &moment, nil
}

// Settle writes what a turn has learned. The error is ErrMoved if another host has rewritten the history or run a turn:
// what this turn returns is then not what is sent. A turn overtaken only by entries writes again behind them.
func (j *Journal) Settle(ctx context.Context) error {
	j.writing.Lock()
	defer j.writing.Unlock()
	for range MaxTries {
		n, err := j.writeState(ctx)
		switch {
		case err != nil:
			return err
		case n.own || !n.moved:
			return nil
		case n.rewritten || n.state:
			return ErrMoved
		}
	}
	return j.busy("prepare")
}

// Restart forgets what an unsettled turn learned, by installing the log's state.
func (j *Journal) Restart() error {
	j.writing.Lock()
	defer j.writing.Unlock()
	return j.install(false)
}
