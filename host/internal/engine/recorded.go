package engine

import (
	"errors"
	"fmt"

	"github.com/thresh-dev/thresh/host/internal/transcript"
	"github.com/thresh-dev/thresh/host/internal/transcriptlog"
	"github.com/thresh-dev/thresh/sdk/content"
)

// Errors of [Session.Recorded], for errors.Is.
var (
	ErrNoTranscript = errors.New("the session keeps no transcript (setting transcript.dir)")
	ErrNotRecorded  = errors.New("nothing was added under this id")
)

// Recorded returns what was added under an id, word for word, whatever strategies made of it since: the entry with that id
// (as outcomes and the texts that stand in the place of removed results name it), or else the tool call with that id and its
// responses. It reads the transcript; the error wraps [ErrNoTranscript] if the session keeps none, [ErrNotRecorded] for an
// unknown id.
func (s *Session) Recorded(id string) ([]content.Content, error) {
	if s.journal == nil {
		return nil, fmt.Errorf("session %q: %w", s.id, ErrNoTranscript)
	}
	if err := s.keep(); err != nil && s.done.Err() == nil {
		return nil, err
	}
	t, err := transcript.ReadFile(s.TranscriptPath(), transcript.Options{AllowPartialLine: true})
	if err != nil {
		return nil, fmt.Errorf("session %q: %w", s.id, err)
	}
	var out []content.Content
	for _, i := range transcriptlog.NewKept(t).Find(id) {
		out = append(out, t.Entries[i])
	}
	if out == nil {
		return nil, fmt.Errorf("session %q: %q: %w", s.id, id, ErrNotRecorded)
	}
	return out, nil
}
