package engine

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/thresh-dev/thresh/host/config"
	"github.com/thresh-dev/thresh/host/internal/history"
	"github.com/thresh-dev/thresh/host/internal/prepare"
	"github.com/thresh-dev/thresh/host/internal/sessionlog"
	"github.com/thresh-dev/thresh/host/internal/store"
	"github.com/thresh-dev/thresh/host/internal/todos"
	"github.com/thresh-dev/thresh/host/internal/tokens"
	"github.com/thresh-dev/thresh/host/internal/transcriptlog"
	"github.com/thresh-dev/thresh/sdk"
	"github.com/thresh-dev/thresh/sdk/content"
	"github.com/thresh-dev/thresh/sdk/tools"
)

// Session is one conversation. It owns the history: what Prepare returns and what was added must not be changed
// afterwards.
//
// Locks are taken in this order: adding, then mu. The turn's own lock is inside prepare.Pipeline, so Add never waits
// for a turn. Methods are safe for concurrent use. Each that touches the history begins with [Session.enter], which
// reads a released session again; after Close they fail with [ErrClosed].
type Session struct {
	host    *Host
	key     store.Key
	history *history.History
	done    context.Context // ends with the session
	end     context.CancelFunc

	// log is for people; it holds what was added, before strategies changed it. stored is what a host reads to continue
	// the session.
	log *transcriptlog.Log // nil without transcript.dir

	// adding keeps the log and the store in the order of the history, and the counter unchanged while entries are
	// appended. It guards tasks, which reads the agent's task list from added entries, stored, additions and own.
	adding    sync.Mutex
	tasks     todos.Tracker
	stored    *stored // nil without a store
	additions additions
	own       own

	// For releasing memory: see idle.go.
	using    atomic.Int32 // calls in progress
	used     atomic.Int64 // when the last call ended, in Unix nanoseconds
	bytes    atomic.Int64 // what the session takes in memory, about
	released atomic.Bool

	// For the index of what was removed: see indexing.go.
	grown    atomic.Int64 // tokens added since it was caught up, about
	indexing atomic.Bool

	// mu is not held while a strategy, a model or a store works.
	mu       sync.Mutex // guards the fields below
	counter  *tokens.Counter
	pipeline *prepare.Pipeline
	config   *config.Config
	taxonomy *tools.Taxonomy
	todos    []sdk.Todo // the unfinished ones
	told     bool       // the agent set its task list itself: what is read from its tool calls no longer counts
	warned   map[string]bool

	system       []content.Block // is kept separate from the history
	systemTokens int

	// What the agent was last told to send.
	last   history.View // of the last Prepare
	viewed bool         // there was one
	sent   int          // its tokens, pending ones included

	overrides map[string]json.RawMessage // the session's own settings, as JSON
	by        config.Setter              // who has set them, as last looked up
	refused   map[string]string          // why some of them are not in force
}

// newSession makes an empty session, and reads nothing from the store.
func newSession(h *Host, key store.Key, by config.Setter, settings map[string]any, c *config.Config) (*Session, error) {
	set := c.Settings()
	if _, err := h.prices.choose(set); err != nil {
		return nil, err
	}
	counter, err := tokens.For(set.Model.Name, set.Model.Encoding)
	if err != nil {
		return nil, err
	}
	s := &Session{host: h, key: key, history: history.New(), counter: counter, config: c, by: by,
		overrides: map[string]json.RawMessage{}}
	for setting, value := range settings {
		if value == nil {
			continue
		}
		if s.overrides[setting], err = overrideValue(value); err != nil {
			return nil, fmt.Errorf("%s: %w: %w", setting, ErrBadSetting, err)
		}
	}
	s.pipeline = prepare.New(s.name(), s.history, counting{counter})
	// From other sessions of the host, so the first turn is not the worst.
	s.pipeline.StartFrom(h.calibrations.of(calibrated{key.Owner, set.Model.Name}))
	s.done, s.end = context.WithCancel(context.Background())
	if s.taxonomy, err = h.taxonomyOf(set); err != nil {
		return nil, err
	}
	if h.store != nil {
		s.stored = &stored{store: h.store, key: key, groups: sessionlog.Groups{}}
	}
	return s, nil
}

// begin reads the session from the store, and then opens its transcript log, whose place settings from the store
// decide. A stored session gets the settings that it was not opened with before.
func (s *Session) begin(ctx context.Context, o SessionOptions) error {
	found, forked := false, false
	if s.stored != nil {
		own := s.overrides
		var err error
		if found, forked, err = s.restore(ctx, o.Fork); err != nil {
			return err
		}
		if found || forked {
			if err := s.resume(ctx, o.Settings, own); err != nil {
				return err
			}
		}
	}
	if o.Existing && !found {
		return fmt.Errorf("session %q: %w", s.key.ID, ErrNoSession)
	}
	leave, err := s.enter() // counts its memory
	leave()
	if err != nil {
		return err
	}
	dir := s.Config().Settings().Transcript.Dir
	if dir == "" {
		return nil
	}
	if s.log, err = transcriptlog.Open(dir, s.name()); err != nil {
		return fmt.Errorf("session %q: %w", s.key.ID, err)
	}
	// A new file begins with the prompt that its entries were added under.
	system, err := s.System()
	if err != nil {
		return err
	}
	if len(system) > 0 { // of a session that goes on
		s.log.SetSystem(system)
	}
	if forked { // its transcript is whole, as that of its parent
		all, err := ReadRecorded(ctx, s.stored.store, s.stored.key)
		for _, e := range all.Added {
			s.log.Add(e.ID, e.Content)
		}
		return err
	}
	return nil
}

