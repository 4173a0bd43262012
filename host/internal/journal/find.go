package journal

import (
	"context"

	"github.com/thresh-dev/thresh/host/internal/store"
	"github.com/thresh-dev/thresh/host/internal/transcriptlog"
	"github.com/thresh-dev/thresh/sdk/content"
)

// Find returns what was added under an id to a session of a store, before strategies changed it: the entry with that
// id, the result with the id of a mark or, if there is none, the entries with the tool call of that id and its responses;
// nil if there is nothing. The error wraps [store.ErrNotFound] if there is no such session.
func Find(ctx context.Context, in store.Store, key store.Key, id string) (ofCall []content.Content, err error) {
	if _, err := in.Head(ctx, key); err != nil {
		return nil, err
	}
	var marked Marks
	if IsID(id) {
		if marked, err = MarksOf(ctx, in, key); err != nil {
			return nil, err
		}
	}
	r := logReader{in: in, key: key}
	for step, err := range r.read(ctx, store.Choice{Kinds: []store.Kind{store.Added}}) {
		if err != nil {
			return nil, err
		}
		for _, e := range step.added.Entries {
			if e.ID == id {
				return []content.Content{e.Content}, nil
			}
			for _, b := range e.Content.Blocks {
				if marked.Key != nil && marked.ID(b) == id {
					return []content.Content{{Speaker: e.Content.Speaker, Blocks: []content.Block{b}}}, nil
				}
			}
			if transcriptlog.Holds(e.Content, id) {
				ofCall = append(ofCall, e.Content)
			}
		}
	}
	return ofCall, nil
}
