package history

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"

	"github.com/thresh-dev/thresh/internal/check"
	"github.com/thresh-dev/thresh/sdk/content"
	"github.com/thresh-dev/thresh/sdk/tools"
)

// ErrStale is returned by [History.Apply] for a plan made before the last rewrite. The caller can plan again on a new
// snapshot.
var ErrStale = errors.New("the history was rewritten after this plan was made")

// History is the owned history of one session. It is safe for concurrent use. The zero value is empty.
type History struct {
	mu       sync.Mutex
	entries  []*Entry // within an epoch it only grows at the end: older slices are prefixes of it
	sums     sums     // of the entries' counts
	revision uint64
	epoch    uint64
	added    uint64 // entries ever appended, removed ones included
	appends  uint64 // how often entries were appended
	rewrote  Point  // the last rewrite had seen what was appended before
	nextID   uint64
	index    *check.Index // what judging edits needs; nil until a snapshot needs it
	refers   int          // how many entries have marks that refer to others
	bytes    int          // about what the entries take in memory
	shown    shown
}

func New() *History { return &History{} }

// Append adds entries at the end, with one count for each. It never waits for a strategy. It returns the new revision
// and the tokens of the whole history.
func (h *History) Append(entries []content.Content, counts []Count) (revision uint64, total int) {
	return h.AppendEntries(h.New(entries, counts))
}

// New makes entries for [History.AppendEntries], with the ids that they will have, for a caller that records the ids
// first. Nothing else may be added in between.
func (h *History) New(entries []content.Content, counts []Count) []*Entry {
	h.mu.Lock()
	defer h.mu.Unlock()
	out := make([]*Entry, len(entries))
	for i, c := range entries {
		out[i] = &Entry{ID: id(h.nextID + 1 + uint64(i)), Content: check.Unrecorded(c), Count: counts[i]}
	}
	return out
}

// AppendEntries is Append for entries that have their ids.
func (h *History) AppendEntries(entries []*Entry) (revision uint64, total int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, e := range entries {
		h.entries = append(h.entries, e)
		h.sums = h.sums.add(e.Tokens)
		h.bytes += e.bytes()
		h.used(e.ID)
	}
	if len(entries) > 0 {
		h.added += uint64(len(entries))
		h.appends++
		h.revision++
	}
	return h.revision, h.sums.all()
}

func id(n uint64) string { return "e" + strconv.FormatUint(n, 10) }

// used keeps an id from being given to another entry. Callers hold h.mu.
func (h *History) used(id string) {
	if number, ok := strings.CutPrefix(id, "e"); ok {
		if n, err := strconv.ParseUint(number, 10, 63); err == nil {
			h.nextID = max(h.nextID, n)
		}
	}
}

// Snapshot is a history at one moment. Its entries are shared and must not be modified.
type Snapshot struct {
	Entries []*Entry
	// Tokens is the sum of the entries' counts.
	Tokens int
	// Revision counts every change; Epoch counts rewrites only.
	Revision, Epoch uint64
	// Added is how many entries were ever appended, including removed ones: it tells whether there is anything new for
	// a strategy.
	Added uint64
	// Tools says how marks name results. Whoever plans a rewrite sets it.
	Tools *tools.Taxonomy

	sums   sums
	refers int          // of all entries, those behind the snapshot too
	at     Point        // when it was taken, or the point that it was taken for
	index  *check.Index // shared by the epoch's snapshots
}

// Snapshot returns the history as it is now, at the same cost for any size. Appending to its entries copies them.
func (h *History) Snapshot() Snapshot {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.snapshotAt(nil)
}

// Point is a moment between two additions to a history. It divides what was appended before it from what was appended
// since, even after rewrites, which keep appended entries at the end, in their order.
type Point struct {
	added, appends uint64
}

// PointOf returns the point after so many entries and additions.
func PointOf(added, appends uint64) Point { return Point{added, appends} }

// Counts returns how many entries, in how many additions, were appended before the point.
func (m Point) Counts() (added, appends uint64) { return m.added, m.appends }

// Point returns the moment after everything appended so far.
func (h *History) Point() Point {
	h.mu.Lock()
	defer h.mu.Unlock()
	return Point{h.added, h.appends}
}

// SnapshotAt is Snapshot without what was appended after a point; a nil point is now. If a rewrite had seen later
// entries, these are included: they can no longer be told apart.
//
// Revision is what it would be without the later entries: one for each earlier addition and for each rewrite so far.
func (h *History) SnapshotAt(m *Point) Snapshot {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.snapshotAt(m)
}

// snapshotAt is SnapshotAt for callers that hold h.mu.
func (h *History) snapshotAt(m *Point) Snapshot {
	at := Point{h.added, h.appends}
	if m != nil {
		at = *m
		if at.added < h.rewrote.added {
			at = h.rewrote
		}
	}
	n := len(h.entries) - int(h.added-at.added)
	if h.index == nil {
		h.index = &check.Index{}
	}
	return Snapshot{
		index: h.index, refers: h.refers,
		Entries: h.entries[:n:n], Tokens: h.sums.of(0, n), Revision: h.revision - (h.appends - at.appends),
		Epoch: h.epoch, Added: at.added, sums: h.sums[:n:n], at: at,
	}
}

// TokensOf returns the sum of the counts of Entries[from:to], at the same cost for any range.
func (s Snapshot) TokensOf(from, to int) int { return s.sums.of(from, to) }

func (s Snapshot) Contents() []content.Content { return contents(s.Entries) }

// Recount compares the maintained counts with fresh ones, for tests.
func (h *History) Recount(count func(content.Content) int) error {
	s := h.Snapshot()
	sum := 0
	for i, e := range s.Entries {
		sum += e.Tokens
		if n := s.TokensOf(0, i+1); n != sum {
			return fmt.Errorf("the first %d entries are %d tokens, they add up to %d", i+1, n, sum)
		}
		if n := count(e.Content); n != e.Tokens {
			return fmt.Errorf("entry %d (%s) has a count of %d tokens, a fresh count is %d", i, e.ID, e.Tokens, n)
		}
	}
	if sum != s.Tokens {
		return fmt.Errorf("the total is %d tokens, the entries add up to %d", s.Tokens, sum)
	}
	return nil
}