// restore reads the session from the store, or begins it as a fork if it is not there.
func (s *Session) restore(ctx context.Context, f *Fork) (found, forked bool, err error) {
	s.adding.Lock()
	defer s.adding.Unlock()
	found, err = s.load(ctx)
	if err == nil && !found && f != nil {
		forked, err = s.fork(ctx, *f)
	}
	return found, forked, err
}

// resume sets the settings that a session is reopened with, except unchanged ones: setting one makes turns forget what
// they learned.
func (s *Session) resume(ctx context.Context, settings map[string]any, own map[string]json.RawMessage) error {
	for _, key := range slices.Sorted(maps.Keys(settings)) {
		s.mu.Lock()
		same := bytes.Equal(s.overrides[key], own[key])
		s.mu.Unlock()
		if same {
			continue
		}
		if err := s.Set(ctx, key, settings[key]); err != nil {
			return fmt.Errorf("open session %q: %w", s.key.ID, err)
		}
	}
	return nil
}

func (s *Session) ID() string { return s.key.ID }

// name is unique in the host, where ids are unique per owner: for plugins and files.
func (s *Session) name() string {
	if s.key.Owner == "" {
		return s.key.ID
	}
	return s.key.Owner + "/" + s.key.ID
}

// SetTodos replaces the agent's task list. Strategies that summarise get the unfinished tasks, so a summary keeps why
// each exists. Until it is called, the session reads the list from calls of known tools.
func (s *Session) SetTodos(ctx context.Context, list []sdk.Todo) error {
	if err := todos.Check(list); err != nil {
		return fmt.Errorf("session %q: %w", s.key.ID, err)
	}
	list = todos.Active(list)
	return s.change(ctx, "set the task list", func() error {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.todos, s.told = list, true
		return nil
	})
}

// TranscriptPath returns the path of the transcript log, or "" without the setting transcript.dir.
func (s *Session) TranscriptPath() string { return s.log.Path() }

// History returns the owned history, including what is not sent to a model. It must not be changed.
//
// The error, here and of all that reads a session, says that the store did not give back what was released from memory.
func (s *Session) History() (history.Snapshot, error) { return s.HistoryAt(nil) }

// HistoryAt is History without what was added after a mark; a nil mark is now.
func (s *Session) HistoryAt(m *history.Mark) (history.Snapshot, error) {
	leave, err := s.enter()
	defer leave()
	if err != nil {
		return history.Snapshot{}, err
	}
	return s.history.SnapshotAt(m), nil
}

// Size returns the size of the history without what was added after a mark; a nil mark is now. It takes the same time
// for any history.
func (s *Session) Size(m *history.Mark) (revision uint64, tokens, entries int, err error) {
	h, err := s.HistoryAt(m)
	return h.Revision, h.Tokens, len(h.Entries), err
}

// currentCounter returns the counter in force. Set may replace it until something was added.
func (s *Session) currentCounter() *tokens.Counter {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.counter
}

func (s *Session) closedError(what string) error {
	return fmt.Errorf("%s: session %q: %w", what, s.key.ID, ErrClosed)
}

// untilClosed returns a context that ends with ctx and with the session, which then is the cause (ErrClosed).
func (s *Session) untilClosed(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(s.done, func() { cancel(s.closedError("work")) })
	return ctx, func() { stop(); cancel(nil) }
}

func (s *Session) flush() error {
	if err := s.log.Flush(); err != nil {
		return fmt.Errorf("session %q: %w (nothing was lost; make room or change transcript.dir)", s.key.ID, err)
	}
	return nil
}

// Closed says whether the session has ended: closed, deleted by another host, or given up after a panic.
func (s *Session) Closed() bool { return s.done.Err() != nil }

// Close closes the session; a Prepare in progress fails. If the transcript log cannot be written, the session stays
// open and the error wraps a *transcriptlog.UnwrittenError: call Close again when there is room. The store has nothing
// to lose, because each change was written to it.
func (s *Session) Close() error {
	s.adding.Lock() // an Add in progress is either in the log before it is closed, or fails
	defer s.adding.Unlock()
	if s.done.Err() == nil {
		if err := s.log.Flush(); err != nil {
			return fmt.Errorf("close session %q: %w (it stays open: make room and close it again)", s.key.ID, err)
		}
	}
	// In this order: calls end, the host no longer finds the session, and then plugins drop what they keep of it.
	s.end()
	s.host.forget(s)
	s.host.plugins.EndSession(s.name())
	return s.closeLog()
}

func (s *Session) closeLog() error {
	if err := s.log.Close(); err != nil {
		return fmt.Errorf("session %q: %w", s.key.ID, err)
	}
	return nil
}
