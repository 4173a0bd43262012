package window

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/thresh-dev/thresh/host/config"
	"github.com/thresh-dev/thresh/host/internal/history"
	"github.com/thresh-dev/thresh/host/internal/journal"
	"github.com/thresh-dev/thresh/host/internal/prepare"
	"github.com/thresh-dev/thresh/host/internal/store"
	"github.com/thresh-dev/thresh/host/internal/todos"
	"github.com/thresh-dev/thresh/host/internal/tokens"
	"github.com/thresh-dev/thresh/sdk"
	"github.com/thresh-dev/thresh/sdk/content"
	"github.com/thresh-dev/thresh/sdk/tools"
)

// Session is one conversation. It owns the history: what Prepare returns and what was added must not be changed
// afterwards. Methods are safe for concurrent use. Each that touches the history begins with [journal.Journal.Enter],
// which reads a released session again; after Close they fail with [journal.ErrClosed]. The package's comment has the
// order of the locks.
type Session struct {
	*journal.Journal // has the history
	host             *Host
	key              store.Key
	history          *history.History // the journal's
	done             context.Context  // ends with the session
	end              context.CancelFunc
	begun            bool // it was read; guarded by host.mu

	// mu is not held while a strategy, a model or a store works.
	mu       sync.Mutex // guards the fields below
	counter  *tokens.Counter
	pipeline *prepare.Pipeline
	config   *config.Config
	taxonomy *tools.Taxonomy
	todos    []sdk.Todo // the unfinished ones
	todosSet bool       // the agent set its task list itself: what is read from its tool calls no longer counts
	warned   map[string]bool

	system       []content.Block // is kept separate from the history
	systemTokens int

	// What the agent was last told to send.
	last   history.View // of the last Prepare
	viewed bool         // there was one
	sent   int          // its tokens, pending ones included

	digested *config.Config // of which digestOf is the digest
	digestOf []byte

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
	s := &Session{host: h, key: key, counter: counter, config: c, by: by, overrides: map[string]json.RawMessage{}}
	s.done, s.end = context.WithCancel(context.Background())
	s.Journal = h.keeper.New(s.done, key, remembered{s})
	s.history = s.Journal.History()
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
	if s.taxonomy, err = h.taxonomyOf(set); err != nil {
		return nil, err
	}
	return s, nil
}

// begin reads the session from the store, and then opens its transcript log, whose place settings from the store
// decide. A stored session gets the settings that it was not opened with before.
func (s *Session) begin(ctx context.Context, o Opening) error {
	own := s.overrides
	found, forked, err := s.Journal.Open(ctx, o.Fork)
	if err != nil {
		return err
	}
	if found || forked {
		if err := s.resume(ctx, o.Settings, own); err != nil {
			return err
		}
	}
	if o.Existing && !found {
		return s.wrong(journal.ErrNoSession)
	}
	leave, err := s.Enter() // counts its memory
	leave()
	if err != nil {
		return err
	}
	dir := s.Config().Settings().Transcript.Dir
	if dir == "" {
		return nil
	}
	system, err := s.System()
	if err != nil {
		return err
	}
	return s.Transcribe(ctx, dir, s.name(), system, forked)
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
		return s.wrong(err)
	}
	list = todos.Active(list)
	return s.Change(ctx, "set the task list", func() error {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.todos, s.todosSet = list, true
		return nil
	})
}

// History returns the owned history, including what is not sent to a model. It must not be changed.
//
// The error, here and of all that reads a session, says that the store did not give back what was released from memory.
func (s *Session) History() (history.Snapshot, error) { return s.HistoryAt(nil) }

// HistoryAt is History without what was added after a point; a nil point is now.
func (s *Session) HistoryAt(m *history.Point) (history.Snapshot, error) {
	leave, err := s.Enter()
	defer leave()
	if err != nil {
		return history.Snapshot{}, err
	}
	return s.history.SnapshotAt(m), nil
}

// Size returns the size of the history without what was added after a point; a nil point is now. It takes the same time
// for any history.
func (s *Session) Size(m *history.Point) (revision uint64, tokens, entries int, err error) {
	h, err := s.HistoryAt(m)
	return h.Revision, h.Tokens, len(h.Entries), err
}

// currentCounter returns the counter in force. Set may replace it until something was added.
func (s *Session) currentCounter() *tokens.Counter {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.counter
}

func (s *Session) wrong(err error) error { return fmt.Errorf("session %q: %w", s.key.ID, err) }

// failed returns why a method cannot be carried out.
func (s *Session) failed(what string, why error) error {
	return fmt.Errorf("%s: session %q: %w", what, s.key.ID, why)
}

// untilClosed returns a context that ends with ctx and with the session, which then is the cause (journal.ErrClosed).
func (s *Session) untilClosed(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(s.done, func() { cancel(s.failed("work", journal.ErrClosed)) })
	return ctx, func() { stop(); cancel(nil) }
}

// Closed says whether the session has ended: closed, deleted by another host, or given up after a panic.
func (s *Session) Closed() bool { return s.done.Err() != nil }
