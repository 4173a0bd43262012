package journal

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/host/internal/history"
	"github.com/thresh-dev/thresh/host/internal/search"
	"github.com/thresh-dev/thresh/host/internal/store"
	"github.com/thresh-dev/thresh/host/internal/tokens"
	"github.com/thresh-dev/thresh/sdk/content"
	"github.com/thresh-dev/thresh/sdk/marks"
	"github.com/thresh-dev/thresh/sdk/tools"
)

// passages of one session.
func passages(found []Found) []search.Passage {
	out := make([]search.Passage, len(found))
	for i, p := range found {
		out[i] = p.Passage
	}
	return out
}

// Search finds passages of what was added and was no longer sent as it was added in the last prepared request; before
// the first, of what is no longer in the history. The best comes first. The error wraps [search.ErrQuery] for a query
// that says nothing, and [ErrNotStored] if the host keeps no sessions.
func (j *Journal) Search(ctx context.Context, t *tools.Taxonomy, q search.Query) ([]search.Passage, error) {
	words, err := q.Parse()
	if err != nil {
		return nil, err
	}
	if j.store == nil {
		return nil, j.failed("search", ErrNotStored)
	}
	one := j.sending()
	if one.until == 0 { // nothing was added yet, and the store need not know the session
		return nil, nil
	}
	f := finder{in: j.store, tools: t, counter: j.session.Counter(), words: words}
	found, err := f.find(ctx, []searched{one})
	switch {
	case errors.Is(err, store.ErrNotFound): // nothing was added yet
		return nil, nil
	case err != nil:
		return nil, j.wrong(err)
	}
	return passages(found), nil
}

// Lines returns the lines from first to last, from 1, of a block as it was added: what is around a passage. The error
// wraps [ErrNotRecorded] if there is no such block, and [ErrNotStored] if the host keeps no sessions.
func (j *Journal) Lines(ctx context.Context, t *tools.Taxonomy, entry string, block, first, last int) (
	search.Passage, error) {
	if j.store == nil {
		return search.Passage{}, j.wrong(ErrNotStored)
	}
	p, err := Lines(ctx, j.store, j.key, t, entry, block, first, last)
	if errors.Is(err, store.ErrNotFound) { // nothing was added yet
		err = j.notRecorded(entry)
	}
	p.Tokens = j.session.Counter().Text(p.Text)
	return p, err
}

// Found is a passage of a session.
type Found struct {
	Key store.Key
	search.Passage
}

// Search searches all that was added to sessions of a store, removed or not, without a host. The error wraps
// [search.ErrQuery] for a query that says nothing.
func Search(ctx context.Context, in store.Store, keys []store.Key, t *tools.Taxonomy, q search.Query) (
	[]Found, error) {
	all := make([]searched, len(keys))
	for i, key := range keys {
		all[i] = searched{key: key, all: true}
	}
	return searchRecorded(ctx, in, all, t, q)
}

// SearchRemoved finds what is no longer in the history of a session of a store as it was added, without a host.
func SearchRemoved(ctx context.Context, in store.Store, key store.Key, t *tools.Taxonomy, q search.Query) (
	[]search.Passage, error) {
	one := searched{key: key}
	var err error
	if one.sent, one.until, err = present(ctx, in, key); err != nil {
		return nil, err
	}
	return searchOne(ctx, in, one, t, q)
}

func searchOne(ctx context.Context, in store.Store, one searched, t *tools.Taxonomy, q search.Query) (
	[]search.Passage, error) {
	found, err := searchRecorded(ctx, in, []searched{one}, t, q)
	return passages(found), err
}

func searchRecorded(ctx context.Context, in store.Store, all []searched, t *tools.Taxonomy, q search.Query) (
	[]Found, error) {
	words, err := q.Parse()
	if err != nil {
		return nil, err
	}
	counter, err := tokens.For("", "")
	if err != nil {
		return nil, err
	}
	f := finder{in: in, tools: t, counter: counter, words: words}
	return f.find(ctx, all)
}

// present returns the entries of a session's history, and the revision of its log.
func present(ctx context.Context, in store.Store, key store.Key) (entries []*history.Entry, until uint64, err error) {
	head, err := in.Head(ctx, key)
	if err != nil {
		return nil, 0, err
	}
	now := history.New()
	r := logReader{in: in, key: key}
	choice := store.Choice{To: head.Revision, Kinds: []store.Kind{store.Added, store.Rewritten}}
	for step, err := range r.read(ctx, choice) {
		if err != nil {
			return nil, 0, err
		}
		if step.kind == store.Added {
			now.AppendEntries(step.added.Entries)
		} else if err := now.Replay(step.rewritten.Rewrite); err != nil {
			return nil, 0, err
		}
	}
	return now.Snapshot().Entries, head.Revision, nil
}

