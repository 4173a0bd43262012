package journal

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strconv"

	"github.com/thresh-dev/thresh/host/internal/history"
	"github.com/thresh-dev/thresh/host/internal/journal/sessionlog"
	"github.com/thresh-dev/thresh/host/internal/store"
	"github.com/thresh-dev/thresh/sdk/content"
)

// logReader reads a session's log, once, in one goroutine. Errors are the store's, or wrap [sessionlog.ErrDamaged] or
// [sessionlog.ErrNewer].
type logReader struct {
	in     store.Sessions
	key    store.Key
	reader sessionlog.Reader
}

// Recorded is a session as it was added, before strategies changed it.
type Recorded struct {
	Head   store.Head
	System []content.Block
	Added  []Added
}

// Added is an entry as it was added to a session. Its content must not be changed.
type Added struct {
	ID      string
	Content content.Content
	Tokens  int
	// Revision is the log's at the entry. Entries added together share it.
	Revision uint64
}

// Read reads a session from a store. It needs no host and no strategy. The error wraps [store.ErrNotFound] if
// there is none. Of a damaged session it returns, with the error, what was added before the damage. It reads every
// record, because one damaged byte can turn a record of entries into one of another kind.
func Read(ctx context.Context, in store.Sessions, key store.Key) (all Recorded, err error) {
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

// Check reads every record and content of all sessions of a store. It returns how many are whole, and a line
// for each that is not. The error means that the store cannot be read.
func Check(ctx context.Context, in store.Sessions) (whole int, damaged []string, err error) {
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

// checkSession reads a session, and returns how many entries were added before the first damage.
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

// errNoSnapshot means that a session's head names a snapshot that is none.
var errNoSnapshot = fmt.Errorf("%w: it is no snapshot", sessionlog.ErrDamaged)

// step is a decoded record. Of added, rewritten and groups only its kind's is set.
type step struct {
	seq  uint64
	kind store.Kind
	// tag is the number by which a host recognises its own record, 0 for none; see [replay.tail].
	tag       uint64
	added     sessionlog.Added
	rewritten sessionlog.Rewritten
	groups    sessionlog.Groups
	// sent and last mean that no later record replaces the views that the groups name.
	sent, last bool
}

// entries returns the record's own entries, in its order: snapshots name an entry by its position.
func (s step) entries() []*history.Entry {
	list := s.added.Entries
	// A piece without an entry is a kept range.
	for _, p := range s.rewritten.Pieces {
		if p.Entry != nil {
			list = append(list, p.Entry)
		}
	}
	return list
}

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

// batch is how many records are decoded before their large contents are read: few calls for contents, without holding
// all records of a long session in memory in both forms.
const batch = 512

// read reads and decodes records up to the first error. Memory is bounded by a batch, whatever the length of the log.
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
			// The slice is reused for the next batch: decoded steps hold copies of what they need.
			if records = append(records, rec); len(records) == batch && !flush() {
				return
			}
		}
		flush()
	}
}

// isDamage reports whether err is about damage in the store.
func isDamage(err error) bool {
	return errors.Is(err, sessionlog.ErrDamaged) || store.IsCause(err, store.Corrupt)
}

func damageAt(seq uint64, err error) error {
	return fmt.Errorf("record %d: %w: 'thresh sessions export' prints what was added before it", seq, err)
}

// decodeEach decodes records up to the damaged one.
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

// decodeAll decodes records, and those with large contents a second time once these were read.
func (r *logReader) decodeAll(ctx context.Context, records []store.Record) ([]step, error) {
	steps := make([]step, len(records))
	var again []int
	var hashes []store.Hash
	for i, rec := range records {
		var err error
		if steps[i], err = r.decode(rec); err != nil {
			return nil, err
		}
		// The first pass only names large contents, to ask for those of a batch together.
		if missing := r.reader.Missing(); len(missing) > 0 {
			again, hashes = append(again, i), append(hashes, missing...)
		}
	}
	if len(hashes) == 0 {
		return steps, nil
	}
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
	// The store found each of them, but the second pass asked for others: the record contradicts itself.
	if missing := r.reader.Missing(); len(missing) > 0 {
		return nil, fmt.Errorf("%w: a large content is missing", sessionlog.ErrDamaged)
	}
	return steps, nil
}
