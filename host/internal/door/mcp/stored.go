package mcp

import (
	"context"
	"errors"
	"math"
	"strconv"
	"strings"

	"github.com/thresh-dev/thresh/host/internal/journal"
	"github.com/thresh-dev/thresh/host/internal/search"
	"github.com/thresh-dev/thresh/host/internal/store"
	"github.com/thresh-dev/thresh/sdk/content"
	"github.com/thresh-dev/thresh/sdk/tools"
)

// Stored returns a [Server.Recall] for a session of a store, which hosts may be writing meanwhile. Ids are those of
// marks, of calls and of entries; parts have an entry's and the number of a block in it.
func Stored(in store.Store, key store.Key, t *tools.Taxonomy) func(context.Context, Asked) (Answer, error) {
	s := stored{in, key, t}
	return func(ctx context.Context, a Asked) (answer Answer, err error) {
		if a.Query != "" {
			answer, err = s.search(ctx, a)
		} else {
			answer.Parts, err = s.read(ctx, a.ID)
		}
		if err != nil || len(answer.Parts) == 0 {
			return answer, err
		}
		sealed, err := journal.MarksOf(ctx, in, key)
		for i := range answer.Parts {
			answer.Parts[i].Seal = sealed.Seal(answer.Parts[i].ID)
		}
		return answer, err
	}
}

type stored struct {
	in    store.Store
	key   store.Key
	tools *tools.Taxonomy
}

func (s stored) search(ctx context.Context, a Asked) (Answer, error) {
	q := search.Query{Words: a.Query, Limit: a.Limit, Tokens: a.Tokens}
	found, err := journal.SearchRemoved(ctx, s.in, s.key, s.tools, q)
	return Placed(found), err
}

// Placed is what was found in a session of a store, with the ids that [Stored] knows.
func Placed(found search.Found) Answer {
	return Answered(found, func(entry string, block int) (id, seal string, ok bool) {
		return blockID(entry, block), "", true
	})
}

func blockID(entry string, block int) string { return entry + "." + strconv.Itoa(block) }

// read returns what has an id: of a call its results alone, of an entry everything that is text.
func (s stored) read(ctx context.Context, id string) ([]Part, error) {
	all, err := journal.Read(ctx, s.in, s.key)
	if err != nil {
		return nil, err
	}
	var marked journal.Marks
	if journal.IsID(id) {
		if marked, err = journal.MarksOf(ctx, s.in, s.key); err != nil {
			return nil, err
		}
	}
	entry, number, _ := strings.Cut(id, ".")
	var results, blocks []search.Place
	for _, e := range all.Added {
		for j, b := range e.Content.Blocks {
			at := search.Place{Entry: e.ID, Block: j}
			r, isResult := b.(content.ToolResponse)
			switch {
			case isResult && r.CallID == id, marked.Key != nil && marked.ID(b) == id:
				results = append(results, at) // the entry may have those of other calls too
			case search.Text(b) != "" && (e.ID == id || e.ID == entry && strconv.Itoa(j) == number):
				blocks = append(blocks, at)
			}
		}
	}
	if results != nil {
		blocks = results
	}
	var parts []Part
	for _, at := range blocks {
		p, err := journal.Lines(ctx, s.in, s.key, s.tools, at.Entry, at.Block, 1, math.MaxInt)
		if errors.Is(err, journal.ErrNotRecorded) {
			continue
		}
		if err != nil {
			return nil, err
		}
		parts = append(parts, Part{Passage: p, ID: blockID(at.Entry, at.Block)})
	}
	return parts, nil
}
