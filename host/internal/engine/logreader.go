package engine

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strconv"

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
// there is none. Of a session that is damaged it returns, with the error, what was added before the damage: every record
// is looked at, as one byte makes a record of entries one of another kind.
func ReadRecorded(ctx context.Context, in store.Sessions, key store.Key) (all Recorded, err error) {
	if all.Head, err = in.Head(ctx, key); err != nil {
		return all, err
	}
	r, groups := logReader{in: in, key: key}, sessionlog.Groups{}
	var damage error
	for step, err := range r.read(ctx, store.Choice{}) {
		if err != nil {
			damage = fmt.Errorf("session %q: %w", key.ID, err)
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

// CheckSessions reads all sessions of a store, every record with every content. It returns how many are whole, and a
// line for each that is not. The error is that of a store that cannot be read.
func CheckSessions(ctx context.Context, in store.Sessions) (whole int, damaged []string, err error) {
	for head, err := range in.List(ctx, store.Filter{AllOwners: true}) {
		if err != nil {
			return whole, damaged, err
		}
		switch entries, err := checkSession(ctx, in, head); {
		case err == nil:
			whole++
		case isDamage(err), errors.Is(err, sessionlog.ErrNewer):
			name := strconv.Quote(head.ID)
			if head.Owner != "" {
				name += " of " + strconv.Quote(head.Owner)
			}
			damaged = append(damaged, fmt.Sprintf("session %s: %v (entries: %d)", name, err, entries))
		case !errors.Is(err, store.ErrNotFound): // deleted meanwhile
			return whole, damaged, err
		}
	}
	return whole, damaged, nil
}

// checkSession reads a session. It returns how many entries were added before the first damage.
func checkSession(ctx context.Context, in store.Sessions, head store.Head) (entries int, err error) {
	r := logReader{in: in, key: head.Key}
	for step, err := range r.read(ctx, store.Choice{To: head.Revision}) {
		if err != nil {
			return entries, err
		}
		entries += len(step.added.Entries)
		if step.seq == head.Snapshot && step.kind != store.Snapshot {
			return entries, damageAt(step.seq, errNoSnapshot)
		}
	}
	if head.Snapshot > head.Revision {
		return entries, damageAt(head.Snapshot, errNoSnapshot)
	}
	return entries, nil
}

// errNoSnapshot is about a session that is to be read from a snapshot that is none.
var errNoSnapshot = fmt.Errorf("%w: it is no snapshot", sessionlog.ErrDamaged)

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
	s = step{seq: rec.Seq, kind: rec.Kind}
	if s.tag, err = sessionlog.Tag(rec.Kind, rec.Data); err != nil {
		return s, err
	}
	switch rec.Kind {
	case store.Added:
		s.added, err = r.reader.Added(rec.Seq, rec.Data)
	case store.Rewritten:
		s.rewritten, err = r.reader.Rewritten(rec.Seq, rec.Data)
	case store.State:
		s.groups, err = sessionlog.ReadState(rec.Data)
	case store.Snapshot: // what it says is known
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
func damageAt(seq uint64, err error) error {
	return fmt.Errorf("record %d: %w: 'thresh sessions export' prints what was added before it", seq, err)
}

// decodeEach decodes records of which one is damaged, up to that one.
func (r *logReader) decodeEach(ctx context.Context, records []store.Record) (steps []step, err error) {
	for i, rec := range records {
		one, err := r.decodeAll(ctx, records[i:i+1])
		if isDamage(err) {
			err = damageAt(rec.Seq, err)
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
