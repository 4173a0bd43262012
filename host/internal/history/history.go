package history

import (
	"errors"
	"fmt"
	"strconv"
	"sync"

	"github.com/thresh-dev/thresh/sdk/content"
)

// ErrStale is returned by [History.Apply] for a plan that was made for a history that has been rewritten since.
var ErrStale = errors.New("the history was rewritten after this plan was made")

// History is the owned history of one session. It is safe for concurrent use.
type History struct {
	mu       sync.Mutex
	entries  []*Entry // the first len(entries) of any older slice of the same epoch are the same entries
	tokens   int
	revision uint64
	epoch    uint64
	added    uint64 // entries ever appended: what "dirty" and "something was added" are measured by
	nextID   uint64
	view     view
}

// New returns an empty history.
func New() *History { return &History{} }

// Append puts entries at the end. counts holds one for each. It waits for nobody: a plugin may be working on an
// earlier snapshot meanwhile.
func (h *History) Append(entries []content.Content, counts []Count) (revision uint64, total int) {
	return h.AppendAs(h.Reserve(len(entries)), entries, counts)
}

// Reserve returns n ids that no entry has had or will get, for [History.AppendAs].
func (h *History) Reserve(n int) []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	ids := make([]string, n)
	for i := range ids {
		ids[i] = h.newID()
	}
	return ids
}

// AppendAs is Append for entries whose ids were reserved, by whoever has to know them before the entries are in.
func (h *History) AppendAs(ids []string, entries []content.Content, counts []Count) (revision uint64, total int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for i, c := range entries {
		h.entries = append(h.entries, &Entry{ID: ids[i], Content: c, Count: counts[i]})
		h.tokens += counts[i].Tokens
	}
	if len(entries) > 0 {
		h.added += uint64(len(entries))
		h.revision++
	}
	return h.revision, h.tokens
}

func (h *History) newID() string {
	h.nextID++
	return "e" + strconv.FormatUint(h.nextID, 10)
}

// Snapshot is a history at one moment. Its entries are shared and must not be changed.
type Snapshot struct {
	Entries []*Entry
	// Tokens is the sum of the entries' counts.
	Tokens int
	// Revision counts every change; Epoch counts rewrites only.
	Revision, Epoch uint64
	// Added is how many entries were ever appended to the history, those that are gone included.
	Added uint64
}

// Snapshot returns the history as it is now.
func (h *History) Snapshot() Snapshot {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.snapshot()
}

func (h *History) snapshot() Snapshot {
	n := len(h.entries)
	return Snapshot{Entries: h.entries[:n:n], Tokens: h.tokens, Revision: h.revision, Epoch: h.epoch, Added: h.added}
}

// Contents returns the entries' contents, in order.
func (s Snapshot) Contents() []content.Content { return contents(s.Entries) }

// Apply carries out a plan that was made for an earlier snapshot of this epoch, and returns the history as it is then.
// Entries that were appended since that snapshot stay, behind the new ones. If they need a tool call that the plan
// removed, or if the history was rewritten meanwhile, nothing is changed.
func (h *History) Apply(p *Plan) (Snapshot, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if p.base.Epoch != h.epoch {
		return h.snapshot(), fmt.Errorf("%w (planned at revision %d, now at %d)", ErrStale, p.base.Revision, h.revision)
	}
	late := h.entries[len(p.base.Entries):]
	if err := p.checkLate(late); err != nil {
		return h.snapshot(), err
	}
	out := make([]*Entry, 0, len(p.entries)+len(late))
	tokens := 0
	for _, e := range p.entries {
		if e.ID == "" { // it is the plan's own until here, and the plan can then say its id
			e.ID = h.newID()
		}
		out = append(out, e)
		tokens += e.Tokens
	}
	for _, e := range late {
		tokens += e.Tokens
	}
	h.entries = append(out, late...)
	h.tokens = tokens
	h.revision++
	h.epoch++
	h.view.reset()
	return h.snapshot(), nil
}

// Recount checks the maintained counts: each entry's against a fresh one, and the total against the sum. It is for the
// tests of this package and of package prepare.
func (h *History) Recount(count func(content.Content) int) error {
	s := h.Snapshot()
	sum := 0
	for i, e := range s.Entries {
		sum += e.Tokens
		if n := count(e.Content); n != e.Tokens {
			return fmt.Errorf("entry %d (%s) has a count of %d tokens, a fresh count is %d", i, e.ID, e.Tokens, n)
		}
	}
	if sum != s.Tokens {
		return fmt.Errorf("the total is %d tokens, the entries add up to %d", s.Tokens, sum)
	}
	return nil
}
