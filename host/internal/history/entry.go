package history

import (
	"context"

	"github.com/thresh-dev/thresh/sdk/content"
)

// Entry is one record of an owned history. It is never changed once it is in: a rewrite makes a new Entry, so that
// whoever holds a snapshot may go on reading it.
type Entry struct {
	// ID is unique in its history and stays for as long as the entry lives; an entry whose blocks were edited keeps it.
	ID      string
	Content content.Content
	// Count is what the host's tokenizer counted when the entry came in.
	Count
}

// Count is what an entry counts, in tokens.
type Count struct {
	// Tokens is what the whole entry counts.
	Tokens int
	// Blocks is what each block counts; Tokens is more by what a provider puts around an entry. An edited entry is then
	// counted without looking at the blocks that it kept.
	Blocks []int32
}

// Counter counts entries, one count for each.
type Counter func(ctx context.Context, entries []content.Content) ([]Count, error)

// contents returns the entries' contents, in order.
func contents(entries []*Entry) []content.Content {
	out := make([]content.Content, len(entries))
	for i, e := range entries {
		out[i] = e.Content
	}
	return out
}
