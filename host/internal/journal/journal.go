package journal

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/thresh-dev/thresh/host/internal/history"
	"github.com/thresh-dev/thresh/host/internal/journal/sessionlog"
	"github.com/thresh-dev/thresh/host/internal/store"
	"github.com/thresh-dev/thresh/host/internal/todos"
	"github.com/thresh-dev/thresh/host/internal/tokens"
	"github.com/thresh-dev/thresh/host/internal/transcriptlog"
	"github.com/thresh-dev/thresh/sdk"
	"github.com/thresh-dev/thresh/sdk/content"
)

// Session is what a journal belongs to: it has what a session remembers besides its history. The journal calls it with
// its own lock held, so a Session must not call the journal back; only Counter, Todos and Release are also called
// without.
type Session interface {
	// Remembers returns what the session remembers.
	Remembers() Memory
	// Adopt replaces it. If a setting in it no longer holds it returns an error and changes nothing. reopened: it is of
	// another time, perhaps under other settings.
	Adopt(m Memory, reopened bool) error
	// Counter is what the session's entries are counted with; Count replaces it.
	Counter() *tokens.Counter
	Count(with *tokens.Counter)
	// Todos takes the agent's unfinished tasks, as they were read from its calls.
	Todos(list []sdk.Todo)
	// Release drops what the session remembers from memory: the journal reads it again.
	Release()
	// End ends the session: it was closed or deleted, or a method panicked.
	End()
}

// Memory is what a session remembers besides its history, with the views that the state names by their place.
type Memory struct {
	sessionlog.State
	SentView, LastView history.View
	// Read are the unfinished tasks, as they were read from the agent's calls. They are in force unless State.TodosSet.
	Read []sdk.Todo
}

// Journal is what one session writes and reads again: its entries and their rewrites, and what the session remembers.
// It has the session's history. Methods are safe for concurrent use; none waits for a turn.
//
// Everything is written before it takes effect in memory, and an append takes place only if this host has seen the
// whole log. So memory is always what the log says up to [seen.at]. Without a store, a journal only keeps the order.
type Journal struct {
	keeper  *Keeper
	store   store.Store // nil without one
	key     store.Key
	session Session
	done    context.Context // ends with the session
	history *history.History

	// writing keeps log and store in the order of the history, and the session's counter unchanged while entries are
	// appended. It is held while the store works, and guards the fields up to the next group.
	writing   sync.Mutex
	log       *transcriptlog.Log // what was added, for people; nil without transcript.dir
	tasks     todos.Tracker      // reads the agent's task list from added entries
	additions additions
	own       ownAdditions
	seen      seen

	// For releasing memory: see idle.go.
	using    atomic.Int32 // calls in progress
	used     atomic.Int64 // when the last call ended, in Unix nanoseconds
	bytes    atomic.Int64 // what the session takes in memory, about
	released atomic.Bool

	// For the index of what was removed.
	grown    atomic.Int64 // tokens added since it was caught up, about
	indexing atomic.Bool
}

// seen is a session's place in the store, as far as this host has seen the log.
type seen struct {
	at store.Position
	// exists is false until something is written: a session that is opened and never used leaves nothing behind.
	// created tells it from a later one of the same name.
	exists  bool
	created time.Time
	// origin is what a session that does not exist yet was forked from.
	origin store.Origin
	// unsure is set after an error: the write may have taken place. lost are the tags of such writes until the log
	// says. The transcript log lacks what they added.
	unsure             bool
	lost               []uint64
	groups             sessionlog.Groups // the session's state as the log has it
	sentView, lastView history.View
	since              int    // records since the last snapshot
	holder             string // while this host has the lease: rewrites must be written under it
}

// New makes the journal of a session that has nothing yet, and reads nothing: [Journal.Open] does. done ends with the
// session.
func (k *Keeper) New(done context.Context, key store.Key, s Session) *Journal {
	j := &Journal{keeper: k, store: k.Store, key: key, session: s, done: done, history: history.New()}
	j.seen.groups = sessionlog.Groups{}
	return j
}

// History is the session's history. Only the journal changes it.
func (j *Journal) History() *history.History { return j.history }

