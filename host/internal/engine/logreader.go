package engine

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/thresh-dev/thresh/host/internal/history"
	"github.com/thresh-dev/thresh/host/internal/sessionlog"
	"github.com/thresh-dev/thresh/host/internal/store"
	"github.com/thresh-dev/thresh/sdk/content"
)

// logReader reads the log of a session. It is for one goroutine and one reading. Errors are those of the store, or wrap
// [sessionlog.ErrDamaged] or [sessionlog.ErrNewer].
type logReader struct {
	in     store.Sessions
	key    store.Key
	reader sessionlog.Reader
}

// Recorded is a session as it was added, whatever strategies made of it.
type Recorded struct {
	Head   store.Head
	System []content.Block
	Added  []Added
}

// Added is an entry as it was added to a session, before any strategy saw it. Its content must not be changed.
type Added struct {
	ID      string
	Content content.Content
	Tokens  int
	// Revision is that of the log with the entry. Entries that were added together have the same.
	Revision uint64
}

// ReadRecorded reads a session from a store. It needs no host and no strategy. The error wraps [store.ErrNotFound] if
// there is none. Of a session that is damaged it returns, with the error, what was added before the damage.
func ReadRecorded(ctx context.Context, in store.Sessions, key store.Key) (all Recorded, err error) {
	if all.Head, err = in.Head(ctx, key); err != nil {
		return all, err
	}
	// Only these two kinds are asked for: a store reads nothing else from disk.
	r, groups := logReader{in: in, key: key}, sessionlog.Groups{}
	// Entries that a rewrite made are in records of another kind, and are left out.
	var damage error
	for step, err := range r.read(ctx, store.Choice{Kinds: []store.Kind{store.Added, store.State}}) {
		if damage = err; err != nil {
			break
		}
		groups.Take(step.groups)
		for _, e := range step.added.Entries {
			all.Added = append(all.Added, Added{e.ID, e.Content, e.Tokens, step.seq})
		}
	}
	state, err := groups.State()
	all.System = state.System
	return all, errors.Join(damage, err)
}

// CheckSessions reads all sessions of a store, every record with every content, and returns what is wrong with them: a
// line for each that is damaged. The error is that of a store that cannot be read.
func CheckSessions(ctx context.Context, in store.Sessions) (damaged []string, err error) {
	for head, err := range in.List(ctx, store.Filter{AllOwners: true}) {
		if err != nil {
			return damaged, err
		}
		r, entries := logReader{in: in, key: head.Key}, 0
		for step, err := range r.read(ctx, store.Choice{}) {
			switch {
			case err == nil:
				entries += len(step.added.Entries)
			case isDamage(err), errors.Is(err, sessionlog.ErrNewer):
				damaged = append(damaged, fmt.Sprintf("%v (%d of %d entries)", err, entries, head.Entries))
			case !errors.Is(err, store.ErrNotFound): // deleted meanwhile
				return damaged, err
			}
		}
	}
	return damaged, nil
}

// step is a record, decoded. Of added, rewritten and groups only that of the kind is set.
type step struct {
	seq  uint64
	kind store.Kind
	// The number by which a host knows a record of its own again; 0 for none. See [Session.catchUp].
	tag       uint64
	added     sessionlog.Added
	rewritten sessionlog.Rewritten
	groups    sessionlog.Groups
	// The views that the groups name hold in the end.
	sent, last bool
}

// entries returns the entries that stand in the record. The order is that of the record: snapshots name an entry by its
// position in it.
func (s step) entries() []*history.Entry {
	list := s.added.Entries
	// A piece without an entry is a range that was kept.
	for _, p := range s.rewritten.Pieces {
		if p.Entry != nil {
			list = append(list, p.Entry)
		}
	}
	return list
}

