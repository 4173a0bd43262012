package history

import (
	"context"

	"github.com/thresh-dev/thresh/sdk/content"
)

// Entry is one message of an owned history. It is immutable: a rewrite makes a new Entry, so holders of a snapshot can
// keep reading it.
type Entry struct {
	// ID is unique in its history and permanent; an entry whose blocks were edited keeps it. It is "" for an entry of a
	// plan that is not applied yet, or made for a view.
	ID      string
	Content content.Content
	Count
	// Refers says that it has marks which name the place where lines are instead.
	Refers bool
	// Was has for each block the sum of the result that it was before rewrites; the zero value for one that is as it was
	// added, is no result, or is too small to ask for. It is nil if there is none. See [Marker].
	Was []Sum
	// Stands has the sums of results that a strategy's line for calls stands for, the last [maxStands] of them.
	Stands []Sum
	// Place is where the entry is stored. The journal sets it before the entry is part of a history.
	Place Place
	// Unmarked is the history's own entry of one to which a view has added marks; nil for others.
	Unmarked *Entry
}

// Place is where a store has an entry. The zero value is nowhere.
type Place struct {
	// Record is the number of the record in the session's log, from 1.
	Record uint64
	Index  int
}

type Count struct {
	Tokens int
	// Blocks is the size of each block. Tokens is their sum plus what a provider puts around an entry. With it, an
	// edited entry can be counted without counting the blocks that it kept.
	Blocks []int32
}

// Counter counts entries, in their order. Its errors are ctx's and a broken tokenizer's.
type Counter func(ctx context.Context, entries []content.Content) ([]Count, error)

func contents(entries []*Entry) []content.Content {
	out := make([]content.Content, len(entries))
	for i, e := range entries {
		out[i] = e.Content
	}
	return out
}