// Lines returns the lines from first to last, from 1, of a block as it was added: what is around a passage. The error
// wraps [ErrNotRecorded] if there is no such block.
func Lines(ctx context.Context, in store.Sessions, key store.Key, t *tools.Taxonomy, entry string,
	block, first, last int) (search.Passage, error) {
	turn := 0
	var x marks.Exchange
	r := logReader{in: in, key: key}
	for step, err := range r.read(ctx, store.Choice{Kinds: []store.Kind{store.Added}}) {
		if err != nil {
			return search.Passage{}, err
		}
		for _, e := range step.added.Entries {
			if e.Content.Speaker == content.Human {
				turn++
			}
			calls := answered(&x, e)
			if e.ID != entry || block < 0 || block >= len(e.Content.Blocks) {
				continue
			}
			p := search.Lines(search.Text(e.Content.Blocks[block]), first, last)
			describe(&p, e, block, turn, calls, t)
			return p, nil
		}
	}
	return search.Passage{}, fmt.Errorf("session %q: block %d of %q: %w", key.ID, block, entry, ErrNotRecorded)
}

// answered returns the calls that an entry's results answer, by block.
func answered(x *marks.Exchange, e *history.Entry) (calls map[int]content.ToolCall) {
	x.Add(&e.Content, func(block int, call content.ToolCall) {
		if calls == nil {
			calls = map[int]content.ToolCall{}
		}
		calls[block] = call
	})
	return calls
}

func describe(p *search.Passage, e *history.Entry, block, turn int, calls map[int]content.ToolCall, t *tools.Taxonomy) {
	b := e.Content.Blocks[block]
	p.Entry, p.Block, p.Turn, p.Speaker, p.Kind = e.ID, block, turn, e.Content.Speaker, b.Kind()
	switch b := b.(type) {
	case content.ToolCall:
		p.Tool, p.Argument, p.Call = b.Name, search.Argument(t, b), b.ID
	case content.ToolResponse:
		p.Tool, p.Call = b.ToolName, b.CallID
		if call, ok := calls[block]; ok {
			p.Tool, p.Argument = call.Name, search.Argument(t, call)
		}
	}
}

// searched is a session to search.
type searched struct {
	key store.Key
	// all: everything that was added is found, but for what is in sent.
	all bool
	// until is the last record that counts.
	until uint64
	// sent are entries whose blocks are not found as far as they are as they were added; what stands in one of texts is
	// not found either.
	sent  []*history.Entry
	texts []string
}

// finder searches sessions of a store.
type finder struct {
	in      store.Store
	tools   *tools.Taxonomy
	counter *tokens.Counter
	words   search.Parsed
}

func (f *finder) find(ctx context.Context, all []searched) (found []Found, err error) {
	indexes := make([]search.Index, len(all))
	shelves := make([]*shelf, len(all))
	for i, one := range all {
		indexes[i], err = f.index(ctx, one)
		if err != nil && (len(all) == 1 || !errors.Is(err, store.ErrNotFound)) { // one of many may be deleted meanwhile
			return nil, err
		}
		shelves[i] = newShelf(f, one)
	}
	// A string in quotes is looked for within words only if it stands nowhere between words.
	for _, within := range []bool{false, true} {
		r := f.words.Rank(indexes, within, func(session int, at search.Spot) bool { return shelves[session].may(at) })
		if found, err = f.take(ctx, all, indexes, shelves, r); err != nil || len(found) > 0 || !f.words.Quotes() {
			break
		}
	}
	return found, err
}

// index returns a session's index for the query. Without one.all it need not have what was added since something was
// removed last, which the model still has.
func (f *finder) index(ctx context.Context, one searched) (search.Index, error) {
	pieces := f.words.Pieces()
	parts, err := f.in.Find(ctx, one.key, pieces)
	for err == nil {
		var last store.Part
		if len(parts) > 0 {
			last = parts[len(parts)-1]
		}
		x := newIndexing(f.in, one.key, f.tools, last, func(p store.Part) {
			if p.After == 0 {
				parts = nil
			}
			parts = append(parts, p.With(pieces))
		})
		need := one.all
		if !need {
			if need, err = x.removedSince(ctx); err != nil {
				break
			}
		}
		if need {
			if err = x.catchUp(ctx); err != nil {
				break
			}
		}
		index, ok := f.words.NewIndex(parts)
		if ok {
			return index, nil
		}
		parts = nil // made again
	}
	return search.Index{}, err
}

// readAhead is how many passages are read from the store at once, at first and then.
const readAhead, readMore = 8, 64

