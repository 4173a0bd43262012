package engine

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
	// At is a revision of the parent's log, from [Session.Position], and Entries how many entries the parent had been
	// given by then.
	At      uint64
	Entries int
	// Whole begins the session with the parent's history at that revision, and all that its turns had learned and sent.
	// Otherwise the session begins empty, as after a compaction by the client.
	Whole bool
}

// Position returns the revision of the session's log as this host knows it; 0 without a store.
func (s *Session) Position() uint64 {
	s.adding.Lock()
	defer s.adding.Unlock()
	if s.stored == nil {
		return 0
	}
	return s.stored.at.Revision
}

// fork begins a session that is not in the store, and reports whether it has anything. Callers hold s.adding.
//
// The parent's records are copied, because the parent may be deleted, and readers of a session need not know of forks.
// Large contents, which are most of a long history, are shared. Records keep their numbers, because snapshots name
// records by them.
func (s *Session) fork(ctx context.Context, f Fork) (begun bool, err error) {
	p := s.stored
	parent := logReader{in: p.store, key: store.Key{Owner: p.key.Owner, ID: f.Parent}}
	p.origin = store.Origin{Parent: parent.key, ForkedAt: f.At, ForkedEntries: f.Entries}
	if !f.Whole {
		return false, nil
	}
	c := store.Change{Summary: store.Summary{Entries: f.Entries}}
	for record, err := range p.store.Records(ctx, parent.key, store.Choice{To: f.At}) {
		if err == nil {
			_, err = parent.decode(record) // for the contents that it refers to
		}
		if err != nil {
			return false, s.storeError(err)
		}
		c.Records = append(c.Records, record)
	}
	if uint64(len(c.Records)) != f.At {
		return false, s.storeError(fmt.Errorf("fork at revision %d of %q: %w", f.At, f.Parent, ErrNoSession))
	}
	contents, err := p.store.Contents(ctx, p.key.Owner, parent.reader.Missing())
	if err != nil {
		return false, s.storeError(err)
	}
	c.Contents = slices.Collect(maps.Values(contents))
	n, err := s.write(ctx, 0, "", update{}, c)
	if err == nil && n.moved { // another host was faster
		err = s.storeError(ErrSessionExists)
	}
	if err != nil {
		return false, err
	}
	*p = stored{store: p.store, key: p.key, groups: p.groups} // what was written is read as if it had been there
	return s.load(ctx)
}
