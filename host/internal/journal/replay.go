package journal

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/thresh-dev/thresh/host/internal/history"
	"github.com/thresh-dev/thresh/host/internal/journal/sessionlog"
	"github.com/thresh-dev/thresh/host/internal/store"
	"github.com/thresh-dev/thresh/host/internal/tokens"
)

// load reads the session from the store; found is false for a new one. It begins at the last snapshot, so its time
// depends on the present history and not on all that was ever written. It forgets what turns learned under settings
// that are no longer in force. Callers hold j.writing.
func (j *Journal) load(ctx context.Context) (found bool, err error) {
	p := &j.seen
	head, err := j.store.Head(ctx, j.key)
	if errors.Is(err, store.ErrNotFound) {
		return false, nil
	}
	if err != nil {
		return false, j.wrong(err)
	}
	if p.another(head) {
		return false, nil
	}
	p.found(head)
	r := replay{Journal: j, logReader: logReader{in: j.store, key: j.key}}
	if err := r.late(ctx, head.Snapshot); err != nil {
		return false, j.wrong(err)
	}
	p.at = store.Position{Revision: head.Snapshot, Fence: head.Fence}
	if head.Snapshot > 0 {
		if err := r.begin(ctx, head.Snapshot); err != nil {
			return false, j.wrong(err)
		}
	}
	if _, err := r.tail(ctx, 0); err != nil {
		return false, j.wrong(err)
	}
	return true, j.install(true)
}

// catchUp takes in what other hosts have written since this one last looked. A record with the tag is this host's own;
// 0 is none. A record moves seen.at only after it was taken in, so memory always matches it. The result decides
// what the caller must do again: a plan made from a history that another host has rewritten no longer fits. Callers
// hold j.writing.
func (j *Journal) catchUp(ctx context.Context, tag uint64) (observed, error) {
	p := &j.seen
	head, err := j.store.Head(ctx, j.key)
	switch {
	case errors.Is(err, store.ErrNotFound) && p.exists, err == nil && p.another(head):
		return observed{}, j.deleted()
	case errors.Is(err, store.ErrNotFound):
		p.unsure = false
		return observed{}, nil
	case err != nil:
		return observed{}, j.wrong(err)
	}
	p.found(head)
	// Nothing was written, not even by a write whose outcome was unknown.
	if head.Position() == p.at {
		p.unsure = false
		return observed{}, nil
	}
	// The fence is from before the records are read: if it moves meanwhile, the next write is refused.
	p.at.Fence = head.Fence
	r := replay{Journal: j, logReader: logReader{in: j.store, key: j.key}}
	n, err := r.tail(ctx, tag)
	if err != nil {
		return n, j.wrong(err)
	}
	p.unsure, n.moved = false, true
	// The host had not taken in the state of its own write either.
	if n.state || n.own {
		return n, j.install(false)
	}
	return n, nil
}

// replay takes records of the log into a session, through the code that made the history they describe: a second
// implementation would drift from the first. It is used for one reading; callers hold j.writing.
type replay struct {
	*Journal
	logReader
	// A view is made once no later record replaces it and while the history is still the one it was made of: before a
	// rewrite, and at the end.
	sent, last bool
}

// late writes to the transcript log what this host has added without knowing it, before the snapshot from which the
// session is read.
func (r *replay) late(ctx context.Context, snapshot uint64) error {
	p := &r.seen
	if len(p.lost) == 0 || p.at.Revision >= snapshot {
		return nil
	}
	choice := store.Choice{From: p.at.Revision + 1, To: snapshot, Kinds: []store.Kind{store.Added}}
	for step, err := range r.read(ctx, choice) {
		if err != nil {
			return err
		}
		if slices.Contains(p.lost, step.tag) {
			for _, e := range step.added.Entries {
				r.log.Add(e.ID, e.Content)
			}
		}
	}
	return nil
}

// begin takes in a snapshot with the entries it lists. The error wraps [sessionlog.ErrDamaged] if the snapshot names an
// entry that its record lacks.
func (r *replay) begin(ctx context.Context, seq uint64) error {
	var snapshot sessionlog.Snapshot
	damage := errNoSnapshot
	for rec, err := range r.store.Records(ctx, r.Journal.key, store.Choice{Seqs: []uint64{seq}}) {
		if err != nil {
			return err
		}
		if rec.Kind == store.Snapshot {
			snapshot, damage = sessionlog.ReadSnapshot(rec.Data)
		}
	}
	if damage != nil {
		return damageAt(seq, damage)
	}
	// Each record is read once, in order, however many of its entries are in use.
	var seqs []uint64
	for _, p := range snapshot.Places {
		seqs = append(seqs, p.Record)
	}
	slices.Sort(seqs)
	seqs = slices.Compact(seqs)
	made := make(map[uint64][]*history.Entry, len(seqs))
	if len(seqs) > 0 {
		for step, err := range r.read(ctx, store.Choice{Seqs: seqs}) {
			if err != nil {
				return err
			}
			made[step.seq] = step.entries()
		}
	}
	entries := make([]*history.Entry, len(snapshot.Places))
	for i, p := range snapshot.Places {
		of := made[p.Record]
		if p.Index < 0 || p.Index >= len(of) {
			return fmt.Errorf("%w: there is no entry %d in record %d", sessionlog.ErrDamaged, p.Index, p.Record)
		}
		entries[i] = of[p.Index]
	}
	// Before the history: the session's counter counts its views.
	if err := r.countIn(snapshot.Encoding); err != nil {
		return err
	}
	if err := r.history.Restore(snapshot.History, entries); err != nil {
		return err
	}
	// The tracker of tasks is not derived from entries: those that it read may have been pruned since.
	if err := json.Unmarshal(snapshot.Tasks, &r.tasks); err != nil {
		return err
	}
	r.additions = snapshot.Done
	r.seen.groups.Take(snapshot.Groups)
	// The tail may replace the views, so they are made after it.
	r.sent, r.last = snapshot.Groups.Views()
	return nil
}

