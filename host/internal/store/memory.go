package store

import (
	"cmp"
	"context"
	crypto "crypto/rand"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"sync"
	"time"
)

// Memory is a store that ends with the process, for hosts that keep no sessions. It is the simplest implementation of
// [Store]: storetest holds the others to what it does.
//
// One lock guards everything. Nothing slow is done under it: watchers and readers work without it.
type Memory struct {
	mu       sync.Mutex
	closed   bool
	sessions map[Key]*session
	// By owner, because contents are never shared across owners: that an upload was "already there" would tell one
	// owner what another has. A content that no session refers to is deleted at once.
	contents map[string]map[Hash]*content // by owner
	accesses map[string]Access
	// For the daily limits of access tokens. Old days are kept: each is one number.
	used    map[[2]string]Used // by day and name
	secrets map[string][]byte  // by name
	hub     Hub
}

// session is one session of a [Memory]. Records and their values never change, so readers may use a copy of the slice
// without the lock. refers has the contents that the session's records name. until is zero or past if no lease runs.
type session struct {
	head    Head
	records []Record
	refers  map[Hash]struct{}
	holder  string
	until   time.Time
	index   []Part
}

// content is a large value, with the number of sessions that refer to it.
type content struct {
	data []byte
	uses int
}

var _ Store = (*Memory)(nil)

func NewMemory() *Memory {
	return &Memory{
		sessions: map[Key]*session{},
		contents: map[string]map[Hash]*content{},
		accesses: map[string]Access{},
		used:     map[[2]string]Used{},
		secrets:  map[string][]byte{},
	}
}

// Ephemeral implements [Sessions].
func (*Memory) Ephemeral() bool { return true }

// NewFence draws a session's first fence. It is below 2^62: leases add to it, and databases count to 2^63. It is random
// to keep a host that still knows a deleted session from writing to a new one of the same id.
func NewFence() uint64 { return rand.Uint64N(1 << 62) }

// NewSecret draws what [Store.Secret] keeps.
func NewSecret() []byte {
	secret := make([]byte, 32)
	_, _ = crypto.Read(secret) // never fails
	return secret
}

// lock takes the lock unless the store is closed or ctx has ended. Without an error the caller unlocks.
func (m *Memory) lock(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return context.Cause(ctx)
	}
	m.mu.Lock()
	if m.closed {
		m.mu.Unlock()
		return ErrClosed
	}
	return nil
}

// find is lock for a session; without an error the caller unlocks.
func (m *Memory) find(ctx context.Context, key Key) (*session, error) {
	if err := m.lock(ctx); err != nil {
		return nil, err
	}
	s, ok := m.sessions[key]
	if !ok {
		m.mu.Unlock()
		return nil, NotFound(key)
	}
	return s, nil
}

func (m *Memory) Create(ctx context.Context, key Key, origin Origin) (Head, error) {
	if err := key.Check(); err != nil {
		return Head{}, err
	}
	if err := m.lock(ctx); err != nil {
		return Head{}, err
	}
	defer m.mu.Unlock()
	if m.sessions[key] != nil {
		return Head{}, fmt.Errorf("session %q: %w", key.ID, ErrExists)
	}
	now := time.Now()
	s := &session{
		head:   Head{Key: key, Fence: NewFence(), Origin: origin, Created: now, Used: now},
		refers: map[Hash]struct{}{},
	}
	m.sessions[key] = s
	return s.head, nil
}

func (m *Memory) Head(ctx context.Context, key Key) (Head, error) {
	s, err := m.find(ctx, key)
	if err != nil {
		return Head{}, err
	}
	defer m.mu.Unlock()
	return s.head, nil
}

func (m *Memory) Append(ctx context.Context, key Key, at Position, change Change) (Head, error) {
	s, err := m.find(ctx, key)
	if err != nil {
		return Head{}, err
	}
	defer m.mu.Unlock()
	now := time.Now()
	h := &s.head
	held := at.Holder == "" || s.holder == at.Holder && now.Before(s.until)
	if at.Revision != h.Revision || at.Fence != h.Fence || !held {
		return Head{}, &ConflictError{Key: key, At: at, Now: *h}
	}
	// Nothing has changed so far, so a refused append leaves no trace.
	for _, r := range change.Records {
		h.Revision++
		if r.Kind == Snapshot {
			h.Snapshot = h.Revision
		}
		h.Bytes += int64(r.size())
		r.Seq = h.Revision
		s.records = append(s.records, r)
	}
	for _, data := range change.Contents {
		h.Bytes += m.refer(s, data)
	}
	h.Summary, h.Used = change.Summary, now
	m.hub.Notify(Notice{Key: key, Revision: h.Revision})
	return *h, nil
}

// refer makes s refer to a content, and returns the bytes that are new to the session.
func (m *Memory) refer(s *session, data []byte) int64 {
	hash := HashOf(data)
	if _, known := s.refers[hash]; known {
		return 0
	}
	s.refers[hash] = struct{}{}
	owned := m.contents[s.head.Owner]
	if owned == nil {
		owned = map[Hash]*content{}
		m.contents[s.head.Owner] = owned
	}
	c := owned[hash]
	if c == nil {
		c = &content{data: data}
		owned[hash] = c
	}
	c.uses++
	return int64(len(data))
}

