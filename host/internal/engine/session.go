package engine

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/thresh-dev/thresh/host/config"
	"github.com/thresh-dev/thresh/host/internal/history"
	"github.com/thresh-dev/thresh/host/internal/plugins"
	"github.com/thresh-dev/thresh/host/internal/prepare"
	"github.com/thresh-dev/thresh/host/internal/todos"
	"github.com/thresh-dev/thresh/host/internal/tokens"
	"github.com/thresh-dev/thresh/host/internal/transcriptlog"
	"github.com/thresh-dev/thresh/host/outcome"
	"github.com/thresh-dev/thresh/internal/check"
	"github.com/thresh-dev/thresh/sdk"
	"github.com/thresh-dev/thresh/sdk/content"
)

// Session is one conversation. The session owns the history: what Prepare returns and what was added must not be changed
// afterwards.
type Session struct {
	host    *Host
	id      string
	history *history.History
	done    context.Context // ends with the session
	end     context.CancelFunc

	journal *transcriptlog.Journal // nil without transcript.dir

	mu       sync.Mutex // guards what follows
	counter  *tokens.Counter
	pipeline *prepare.Pipeline
	config   *config.Config
	taxonomy taxonomy
	todos    []sdk.Todo // those that are not done
	sent     int        // tokens of the last Prepare, pending ones included

	adding sync.Mutex // keeps the journal in the order of the history, and the counter as it is; taken before mu
}

func newSession(h *Host, id string, c *config.Config) (*Session, error) {
	set := c.Settings()
	if _, err := priceList(h.prices, set); err != nil {
		return nil, err
	}
	counter, err := tokens.For(set.Model.Name, set.Model.Encoding)
	if err != nil {
		return nil, err
	}
	s := &Session{host: h, id: id, history: history.New(), counter: counter, config: c}
	s.pipeline = prepare.New(id, s.history, counting{counter})
	s.pipeline.StartFrom(h.calibrations.of(set.Model.Name))
	s.done, s.end = context.WithCancel(context.Background())
	if err := s.taxonomy.resolve(set); err != nil {
		return nil, err
	}
	if set.Transcript.Dir != "" {
		if s.journal, err = transcriptlog.Open(set.Transcript.Dir, id); err != nil {
			return nil, fmt.Errorf("session %q: %w", id, err)
		}
	}
	return s, nil
}

// counting is a tokens.Counter as package prepare wants it.
type counting struct{ *tokens.Counter }

// All counts block by block. A block's count is what an entry with that block alone counts, less what an entry counts that
// has none.
func (c counting) All(ctx context.Context, entries []content.Content) ([]history.Count, error) {
	var single []content.Content
	for _, e := range entries {
		for i := range e.Blocks {
			single = append(single, content.Content{Speaker: e.Speaker, Blocks: e.Blocks[i : i+1]})
		}
	}
	tokens, err := c.CountAll(ctx, single, nil)
	if err != nil {
		return nil, err
	}
	frame := c.Entry(content.Content{})
	counts := make([]history.Count, len(entries))
	for i, e := range entries {
		n := history.Count{Tokens: frame, Blocks: make([]int32, len(e.Blocks))}
		for j := range e.Blocks {
			n.Blocks[j] = int32(tokens[j] - frame)
			n.Tokens += tokens[j] - frame
		}
		tokens = tokens[len(e.Blocks):]
		counts[i] = n
	}
	return counts, nil
}

// ID is the session's id.
func (s *Session) ID() string { return s.id }

// Add appends entries, all or none, and returns the history's new revision and its tokens. Each entry is counted here, once.
//
// It never waits for a Prepare: what is added while one runs is kept behind what that Prepare makes of the rest. An entry
// that is not well formed is refused with an error that wraps [ErrInvalidEntry] and names its position among entries.
func (s *Session) Add(entries ...content.Content) (revision uint64, total int, err error) {
	for i, c := range entries {
		if err := check.Content(c); err != nil {
			return 0, 0, fmt.Errorf("add entry %d: %w: %w", i, ErrInvalidEntry, err)
		}
	}
	return s.add(entries)
}

