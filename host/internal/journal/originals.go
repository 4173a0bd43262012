package journal

import (
	"context"
	"errors"
	"fmt"

	"github.com/thresh-dev/thresh/host/internal/store"
	"github.com/thresh-dev/thresh/host/internal/transcriptlog"
	"github.com/thresh-dev/thresh/sdk/content"
)

// Originals returns what was added under an id, before strategies changed it: the entry with that id (as outcomes and
// the placeholders of removed results name it), the result with the id of a mark or, if there is none, the entries with
// the tool call of that id and its responses.
//
// It reads the transcript log or, without one, the store. The error wraps [ErrNoTranscript] if there is neither, and
// [ErrNotRecorded] if the id is not known.
func (j *Journal) Originals(ctx context.Context, id string) ([]content.Content, error) {
	switch {
	case j.store != nil && (j.log == nil || IsID(id)):
		return j.storedOriginals(ctx, id)
	case j.log == nil:
		return nil, j.wrong(ErrNoTranscript)
	}
	if err := j.Flush(); err != nil && j.done.Err() == nil {
		return nil, err
	}
	out, unread, err := transcriptlog.Find(ctx, j.TranscriptPath(), id)
	switch {
	case err != nil:
		return nil, j.wrong(err)
	case out == nil && unread > 0:
		return nil, fmt.Errorf("%w (%d lines of the transcript could not be read)", j.notRecorded(id), unread)
	case out == nil:
		return nil, j.notRecorded(id)
	}
	return out, nil
}

func (j *Journal) storedOriginals(ctx context.Context, id string) ([]content.Content, error) {
	found, err := Find(ctx, j.store, j.key, id)
	switch {
	case err != nil && !errors.Is(err, store.ErrNotFound): // nothing was added yet
		return nil, j.wrong(err)
	case found == nil:
		return nil, j.notRecorded(id)
	}
	return found, nil
}

func (j *Journal) notRecorded(id string) error {
	return j.wrong(fmt.Errorf("%q: %w", id, ErrNotRecorded))
}
