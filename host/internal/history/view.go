package history

import (
	"bytes"
	"slices"

	"github.com/thresh-dev/thresh/host/outcome"
	"github.com/thresh-dev/thresh/sdk/content"
)

// View is a history that is safe to send: providers refuse a request with a blank entry, with a response that answers
// no call, or with an unanswered call. A view has none of these, except for calls at its end that still wait for
// their responses.
type View struct {
	// Entries are those of the history and those made for the view. An entry made to answer a call has no ID.
	Entries []*Entry
	Tokens  int
	// Pending are the ids of calls at the end that wait for their responses. The agent must add these before it sends.
	Pending []string
	// Problems are the places where the view differs from the history.
	Problems []outcome.Problem
	// Revision and Epoch are those of the history when the view was made, Owned its number of entries then, and
	// OwnedTokens their tokens.
	Revision, Epoch    uint64
	Owned, OwnedTokens int

	at                     Mark
	contents               []content.Content
	settled, settledTokens int // entries at the beginning that only a rewrite can change, and their tokens
}

// Mark returns the moment up to which the view was made. [History.ViewAt] makes the same view of it again, as long as the
// history is not rewritten.
func (v View) Mark() Mark { return v.at }

// Contents returns what is to be sent: the entries' contents, in order. They are shared and must not be changed. It is
// never nil, because a nil history tells an agent that its session is closed.
func (v View) Contents() []content.Content {
	if v.contents == nil {
		return []content.Content{}
	}
	return v.contents
}

// Shared returns how many entries at the beginning of v are the same as in an earlier view of the same history, and
// their tokens. Within an epoch it compares only what was not settled in the earlier view; after a rewrite, all of v.
func (v View) Shared(earlier View) (entries, tokens int) {
	if v.Epoch == earlier.Epoch {
		entries, tokens = earlier.settled, earlier.settledTokens
	}
	for ; entries < min(len(v.Entries), len(earlier.Entries)) &&
		same(v.Entries[entries], earlier.Entries[entries]); entries++ {
		tokens += v.Entries[entries].Tokens
	}
	return entries, tokens
}

// same reports whether two entries are sent alike. Entries made for a view are made again for the next, so pointers
// are not enough.
func same(a, b *Entry) bool {
	return a == b || a.ID == b.ID && a.Tokens == b.Tokens && a.Content.Speaker == b.Content.Speaker &&
		sameBlocks(a.Content.Blocks, b.Content.Blocks)
}

// sameBlocks compares blocks by their JSON, which is what providers see of them.
func sameBlocks(a, b []content.Block) bool {
	return slices.EqualFunc(a, b, func(x, y content.Block) bool {
		return bytes.Equal(content.AppendBlock(nil, x), content.AppendBlock(nil, y))
	})
}
