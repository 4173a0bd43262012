package journal

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/thresh-dev/thresh/host/internal/store"
)

// Fork says what a session was forked from, for doors that see a conversation as a tree. It has no effect without a
// store.
type Fork struct {
	// Parent is the id of another session of the same owner.
	Parent string
	// At is a revision of the parent's log, from [Journal.Position], and Entries how many entries the parent had been
	// given by then.
	At      uint64
	Entries int
	// Whole begins the session with the parent's history at that revision, and all that its turns had learned and sent.
	// Otherwise the session begins empty, as after a compaction by the client.
	Whole bool
}

// fork begins a session that is not in the store, and reports whether it has anything. Callers hold j.writing.
//
// The parent's records are copied, because the parent may be deleted, and readers of a session need not know of forks.
// Large contents, which are most of a long history, are shared. Records keep their numbers, because snapshots name
// records by them.
func (j *Journal) fork(ctx context.Context, f Fork) (begun bool, err error) {
	p := &j.seen
	parent := logReader{in: j.store, key: store.Key{Owner: j.key.Owner, ID: f.Parent}}
	p.origin = store.Origin{Parent: parent.key, ForkedAt: f.At, ForkedEntries: f.Entries}
	if !f.Whole {
		return false, nil
	}
	c := store.Change{Summary: store.Summary{Entries: f.Entries}}
	for record, err := range j.store.Records(ctx, parent.key, store.Choice{To: f.At}) {
		if err == nil {
			_, err = parent.decode(record) // for the contents that it refers to
		}
		if err != nil {
			return false, j.wrong(err)
		}
		c.Records = append(c.Records, record)
	}
	if uint64(len(c.Records)) != f.At {
		return false, j.wrong(fmt.Errorf("fork at revision %d of %q: %w", f.At, f.Parent, ErrNoSession))
	}
	contents, err := j.store.Contents(ctx, j.key.Owner, parent.reader.Missing())
	if err != nil {
		return false, j.wrong(err)
	}
	c.Contents = slices.Collect(maps.Values(contents))
	n, err := j.write(ctx, draft{Change: c})
	if err == nil && n.moved { // another host was faster
		err = j.wrong(ErrSessionExists)
	}
	if err != nil {
		return false, err
	}
	*p = seen{groups: p.groups} // what was written is read as if it had been there
	return j.load(ctx)
}
