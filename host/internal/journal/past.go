package journal

import (
	"context"

	"github.com/thresh-dev/thresh/host/internal/history"
	"github.com/thresh-dev/thresh/host/internal/journal/sessionlog"
	"github.com/thresh-dev/thresh/host/internal/search"
	"github.com/thresh-dev/thresh/host/internal/store"
	"github.com/thresh-dev/thresh/sdk/content"
	"github.com/thresh-dev/thresh/sdk/tools"
)

// Past is a conversation of the past that can be searched. It belongs to one goroutine.
type Past struct {
	// Store has what was added, in the session Key.
	Store store.Store
	store.Key
	tools   *tools.Taxonomy
	history *history.History
	at      store.Position
}

// NewPast returns a conversation with nothing in it yet.
func NewPast(ctx context.Context, t *tools.Taxonomy) (*Past, error) {
	p := &Past{Store: store.NewMemory(), Key: store.Key{ID: "past"}, tools: t, history: history.New()}
	head, err := p.Store.Create(ctx, p.Key, store.Origin{})
	p.at.Fence = head.Fence
	return p, err
}

// Add adds the next entries, with the ids that they had in a session.
func (p *Past) Add(ctx context.Context, entries []content.Content) error {
	counts := make([]history.Count, len(entries)) // nobody needs them, but records have one for each block
	for i, c := range entries {
		counts[i].Blocks = make([]int32, len(c.Blocks))
	}
	added := p.history.New(entries, counts)
	p.history.AppendEntries(added)
	records := make([]store.Record, len(added))
	for i, e := range added {
		records[i] = sessionlog.Added{Entries: []*history.Entry{e}}.Later()
	}
	head, err := p.Store.Append(ctx, p.Key, p.at, store.Change{Records: records})
	p.at.Revision = head.Revision
	return err
}

// Search finds what was added so far and is not in what was left of it.
func (p *Past) Search(ctx context.Context, left []content.Content, q search.Query) (search.Found, error) {
	one := searched{key: p.Key, all: true}
	for _, c := range left {
		one.texts = append(one.texts, search.Texts(c)...)
	}
	return searchOne(ctx, p.Store, one, p.tools, q)
}