// Restore appends entries of a stored or recorded conversation as they are. Unlike Add it refuses nothing: what cannot be
// sent to a model is kept, withheld by Prepare, and named in its outcome. The next Prepare looks at all of it.
func (s *Session) Restore(entries ...content.Content) (revision uint64, total int, err error) {
	return s.add(entries)
}

func (s *Session) add(entries []content.Content) (revision uint64, total int, err error) {
	if s.done.Err() != nil {
		return 0, 0, s.closed("add")
	}
	counter := s.count()
	counts, err := counting{counter}.All(s.done, entries)
	if err != nil {
		return 0, 0, fmt.Errorf("session %q: count entries: %w", s.id, err)
	}
	return s.append(entries, counts, counter)
}

// append adds entries that were counted.
func (s *Session) append(entries []content.Content, counts []history.Count, counter *tokens.Counter) (revision uint64, total int, err error) {
	own := make([]content.Content, len(entries))
	for i, c := range entries {
		c.Blocks = slices.Clone(c.Blocks)
		own[i] = c
	}
	s.adding.Lock()
	defer s.adding.Unlock()
	if now := s.count(); now.Encoding() != counter.Encoding() { // Set exchanged it meanwhile
		if counts, err = (counting{now}).All(s.done, own); err != nil {
			return 0, 0, fmt.Errorf("session %q: count entries: %w", s.id, err)
		}
	}
	ids := s.history.Reserve(len(own))
	s.journal.Add(ids, own)
	revision, total = s.history.AppendAs(ids, own, counts)
	return revision, total, nil
}