// Open reads the session from the store, or begins it as a fork if it is not there.
func (j *Journal) Open(ctx context.Context, f *Fork) (found, forked bool, err error) {
	if j.store == nil {
		return false, false, nil
	}
	j.keeper.enter(j)
	j.writing.Lock()
	defer j.writing.Unlock()
	found, err = j.load(ctx)
	if err == nil && !found && f != nil {
		forked, err = j.fork(ctx, *f)
	}
	return found, forked, err
}

// Transcribe opens the transcript log, before anything is added. system is the session's system prompt, and forked says
// that the log begins with the entries of the parent.
func (j *Journal) Transcribe(ctx context.Context, dir, name string, system []content.Block, forked bool) error {
	log, err := transcriptlog.Open(dir, name)
	if err != nil {
		return j.wrong(err)
	}
	j.writing.Lock()
	j.log = log
	j.writing.Unlock()
	// A new file begins with the prompt that its entries were added under.
	if len(system) > 0 { // of a session that goes on
		log.SetSystem(system)
	}
	if !forked {
		return nil
	}
	all, err := Read(ctx, j.store, j.key) // its transcript is whole, as that of its parent
	for _, e := range all.Added {
		log.Add(e.ID, e.Content)
	}
	return err
}

// TranscriptPath returns the path of the transcript log, or "" without one.
func (j *Journal) TranscriptPath() string { return j.log.Path() }

// SetSystem writes a system prompt to the transcript log. It is for the function that [Journal.Change] calls.
func (j *Journal) SetSystem(system []content.Block) {
	j.log.SetSystem(system)
	_ = j.log.Flush() // tried again, as for entries: see take
}

// Flush writes what the transcript log lacks.
func (j *Journal) Flush() error {
	if err := j.log.Flush(); err != nil {
		return fmt.Errorf("session %q: %w (nothing was lost; make room or change transcript.dir)", j.key.ID, err)
	}
	return nil
}

// Close ends the session, unless the transcript log cannot be written: then the error wraps a
// *transcriptlog.UnwrittenError, and Close can be called again. The store has nothing to lose, because each change was
// written to it. An addition in progress is either in the log before it is closed, or fails.
func (j *Journal) Close() error {
	j.writing.Lock()
	defer j.writing.Unlock()
	if j.done.Err() == nil {
		if err := j.log.Flush(); err != nil {
			return fmt.Errorf("close session %q: %w (it stays open: make room and close it again)", j.key.ID, err)
		}
	}
	j.session.End()
	return j.closeLog()
}

// CloseLog closes the transcript log of a session that has ended. After an error it can be called again.
func (j *Journal) CloseLog() error {
	j.writing.Lock()
	defer j.writing.Unlock()
	return j.closeLog()
}

func (j *Journal) closeLog() error {
	if err := j.log.Close(); err != nil {
		return j.wrong(err)
	}
	return nil
}

// Position returns the revision of the session's log as this host knows it; 0 without a store.
func (j *Journal) Position() uint64 {
	j.writing.Lock()
	defer j.writing.Unlock()
	return j.seen.at.Revision
}

// wrong says which session an error is about.
func (j *Journal) wrong(err error) error { return fmt.Errorf("session %q: %w", j.key.ID, err) }

// busy is for a session that other hosts keep writing to.
func (j *Journal) busy(what string) error { return j.failed(what, ErrBusy) }

// failed returns why a method cannot be carried out.
func (j *Journal) failed(what string, why error) error {
	return fmt.Errorf("%s: session %q: %w", what, j.key.ID, why)
}

// remembers is what the session remembers, with what the journal knows of it.
func (j *Journal) remembers() Memory {
	m := j.session.Remembers()
	m.Read = todos.Active(j.tasks.Todos())
	return m
}

// sending returns the entries that the model has or gets next: those of the last view and what was added since; before
// the first, all.
func (j *Journal) sending() searched {
	j.writing.Lock()
	defer j.writing.Unlock()
	one := searched{key: j.key, until: j.seen.at.Revision, sent: j.history.Snapshot().Entries}
	if m := j.session.Remembers(); m.Last.Made {
		view, point := m.LastView, m.LastView.Point()
		before := len(j.history.SnapshotAt(&point).Entries)
		one.sent = slices.Concat(view.Entries, one.sent[before:])
	}
	return one
}