// tail takes in the records after the session's position. It reads all of them first, so an error of the store changes
// nothing. The result says what they were, apart from this host's own.
func (r *replay) tail(ctx context.Context, tag uint64) (n observed, err error) {
	p := &r.seen
	var steps []step
	for step, err := range r.read(ctx, store.Choice{From: p.at.Revision + 1}) {
		if err != nil {
			return n, err
		}
		steps = append(steps, step)
	}
	r.skipViews(steps)
	for _, step := range steps {
		own := tag != 0 && step.tag == tag
		n.own = n.own || own
		if err := r.step(ctx, step, own || slices.Contains(p.lost, step.tag)); err != nil {
			return n, fmt.Errorf("record %d: %w", step.seq, err)
		}
		// After each record: an error in the next one leaves memory at what was taken in.
		p.at.Revision = step.seq
		p.since++
		switch step.kind {
		case store.Rewritten:
			n.rewritten = n.rewritten || !own
		case store.State:
			n.state = n.state || !own
		// A snapshot in the tail repeats what the log says.
		case store.Snapshot:
			p.since = 0
		}
	}
	return n, r.views(ctx)
}

// skipViews finds the records whose views hold at the end. Making the others would take longer than all else in a tail
// with many rewrites.
func (r *replay) skipViews(steps []step) {
	// The last state that names a view wins, so walk backwards.
	sentHolds, lastHolds := true, true // no later record replaces it
	for i := len(steps) - 1; i >= 0; i-- {
		if steps[i].kind != store.State {
			continue
		}
		sent, last := steps[i].groups.Views()
		steps[i].sent, steps[i].last = sent && sentHolds, last && lastHolds
		sentHolds, lastHolds = sentHolds && !sent, lastHolds && !last
	}
	r.sent, r.last = r.sent && sentHolds, r.last && lastHolds
}

// step takes in a record; mine: this host wrote it, and did not know.
func (r *replay) step(ctx context.Context, step step, mine bool) error {
	switch step.kind {
	case store.Added:
		// All entries of a session have the encoding of any of its records.
		if err := r.countIn(step.added.Encoding); err != nil {
			return err
		}
		r.take(step.added.Entries, step.added.Once, mine)
		// It may be read again, after a sleep.
		r.seen.lost = slices.DeleteFunc(r.seen.lost, func(lost uint64) bool { return lost == step.tag })
	// The views before the rewrite cannot be made after it. A strategy's entries name no tasks.
	case store.Rewritten:
		if err := r.views(ctx); err != nil {
			return err
		}
		return r.history.Replay(step.rewritten.Rewrite)
	case store.State:
		r.seen.groups.Take(step.groups)
		r.sent, r.last = r.sent || step.sent, r.last || step.last
	}
	return nil
}

// views makes the views that are due of the present history. They are not stored: a view is a part of the history, up
// to a point.
func (r *replay) views(ctx context.Context) error {
	if !r.sent && !r.last {
		return nil
	}
	state, err := r.seen.groups.State()
	if err != nil {
		return err
	}
	count := r.session.Counter().Entry
	// Each rewrite begins an epoch.
	now := r.history.Snapshot().Epoch
	view := func(p sessionlog.Place) (history.View, error) {
		// A view of another epoch means that two turns ended at the same time. Without it, the next turn takes nothing
		// for sent.
		if !p.Made || p.Epoch != now {
			return history.View{}, nil
		}
		marker, err := r.Marker(ctx, p.Marks)
		return r.history.MarkedAt(&p.Point, marker, count), err
	}
	if r.sent {
		if r.seen.sentView, err = view(state.Sent); err != nil {
			return err
		}
	}
	if r.last {
		if r.seen.lastView, err = view(state.Last); err != nil {
			return err
		}
	}
	r.sent, r.last = false, false
	return nil
}

// countIn makes the session count in the encoding of its entries, whatever the settings say now: counts of two
// encodings cannot be added up. Callers hold j.writing, so no entry is counted meanwhile.
func (r *replay) countIn(encoding string) error {
	if encoding == "" || encoding == r.session.Counter().Encoding() {
		return nil
	}
	counter, err := tokens.For("", encoding)
	if err != nil {
		return err
	}
	r.session.Count(counter)
	return nil
}