func (m *Memory) Records(ctx context.Context, key Key, choice Choice) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		s, err := m.find(ctx, key)
		if err != nil {
			yield(Record{}, err)
			return
		}
		// Appended records never change, so this slice can be read without the lock, which a slow reader must not hold.
		records := s.records
		m.mu.Unlock()
		for _, r := range records {
			if choice.includes(r) && !yield(Record{Seq: r.Seq, Kind: r.Kind, Data: r.Bytes()}, nil) {
				return
			}
		}
	}
}

func (c Choice) includes(r Record) bool {
	if r.Seq < c.From || c.To != 0 && r.Seq > c.To {
		return false
	}
	// nil chooses all records, an empty list none.
	if c.Seqs != nil {
		if _, ok := slices.BinarySearch(c.Seqs, r.Seq); !ok {
			return false
		}
	}
	return len(c.Kinds) == 0 || slices.Contains(c.Kinds, r.Kind)
}

// Contents implements [Sessions]. Callers must not change the values, which are the store's own.
func (m *Memory) Contents(ctx context.Context, owner string, hashes []Hash) (map[Hash][]byte, error) {
	if err := m.lock(ctx); err != nil {
		return nil, err
	}
	defer m.mu.Unlock()
	found := make(map[Hash][]byte, len(hashes))
	for _, hash := range hashes {
		c := m.contents[owner][hash]
		if c == nil {
			// A content is stored with the record that refers to it, so this is a defect, not the caller's mistake.
			return nil, &Fault{Cause: Corrupt, Store: "in memory", Err: MissingContent(hash)}
		}
		found[hash] = c.data
	}
	return found, nil
}

func (m *Memory) Lease(ctx context.Context, key Key, holder string, ttl time.Duration) (Head, error) {
	s, err := m.find(ctx, key)
	if err != nil {
		return Head{}, err
	}
	defer m.mu.Unlock()
	now := time.Now()
	// The holder keeps its fence when it renews, so its appends in progress stay valid.
	if s.holder != holder {
		if left := s.until.Sub(now); left > 0 {
			if left > ttl { // as in stores whose clock may be set back
				left, s.until = ttl, now.Add(ttl)
			}
			return Head{}, &LeasedError{Key: key, Holder: s.holder, Left: left}
		}
		// Appends of the previous holder now name an old fence and are refused, even if its host only paused.
		s.head.Fence++
	}
	s.holder, s.until = holder, now.Add(ttl)
	return s.head, nil
}

// Release implements [Sessions]. The holder stays on record and keeps its fence if it is the next one again.
func (m *Memory) Release(ctx context.Context, key Key, holder string) error {
	s, err := m.find(ctx, key)
	if errors.Is(err, ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	defer m.mu.Unlock()
	if s.holder == holder {
		s.until = time.Time{}
	}
	return nil
}

// List implements [Sessions]. The heads are all read at one moment.
func (m *Memory) List(ctx context.Context, filter Filter) iter.Seq2[Head, error] {
	return func(yield func(Head, error) bool) {
		if err := m.lock(ctx); err != nil {
			yield(Head{}, err)
			return
		}
		var heads []Head
		for key, s := range m.sessions {
			if (filter.AllOwners || key.Owner == filter.Owner) && compareKeys(key, filter.After) > 0 {
				heads = append(heads, s.head)
			}
		}
		m.mu.Unlock()
		slices.SortFunc(heads, func(a, b Head) int { return compareKeys(a.Key, b.Key) })
		if filter.Limit > 0 && len(heads) > filter.Limit {
			heads = heads[:filter.Limit]
		}
		for _, h := range heads {
			if !yield(h, nil) {
				return
			}
		}
	}
}

// compareKeys orders lists, byte by byte, as every store does.
func compareKeys(a, b Key) int { return cmp.Or(cmp.Compare(a.Owner, b.Owner), cmp.Compare(a.ID, b.ID)) }

func (m *Memory) Delete(ctx context.Context, key Key) error {
	s, err := m.find(ctx, key)
	if err != nil {
		return err
	}
	defer m.mu.Unlock()
	m.remove(s)
	return nil
}

// remove deletes a session and the contents that only it refers to. Callers hold the lock.
func (m *Memory) remove(s *session) {
	owned := m.contents[s.head.Owner]
	for hash := range s.refers {
		if c := owned[hash]; c.uses > 1 {
			c.uses--
		} else {
			delete(owned, hash)
		}
	}
	// A notice without a revision means that the session is gone.
	delete(m.sessions, s.head.Key)
	m.hub.Notify(Notice{Key: s.head.Key})
}

func (m *Memory) Expire(ctx context.Context, unused time.Duration) (int, error) {
	if err := m.lock(ctx); err != nil {
		return 0, err
	}
	defer m.mu.Unlock()
	limit, n := time.Now().Add(-unused), 0
	for _, s := range m.sessions {
		if s.head.Used.Before(limit) {
			m.remove(s)
			n++
		}
	}
	return n, nil
}
