package journal

import (
	"context"
	"errors"
	"slices"

	"github.com/thresh-dev/thresh/host/internal/history"
	"github.com/thresh-dev/thresh/host/internal/journal/sessionlog"
	"github.com/thresh-dev/thresh/host/internal/todos"
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
	contents := slices.Clone(a.Entries) // the caller may change its slices afterwards; texts and raw JSON are shared
	for i := range contents {
		contents[i].Blocks = slices.Clone(contents[i].Blocks)
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
	if len(contents) == 0 {
		now := j.history.Snapshot()
		return now.Revision, now.Tokens, nil
	}
	for range MaxTries {
		// Each time, because another host may have added it.
		switch done, err := j.additions.find(a.Once); {
		case err != nil:
			return 0, 0, err
		case done != nil:
			return done.Revision, done.Tokens, nil
		}
		entries := j.history.New(contents, a.Counts)
		n, err := j.writeAdded(ctx, entries, a.Once)
		if unknown, ok := errors.AsType[*UnknownError](err); ok {
			unknown.Repeatable = a.Once != nil
		}
		switch {
		case err != nil:
			return 0, 0, err
		case n.own: // the store had them already, and they were read from there
			now := j.history.Snapshot()
			return now.Revision, now.Tokens, nil
		case !n.moved:
			revision, total = j.take(entries, a.Once, true)
			return revision, total, nil
		}
	}
	return 0, 0, j.busy("add")
}

// take takes written entries into memory. mine are those that this host has added: they are in its transcript log.
func (j *Journal) take(entries []*history.Entry, once *sessionlog.Once, mine bool) (revision uint64, total int) {
	if mine {
		j.own.adds(j.history.Point())
	}
	tasks := false
	for _, e := range entries {
		if mine {
			j.log.Add(e.ID, e.Content)
			j.grown.Add(int64(e.Tokens))
		}
		tasks = j.tasks.Observe(e.Content) || tasks
	}
	revision, total = j.history.AppendEntries(entries)
	j.additions.took(once, revision, total)
	if tasks {
		j.session.Todos(todos.Active(j.tasks.Todos()))
	}
	if mine {
		// What could not be written is kept and tried again. The next Prepare or Close fails if it still cannot be
		// written.
		_ = j.log.Flush()
	}
	return revision, total
}