// take reads the passages of a ranking in their order, until there are enough of those that fit.
func (f *finder) take(ctx context.Context, all []searched, indexes []search.Index, shelves []*shelf,
	r *search.Ranking) (found []Found, err error) {
	spot := func(h search.Hit) search.Spot { return indexes[h.Session].Spots[h.Number] }
	most, left := f.words.Limits()
	seen := map[string]bool{}
	size := readAhead
	for len(found) < most {
		next := r.Next(size)
		if len(next) == 0 {
			break
		}
		size = readMore
		for i, s := range shelves {
			var spots []search.Spot
			for _, h := range next {
				if h.Session == i {
					spots = append(spots, spot(h))
				}
			}
			if err := s.fetch(ctx, spots); err != nil {
				return nil, err
			}
		}
		for i, h := range next {
			p, ok := shelves[h.Session].passage(spot(h))
			if !ok || seen[p.Text] || !f.words.Matches(p.Text) {
				continue
			}
			// The same text often comes from reading a file again: the newest stands for all.
			seen[p.Text] = true
			p.Score, p.Tokens = h.Score, f.counter.Text(p.Text)
			if p.Tokens > left {
				continue
			}
			left -= p.Tokens
			shelves[h.Session].describe(&p, spot(h))
			found = append(found, Found{all[h.Session].key, p})
			r.Found(h, next[i+1:])
			size = readAhead
			break
		}
	}
	return found, nil
}

// shelf has the records of one session that passages are read from.
type shelf struct {
	*finder
	searched
	// whole are the places of entries that are sent as they were added, edited the others, by id.
	whole   map[history.Place]bool
	edited  map[string]*history.Entry
	records map[uint64][]*history.Entry
	blocks  map[spot]search.Block
	left    map[string][]string // the texts of edited entries, by id
}

type spot struct {
	history.Place
	block int
}

func newShelf(f *finder, one searched) *shelf {
	s := &shelf{finder: f, searched: one, whole: make(map[history.Place]bool, len(one.sent)),
		edited: map[string]*history.Entry{}, records: map[uint64][]*history.Entry{}, blocks: map[spot]search.Block{},
		left: map[string][]string{}}
	for _, e := range one.sent {
		s.whole[e.Place] = true
		s.edited[e.ID] = e
	}
	return s
}

// may reports whether a passage may be found, by where it is.
func (s *shelf) may(at search.Spot) bool {
	return !s.whole[history.Place{Record: at.Record, Index: at.Index}] && (s.all || at.Record <= s.until)
}

// maxBehind is how many records before that of a result are read to find its call.
const maxBehind = 64

// fetch reads the records of passages, with those that have the calls of results.
func (s *shelf) fetch(ctx context.Context, spots []search.Spot) error {
	var seqs []uint64
	for _, at := range spots {
		from := at.Exchange
		if from == 0 || at.Record-from > maxBehind {
			from = at.Record
		}
		for seq := from; seq <= at.Record; seq++ {
			if _, ok := s.records[seq]; !ok {
				seqs = append(seqs, seq)
			}
		}
	}
	if len(seqs) == 0 {
		return nil
	}
	slices.Sort(seqs)
	seqs = slices.Compact(seqs)
	for _, seq := range seqs {
		s.records[seq] = nil
	}
	r := logReader{in: s.in, key: s.key}
	for step, err := range r.read(ctx, store.Choice{Seqs: seqs, Kinds: []store.Kind{store.Added}}) {
		if err != nil {
			return err
		}
		s.records[step.seq] = step.added.Entries
	}
	return nil
}

// passage returns a passage of fetched records, without what [shelf.describe] adds. ok is false if the model still has
// it.
func (s *shelf) passage(at search.Spot) (p search.Passage, ok bool) {
	of := s.records[at.Record]
	if at.Index >= len(of) || at.Block >= len(of[at.Index].Content.Blocks) {
		return p, false
	}
	e := of[at.Index]
	place := spot{history.Place{Record: at.Record, Index: at.Index}, at.Block}
	block, known := s.blocks[place]
	if !known {
		block = search.Cut(e.Content.Blocks[at.Block])
		s.blocks[place] = block
	}
	if p, ok = block.Passage(at.Part); !ok || s.has(e.ID, p.Text) {
		return p, false
	}
	return p, true
}

// has reports whether what is sent of an entry, or beside it, has a text.
func (s *shelf) has(entry, text string) bool {
	in := func(sent string) bool { return strings.Contains(sent, text) }
	texts, known := s.left[entry]
	if e := s.edited[entry]; e != nil && !known {
		texts = search.Texts(e.Content)
		s.left[entry] = texts
	}
	return slices.ContainsFunc(texts, in) || slices.ContainsFunc(s.texts, in)
}

// describe says where a passage stood.
func (s *shelf) describe(p *search.Passage, at search.Spot) {
	e := s.records[at.Record][at.Index]
	var x marks.Exchange
	var calls map[int]content.ToolCall
	for seq := at.Exchange; seq <= at.Record; seq++ {
		for _, before := range s.records[seq] {
			if calls = answered(&x, before); before == e {
				break
			}
		}
	}
	describe(p, e, at.Block, at.Turn, calls, s.tools)
}