// decode decodes a record.
func (r *logReader) decode(rec store.Record) (s step, err error) {
	s = step{seq: rec.Seq, kind: rec.Kind, tag: sessionlog.Tag(rec.Data)}
	switch rec.Kind {
	case store.Added:
		s.added, err = r.reader.Added(rec.Seq, rec.Data)
	case store.Rewritten:
		s.rewritten, err = r.reader.Rewritten(rec.Seq, rec.Data)
	case store.State:
		s.groups, err = sessionlog.ReadState(rec.Data)
	case store.Snapshot: // what it says is known
		err = sessionlog.Verify(rec.Data)
	default:
		err = fmt.Errorf("a record of the session was %w", sessionlog.ErrNewer)
	}
	return s, err
}

// batch is how many records are decoded before the large contents in them are read, so that these are read in few calls
// and records of a long session are not all in memory in both forms.
const batch = 512

// read reads and decodes records. The first error ends it. Memory is bounded by a batch, whatever the length of the
// log.
func (r *logReader) read(ctx context.Context, choice store.Choice) iter.Seq2[step, error] {
	return func(yield func(step, error) bool) {
		var records []store.Record
		flush := func() bool {
			steps, err := r.decodeAll(ctx, records)
			if isDamage(err) {
				steps, err = r.decodeEach(ctx, records)
			}
			records = records[:0]
			for _, s := range steps {
				if !yield(s, nil) {
					return false
				}
			}
			if err != nil {
				yield(step{}, err)
			}
			return err == nil
		}
		for rec, err := range r.in.Records(ctx, r.key, choice) {
			if err != nil {
				if flush() { // what was read before
					yield(step{}, err)
				}
				return
			}
			// The slice is used again for the next batch: decoded steps hold copies of what they need.
			if records = append(records, rec); len(records) == batch && !flush() {
				return
			}
		}
		flush()
	}
}

// isDamage reports whether err is about what a store has kept.
func isDamage(err error) bool {
	return errors.Is(err, sessionlog.ErrDamaged) || store.IsCause(err, store.Corrupt)
}

// damageAt says where a session is damaged, and what is left of it.
func (r *logReader) damageAt(seq uint64, err error) error {
	return fmt.Errorf("session %q, record %d: %w: 'thresh sessions export' still prints what was added before it",
		r.key.ID, seq, err)
}

// decodeEach decodes records of which one is damaged, up to that one.
func (r *logReader) decodeEach(ctx context.Context, records []store.Record) (steps []step, err error) {
	for i, rec := range records {
		one, err := r.decodeAll(ctx, records[i:i+1])
		if isDamage(err) {
			err = r.damageAt(rec.Seq, err)
		}
		if err != nil {
			return steps, err
		}
		steps = append(steps, one...)
	}
	return steps, nil
}

// decodeAll decodes records, those with contents that are kept apart a second time when these were read.
func (r *logReader) decodeAll(ctx context.Context, records []store.Record) ([]step, error) {
	steps := make([]step, len(records))
	var again []int
	var hashes []store.Hash
	for i, rec := range records {
		var err error
		if steps[i], err = r.decode(rec); err != nil {
			return nil, err
		}
		// In the first pass a content that is kept apart is only named. All names of a batch are asked for together.
		if missing := r.reader.Missing(); len(missing) > 0 {
			again, hashes = append(again, i), append(hashes, missing...)
		}
	}
	if len(hashes) == 0 {
		return steps, nil
	}
	// Sorted and without repeats: many records refer to the same content.
	slices.SortFunc(hashes, func(a, b store.Hash) int { return slices.Compare(a[:], b[:]) })
	found, err := r.in.Contents(ctx, r.key.Owner, slices.Compact(hashes))
	if err != nil {
		return nil, err
	}
	r.reader.Contents = found
	defer func() { r.reader.Contents = nil }()
	for _, i := range again {
		if steps[i], err = r.decode(records[i]); err != nil {
			return nil, err
		}
	}
	// The store found each of them, and the second pass asked for others: the record contradicts itself.
	if missing := r.reader.Missing(); len(missing) > 0 {
		return nil, fmt.Errorf("%w: a large content is missing", sessionlog.ErrDamaged)
	}
	return steps, nil
}
