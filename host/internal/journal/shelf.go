package journal

import (
	"context"
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/host/internal/history"
	"github.com/thresh-dev/thresh/host/internal/search"
	"github.com/thresh-dev/thresh/host/internal/store"
	"github.com/thresh-dev/thresh/host/outcome"
	"github.com/thresh-dev/thresh/sdk/content"
	"github.com/thresh-dev/thresh/sdk/marks"
)

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
	if p, ok = s.block(at).Passage(at.Part); !ok || s.has(of[at.Index].ID, p.Text) {
		return p, false
	}
	return p, true
}

// block returns the block of a passage of fetched records, which must be there.
func (s *shelf) block(at search.Spot) search.Block {
	place := spot{history.Place{Record: at.Record, Index: at.Index}, at.Block}
	block, known := s.blocks[place]
	if !known {
		block = search.Cut(s.records[at.Record][at.Index].Content.Blocks[at.Block])
		s.blocks[place] = block
	}
	return block
}

// result returns the result of a call, nil if none of the next records has it, or the model still has it.
func (s *shelf) result(ctx context.Context, call search.Spot, id string) (*outcome.Result, error) {
	r := logReader{in: s.in, key: s.key}
	next := store.Choice{From: call.Record, To: call.Record + maxBehind, Kinds: []store.Kind{store.Added}}
	for step, err := range r.read(ctx, next) {
		if err != nil {
			return nil, err
		}
		for i, e := range step.added.Entries {
			if step.seq == call.Record && i <= call.Index {
				continue
			}
			for j, b := range e.Content.Blocks {
				if of, ok := b.(content.ToolResponse); !ok || of.CallID != id {
					continue
				}
				text := search.Text(b)
				at := search.Spot{Record: step.seq, Index: i}
				if !s.may(at) || text == "" || s.has(e.ID, text) {
					return nil, nil
				}
				return &outcome.Result{Entry: e.ID, Block: j, Of: marks.Lines(text), Text: search.Ends(text)}, nil
			}
		}
	}
	return nil, nil
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
	describe(p, e, at.Block, at.Turn, s.answered(at), s.tools)
}

// answered returns the calls that the results of a fetched entry answer, by block.
func (s *shelf) answered(at search.Spot) (calls map[int]content.ToolCall) {
	e := s.records[at.Record][at.Index]
	var x marks.Exchange
	for seq := at.Exchange; seq <= at.Record; seq++ {
		for _, before := range s.records[seq] {
			if calls = answered(&x, before); before == e {
				return calls
			}
		}
	}
	return calls
}

// files are those that a call reads or writes, or the call that a result of a fetched entry answers.
func (s *shelf) files(at search.Spot) (all []string) {
	call, ok := s.records[at.Record][at.Index].Content.Blocks[at.Block].(content.ToolCall)
	if !ok {
		call = s.answered(at)[at.Block]
	}
	use := s.tools.UseCall(call)
	all = slices.Clone(use.Reads)
	for _, w := range use.Writes {
		all = append(all, w.Path)
	}
	return all
}