// SetTodos tells the session the agent's task list. Those that are not done reach strategies that summarise, which keep why
// each exists (REQ-HD-011). The list replaces the one before.
func (s *Session) SetTodos(list []sdk.Todo) error {
	if err := todos.Check(list); err != nil {
		return fmt.Errorf("session %q: %w", s.id, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.todos = todos.Active(list)
	return nil
}

// TranscriptPath is the file that keeps the whole conversation; "" without the setting transcript.dir.
func (s *Session) TranscriptPath() string { return s.journal.Path() }

// count is the counter in force: Set may exchange it as long as nothing was added.
func (s *Session) count() *tokens.Counter {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.counter
}

func (s *Session) closed(what string) error {
	return fmt.Errorf("%s: session %q: %w", what, s.id, ErrClosed)
}

// PrepareOptions describe the request that is about to be sent. The zero value is a request of the history alone.
type PrepareOptions struct {
	// PendingTokens is what the request holds beside the history: the system prompt, tool schemas, a prompt that is not
	// added yet.
	PendingTokens int
	// At is when the request is sent; zero is now. A replay of a recorded session says when that was.
	At time.Time
}

// Prepared is a history that is safe to send.
type Prepared struct {
	// History is what to send: every tool response behind its call, nothing that a provider refuses. It must not be changed.
	History []content.Content
	// Tokens is what History counts.
	Tokens int
	// Revision of the owned history that it was made from.
	Revision uint64
	Outcome  outcome.Outcome
}

// Prepare makes the history fit the model and returns it: it optimises if something was added, compresses over the
// threshold, and checks the hard limit. Call it before each call of the model.
//
// On an error the history is valid, and Prepared holds it as it is: the agent decides what to do. The error says which
// plugin failed and how (a *plugins.Error, a *history.AnswerError), or that everything was done and the request is still
// too large (a *prepare.ContextOverflowError). No other strategy is tried (REQ-HD-013).
func (s *Session) Prepare(ctx context.Context, o PrepareOptions) (ready Prepared, err error) {
	var req prepare.Request
	defer func(ctx context.Context) { s.host.metrics.Turn(ctx, req, &ready.Outcome, err) }(ctx)
	ctx, cancel := s.with(ctx)
	defer cancel()
	o.PendingTokens = min(max(0, o.PendingTokens), math.MaxInt32) // more than any model takes
	w, req, err := s.request(ctx, o.PendingTokens)
	if err != nil {
		return s.asItIs(o.PendingTokens), err
	}
	req.At = o.At
	if err := s.keep(); err != nil { // and again before anything is rewritten, as entries may be added meanwhile
		return s.asItIs(o.PendingTokens), err
	}
	view, outcome, err := w.Prepare(ctx, req)
	s.mu.Lock()
	s.sent = view.Tokens + o.PendingTokens
	s.mu.Unlock()
	return Prepared{History: view.Contents(), Tokens: view.Tokens, Revision: view.Revision, Outcome: outcome}, err
}

// asItIs is the history without anything done to it, for the agent to go on with. A session that is closed has none.
func (s *Session) asItIs(pending int) Prepared {
	if s.done.Err() != nil {
		return Prepared{}
	}
	view := s.history.View(s.count().Entry)
	s.mu.Lock()
	s.sent = view.Tokens + pending
	s.mu.Unlock()
	return Prepared{History: view.Contents(), Tokens: view.Tokens, Revision: view.Revision, Outcome: outcome.Outcome{
		TokensBefore: view.Tokens, Tokens: view.Tokens, Pending: view.Pending, Problems: view.Problems,
	}}
}

// keep writes to the transcript what it does not have yet.
func (s *Session) keep() error {
	if err := s.journal.Flush(); err != nil {
		return fmt.Errorf("session %q: %w", s.id, err)
	}
	return nil
}

// with returns ctx, ended when the session ends.
func (s *Session) with(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(s.done, func() { cancel(s.closed("work")) })
	return ctx, func() { stop(); cancel(nil) }
}

// ReportUsage takes the number of prompt tokens that the provider reported for the request made from the last Prepare,
// cached ones included. The next threshold check goes by it instead of the host's own count; a rewrite ends that. What the
// reports teach about the provider's count (what it adds to the history, and how many of its tokens go to one of the host's)
// stays, and later sessions of the host with the same model begin with it.
func (s *Session) ReportUsage(promptTokens int) {
	s.mu.Lock()
	sent, w, model := s.sent, s.pipeline, s.config.Settings().Model.Name
	s.mu.Unlock()
	s.host.calibrations.learn(model, w.ReportUsage(promptTokens, sent))
}

// Calibrate takes what a provider reported for a prompt that is not the last one that Prepare returned, such as a recorded
// one. counted is what the host counts for that prompt, both are in tokens. No other session learns from it.
func (s *Session) Calibrate(counted, promptTokens int) {
	s.mu.Lock()
	w := s.pipeline
	s.mu.Unlock()
	w.ReportUsage(promptTokens, counted)
}

// PlanOptimize asks the strategy for one Optimize of the whole history and checks the answer, and changes nothing.
func (s *Session) PlanOptimize(ctx context.Context) (*history.Plan, outcome.Optimize, error) {
	ctx, cancel := s.with(ctx)
	defer cancel()
	w, req, err := s.request(ctx, 0)
	if err != nil {
		return nil, outcome.Optimize{}, err
	}
	return w.PlanOptimize(ctx, req)
}

// Compress compresses the history now, whatever the threshold says.
func (s *Session) Compress(ctx context.Context) (out outcome.Outcome, err error) {
	var req prepare.Request
	defer func(ctx context.Context) { s.host.metrics.Compress(ctx, req, &out, err) }(ctx)
	ctx, cancel := s.with(ctx)
	defer cancel()
	w, req, err := s.request(ctx, 0)
	if err != nil {
		return outcome.Outcome{}, err
	}
	if err := s.keep(); err != nil {
		return outcome.Outcome{}, err
	}
	return w.Compress(ctx, req)
}

// History is the owned history as it is now, including what is not sent to a model. It must not be changed.
func (s *Session) History() history.Snapshot { return s.history.Snapshot() }

// Close ends the session; a Prepare that is under way fails.
func (s *Session) Close() error {
	s.end()
	s.host.forget(s)
	return s.journal.Close()
}

var _ prepare.Strategy = (*plugins.Strategy)(nil)
