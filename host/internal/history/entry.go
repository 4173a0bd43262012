package history

import (
	"context"

	"github.com/thresh-dev/thresh/sdk/content"
)

// Entry is one message of an owned history, with its identity and its count. It is immutable: a rewrite makes a new
// Entry, so that holders of a snapshot can keep reading it.
type Entry struct {
	// ID is unique in its history and permanent. An entry whose blocks were edited keeps it. "" marks an entry that
	// was made by a plan that is not applied yet, or for a view.
	ID      string
	Content content.Content
	// Count is what the host's tokenizer counted when the entry was added.
	Count
	// Refers says that it has marks which name the place where lines stand instead.
	Refers bool
	// Place is where the entry is stored. The engine sets it before the entry is part of a history.
	Place Place
}

// Place is where a store has an entry. The zero value is nowhere.
type Place struct {
	// Record is the number of the record in the session's log, from 1 on.
	Record uint64
	// Index is the position among the entries of the record.
	Index int
}

// Count is the size of an entry, in tokens.
type Count struct {
	// Tokens is the size of the whole entry.
	Tokens int
	// Blocks is the size of each block. Tokens is their sum plus what a provider puts around an entry. With it, an
	// edited entry can be counted without counting the blocks that it kept.
	Blocks []int32
}

// Counter counts entries and returns one Count for each. Its errors are those of ctx and of a tokenizer that is
// broken.
type Counter func(ctx context.Context, entries []content.Content) ([]Count, error)

// contents returns the entries' contents, in order.
func contents(entries []*Entry) []content.Content {
	out := make([]content.Content, len(entries))
	for i, e := range entries {
		out[i] = e.Content
	}
	return out
}
