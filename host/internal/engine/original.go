package engine

import (
	"context"
	"fmt"

	"github.com/thresh-dev/thresh/host/internal/store"
	"github.com/thresh-dev/thresh/host/internal/transcriptlog"
	"github.com/thresh-dev/thresh/sdk/content"
)

// Originals returns what was added under an id, before strategies changed it: the entry with that id (as outcomes and
// the placeholders of removed results name it) or, if there is none, the entries with the tool call of that id and its
// responses.
//
// It reads the transcript log or, without one, the store. The error wraps [ErrNoTranscript] if there is neither, and
// [ErrNotRecorded] if the id is not known.
func (s *Session) Originals(ctx context.Context, id string) ([]content.Content, error) {
	switch {
	case s.log == nil && s.stored != nil:
		return s.storedOriginals(ctx, id)
	case s.log == nil:
		return nil, fmt.Errorf("session %q: %w", s.key.ID, ErrNoTranscript)
	}
	if err := s.flush(); err != nil && s.done.Err() == nil {
		return nil, err
	}
	out, unread, err := transcriptlog.Find(ctx, s.TranscriptPath(), id)
	switch {
	case err != nil:
		return nil, fmt.Errorf("session %q: %w", s.key.ID, err)
	case out == nil && unread > 0:
		return nil, fmt.Errorf("session %q: %q: %w (%d lines of the transcript could not be read)",
			s.key.ID, id, ErrNotRecorded, unread)
	case out == nil:
		return nil, fmt.Errorf("session %q: %q: %w", s.key.ID, id, ErrNotRecorded)
	}
	return out, nil
}

func (s *Session) storedOriginals(ctx context.Context, id string) ([]content.Content, error) {
	found, err := recorded(ctx, s.stored.store, s.key, id)
	switch {
	case err != nil:
		return nil, s.storeError(err)
	case found == nil:
		return nil, fmt.Errorf("session %q: %q: %w", s.key.ID, id, ErrNotRecorded)
	}
	return found, nil
}

// FindRecorded is [Session.Originals] for a session of a store, without a host; nil if there is nothing.
func FindRecorded(ctx context.Context, in store.Sessions, key store.Key, id string) ([]content.Content, error) {
	if _, err := in.Head(ctx, key); err != nil {
		return nil, err
	}
	return recorded(ctx, in, key, id)
}

// recorded finds what was added under an id to one session, or nil.
func recorded(
	ctx context.Context, in store.Sessions, key store.Key, id string,
) (ofCall []content.Content, err error) {
	r := logReader{in: in, key: key}
	for step, err := range r.read(ctx, store.Choice{Kinds: []store.Kind{store.Added}}) {
		if err != nil {
			return nil, err
		}
		for _, e := range step.added.Entries {
			if e.ID == id {
				return []content.Content{e.Content}, nil
			}
			if transcriptlog.Holds(e.Content, id) {
				ofCall = append(ofCall, e.Content)
			}
		}
	}
	return ofCall, nil
}
