package journal

import (
	"context"
	"errors"
	"slices"

	"github.com/thresh-dev/thresh/host/internal/history"
	"github.com/thresh-dev/thresh/host/internal/journal/sessionlog"
	"github.com/thresh-dev/thresh/host/internal/tokens"
	"github.com/thresh-dev/thresh/sdk/content"
)

// Addition is what is added together.
type Addition struct {
	Entries []content.Content
	// Counts are the entries' counts by Counter. Recount counts them again, if the session counts otherwise by now.
	Counts  []history.Count
	Counter *tokens.Counter
	Recount func(context.Context, *tokens.Counter) ([]history.Count, error)
	// Once is the addition's key; nil is none.
	Once *sessionlog.Once
}

// Append adds entries to the store, if there is one, and then to the history and the transcript log, in the same order.
// It returns the history's revision and its tokens: for an addition that took place before under its key, those of the
// first time.
func (j *Journal) Append(ctx context.Context, a Addition) (revision uint64, total int, err error) {
	own := make([]content.Content, len(a.Entries))
	for i, c := range a.Entries {
		// The caller may change its slice afterwards. Texts and raw JSON are shared.
		c.Blocks = slices.Clone(c.Blocks)
		own[i] = c
	}
	j.writing.Lock()
	defer j.writing.Unlock()
	if j.done.Err() != nil { // closed while they were counted: the transcript log takes nothing more
		return 0, 0, j.failed("add", ErrClosed)
	}
	if now := j.session.Counter(); now.Encoding() != a.Counter.Encoding() { // Set replaced it while they were counted
		if a.Counts, err = a.Recount(ctx, now); err != nil {
			return 0, 0, err
		}
	}
	if len(own) == 0 {
		now := j.history.Snapshot()
		return now.Revision, now.Tokens, nil
	}
	return j.add(ctx, own, a.Counts, a.Once)
}

func (j *Journal) add(ctx context.Context, own []content.Content, counts []history.Count, once *sessionlog.Once) (
	revision uint64, total int, err error) {
	for try := 0; ; try++ {
		// Each time, because another host may have added it.
		switch done, err := j.additions.find(once); {
		case err != nil:
			return 0, 0, err
		case done != nil:
			return done.Revision, done.Tokens, nil
		}
		entries := j.history.New(own, counts)
		n, err := j.storeAdded(ctx, entries, once)
		unknown := (*UnknownError)(nil)
		switch {
		case errors.As(err, &unknown):
			unknown.Repeatable = once != nil
			return 0, 0, err
		case err != nil:
			return 0, 0, err
		case n.own: // the store had them already, and they were read from there
			now := j.history.Snapshot()
			return now.Revision, now.Tokens, nil
		case n.moved && try < MaxTries: // behind what another host has added
			continue
		case n.moved:
			return 0, 0, j.busy("add")
		}
		j.transcribe(entries)
		j.own.adds(j.history.Mark())
		revision, total = j.history.AppendEntries(entries)
		for _, c := range counts {
			j.grown.Add(int64(c.Tokens))
		}
		j.additions.took(once, revision, total)
		j.follow(entries)
		// What could not be written is kept and tried again. The next Prepare or Close fails if it still cannot be
		// written.
		_ = j.log.Flush()
		return revision, total, nil
	}
}

func (j *Journal) transcribe(entries []*history.Entry) {
	for _, e := range entries {
		j.log.Add(e.ID, e.Content)
	}
}
