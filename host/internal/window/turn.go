package window

import (
	"cmp"
	"context"
	"errors"
	"math"

	"github.com/thresh-dev/thresh/host/internal/history"
	"github.com/thresh-dev/thresh/host/internal/journal"
	"github.com/thresh-dev/thresh/host/internal/plugins"
	"github.com/thresh-dev/thresh/host/internal/prepare"
	"github.com/thresh-dev/thresh/host/internal/pricing"
	"github.com/thresh-dev/thresh/host/internal/store"
	"github.com/thresh-dev/thresh/host/outcome"
	"github.com/thresh-dev/thresh/sdk"
	"github.com/thresh-dev/thresh/sdk/content"
)

var _ prepare.Strategy = (*plugins.Strategy)(nil)

// Sending is what is known of the request that is about to be sent. Pending is what it holds besides the history and
// [Session.System]: tool schemas, a prompt not added yet, a system prompt that the session was not given.
type Sending = prepare.Sending

// Thinking is what a model does with thinking behind a change.
type Thinking = prepare.Thinking

// What models do: see [prepare.Thinking].
const (
	ThinkingOfModel = prepare.ThinkingOfModel
	ThinkingSealed  = prepare.ThinkingSealed
	ThinkingHeld    = prepare.ThinkingHeld
)

// Point returns the moment after everything added so far, for Sending.UpTo, when Prepare runs in the background
// while entries are added.
func (s *Session) Point() (history.Point, error) {
	leave, err := s.Enter()
	defer leave()
	if err != nil {
		return history.Point{}, err
	}
	return s.history.Point(), nil
}

// Prepared is a history that is safe to send, and what the turn did to it. The view is the zero one only if the session
// is closed, or could not be read from the store.
type Prepared struct {
	history.View
	// System is what [Session.SetSystem] set, to send before the history.
	System []content.Block
	// Unchanged is how many entries at the beginning of the view are those of the session's previous Prepared, which
	// had the revision UnchangedSince. Both are 0 for the first.
	Unchanged      int
	UnchangedSince uint64
	Outcome        outcome.Outcome
}

// maxPending bounds what is pending: more than any model takes, and too small to overflow in sums.
const maxPending = math.MaxInt32

// Prepare makes the history fit the model and returns it: it prunes if something was added, compresses above the
// threshold, and checks the hard limit. Call it before each model call.
//
// After an error the history is valid, and Prepared holds it unchanged: the agent decides what to do. The error says
// which plugin failed and how (a *plugins.Error, a *history.AnswerError), or that the request is still too large after
// everything was tried (a *prepare.ContextOverflowError). No other strategy is tried instead, but if
// the strategy fails again, turns go on without it.
func (s *Session) Prepare(ctx context.Context, o Sending) (Prepared, error) {
	leave, err := s.Enter()
	defer leave()
	if err != nil {
		return Prepared{}, err
	}
	// Without a store nothing can be given back. The lab's sessions have none: it does itself what a model would ask for.
	if s.host.store != nil && (o.Recall || s.Config().Settings().Compression.Recall) {
		m, err := s.Marks(ctx)
		if err != nil {
			return s.unprepared(o), err
		}
		o.Recall, o.Marks = true, m.Marker()
	}
	return s.prepare(ctx, o, false)
}

// prepare is Prepare for a caller that says itself which marks the view has.
func (s *Session) prepare(ctx context.Context, o Sending, identified bool) (ready Prepared, err error) {
	pending := o.Pending
	defer func() {
		s.host.tell(Turn{Key: s.key, Method: "prepare", Revision: ready.Revision, Tokens: ready.Tokens, Pending: pending,
			Outcome: ready.Outcome, Err: err, Identified: identified})
	}()
	var req prepare.Request
	defer func(ctx context.Context) { s.host.metrics.Turn(ctx, req, &ready.Outcome, err) }(ctx)
	ctx, cancel := s.untilClosed(ctx)
	defer cancel()
	leave, err := s.Enter()
	defer leave()
	if err != nil {
		return Prepared{}, err
	}
	var before *outcome.Spent // by tries that another host has overtaken
	defer func() { ready.Outcome.Compress.LLM = together(before, ready.Outcome.Compress.LLM) }()
	for range journal.MaxTries {
		if o.UpTo, err = s.Refresh(ctx, o.UpTo); err != nil {
			return s.unprepared(o), err
		}
		o.Pending = s.pendingTokens(pending)
		if req, ready, err = s.prepareOnce(ctx, o); !errors.Is(err, journal.ErrMoved) {
			if len(ready.Outcome.Changes) > 0 {
				s.indexLater()
			}
			return ready, err
		}
		before = together(before, ready.Outcome.Compress.LLM)
		if err := s.Restart(); err != nil {
			return s.unprepared(o), err
		}
	}
	return s.unprepared(o), s.failed("prepare", journal.ErrBusy)
}

// prepareOnce is a turn on the session as this host knows it. The error is journal.ErrMoved if another host has changed
// the session meanwhile and the turn must run again.
func (s *Session) prepareOnce(ctx context.Context, o Sending) (prepare.Request, Prepared, error) {
	w, req, err := s.request(ctx, o)
	if err != nil {
		return req, s.unprepared(o), err
	}
	if err := s.Flush(); err != nil { // the turn flushes again before it rewrites: entries may be added in between
		return req, s.unprepared(o), err
	}
	view, out, err := w.Prepare(ctx, req)
	if errors.Is(err, journal.ErrMoved) {
		return req, Prepared{Outcome: out}, err
	}
	out.NotIsolated = notIsolated(req)
	out.Warnings = append(out.Warnings, s.notInForce()...)
	s.logWarnings(out.Warnings)
	ready := s.prepared(view, out, o)
	// What the turn learned, and what is about to be sent, is in the store before the agent sends it.
	return req, ready, s.settled(ctx, err)
}

// request resolves the settings and the strategy for one turn.
func (s *Session) request(ctx context.Context, o Sending) (*prepare.Pipeline, prepare.Request, error) {
	if s.done.Err() != nil {
		return nil, prepare.Request{}, s.failed("prepare", journal.ErrClosed)
	}
	if err := s.refreshProfiles(ctx); err != nil {
		return nil, prepare.Request{}, err
	}
	// One consistent set: a setting that changes during the turn applies from the next one. Starting a plugin takes
	// seconds, so the lock must not be held below.
	s.mu.Lock()
	c, taxonomy, w, active := s.config, s.taxonomy, s.pipeline, s.todos
	version := w.SettingsVersion()
	s.mu.Unlock()
	set := c.Settings()
	name := set.Compression.Strategy
	strategy, own, model := s.strategy(ctx, c)
	prices, err := s.host.prices.choose(set)
	if err != nil {
		return nil, prepare.Request{}, err
	}
	rules, err := s.host.rulesOf(set)
	if err != nil {
		return nil, prepare.Request{}, err
	}
	d, compress := set.Compression.Density, set.CompressSettings()
	compress.Todos, compress.TranscriptPath = active, s.TranscriptPath()
	return w, prepare.Request{SettingsVersion: version, Strategy: strategy, Sending: o,
		Compressing: s.Lease,
		Apply: func(plan *history.Plan, step string) error {
			return s.Rewrite(plan, step, name)
		},
		Settings: prepare.Settings{
			CallSettings:     sdk.CallSettings{WorkspaceRoot: set.Workspace.Root, Config: own},
			OptimizeParams:   sdk.OptimizeParams{Density: d.DensityConfig},
			CompressSettings: compress,
			Threshold:        set.Compression.Threshold, Tools: taxonomy,
			Keep: rules, KeepShare: set.Compression.KeepShare,
			LLM: model, Prompt: prompt(set, name, model),
			Cooldown: cooldown,
			Cadence:  cadence(d.Cadence, prices), OptimizeThreshold: d.OptimizeThreshold, MinSavings: d.MinSavings,
			Prices:    prices,
			Seals:     pricing.WindowOf(set.Model.Name).Seals,
			Ladder:    set.Compression.HardLimit != "error",
			KeepHuman: set.Compression.HardLimit == "make-room-keep-human",
		}}, nil
}

// settled settles a turn that ended with err, and returns the turn's error. A store that has just failed the turn is
// not asked again, which would take as long again.
func (s *Session) settled(ctx context.Context, err error) error {
	if fault := (*store.Fault)(nil); errors.As(err, &fault) {
		return err
	}
	if stored := s.Settle(ctx); err == nil || errors.Is(stored, journal.ErrMoved) {
		return stored
	}
	return err
}

func (s *Session) prepared(view history.View, out outcome.Outcome, o Sending) Prepared {
	s.mu.Lock()
	defer s.mu.Unlock()
	unchanged, _ := view.Shared(s.last)
	p := Prepared{View: view, System: s.system, Unchanged: unchanged, UnchangedSince: s.last.Revision, Outcome: out}
	s.last, s.viewed, s.sent = view, true, view.Tokens+o.Pending
	return p
}

// unprepared is the view of the unchanged history, for the agent to go on with after an error. A closed session has
// none.
func (s *Session) unprepared(o Sending) Prepared {
	if s.done.Err() != nil {
		return Prepared{}
	}
	view := s.history.MarkedAt(o.UpTo, o.Marks, s.currentCounter().Entry)
	return s.prepared(view, outcome.Outcome{
		TokensBefore: view.Tokens, Tokens: view.Tokens, Pending: view.Pending, Problems: view.Problems,
	}, o)
}

func notIsolated(req prepare.Request) []string {
	if s, ok := req.Strategy.(*plugins.Strategy); ok {
		return s.Lacking()
	}
	return nil
}

// maxWarnings bounds the logged warnings that a session remembers.
const maxWarnings = 1000

// logWarnings logs each text once per session: many warnings recur in many turns.
func (s *Session) logWarnings(warnings []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, w := range warnings {
		if s.warned[w] || len(s.warned) >= maxWarnings {
			continue
		}
		if s.warned == nil {
			s.warned = map[string]bool{}
		}
		s.warned[w] = true
		s.host.log.Warn(w, "session", s.key.ID)
	}
}

// Compress compresses the history now, whatever the threshold, except what was added after upTo if it is not nil.
func (s *Session) Compress(ctx context.Context, upTo *history.Point) (out outcome.Outcome, err error) {
	defer func(upTo *history.Point) {
		revision, tokens, _, unread := s.Size(upTo)
		s.host.tell(Turn{Key: s.key, Method: "compress", Revision: revision, Tokens: tokens, Outcome: out,
			Err: cmp.Or(err, unread)})
	}(upTo)
	var req prepare.Request
	defer func(ctx context.Context) { s.host.metrics.Compress(ctx, req, &out, err) }(ctx)
	ctx, cancel := s.untilClosed(ctx)
	defer cancel()
	leave, err := s.Enter()
	defer leave()
	if err != nil {
		return outcome.Outcome{}, err
	}
	var before *outcome.Spent
	defer func() { out.Compress.LLM = together(before, out.Compress.LLM) }()
	for range journal.MaxTries {
		if upTo, err = s.Refresh(ctx, upTo); err != nil {
			return outcome.Outcome{}, err
		}
		if req, out, err = s.compressOnce(ctx, upTo); !errors.Is(err, journal.ErrMoved) {
			return out, err
		}
		before = together(before, out.Compress.LLM)
		if err := s.Restart(); err != nil {
			return out, err
		}
	}
	return out, s.failed("compress", journal.ErrBusy)
}

func (s *Session) compressOnce(ctx context.Context, upTo *history.Point) (
	prepare.Request, outcome.Outcome, error) {
	s.mu.Lock()
	sent := s.last.Marks
	s.mu.Unlock()
	marker, err := s.Marker(ctx, sent)
	if err != nil {
		return prepare.Request{}, outcome.Outcome{}, err
	}
	w, req, err := s.request(ctx, Sending{Pending: s.pendingTokens(0), UpTo: upTo, Marks: marker})
	if err != nil {
		return req, outcome.Outcome{}, err
	}
	if err := s.Flush(); err != nil {
		return req, outcome.Outcome{}, err
	}
	out, err := w.Compress(ctx, req)
	out.NotIsolated = notIsolated(req)
	out.Warnings = append(out.Warnings, s.notInForce()...)
	return req, out, s.settled(ctx, err)
}

// PlanOptimize asks the strategy for one Optimize of the whole history and checks the answer, but changes nothing.
func (s *Session) PlanOptimize(ctx context.Context) (*history.Plan, outcome.Optimize, error) {
	ctx, cancel := s.untilClosed(ctx)
	defer cancel()
	leave, err := s.Enter()
	defer leave()
	if err != nil {
		return nil, outcome.Optimize{}, err
	}
	w, req, err := s.request(ctx, Sending{})
	if err != nil {
		return nil, outcome.Optimize{}, err
	}
	return w.PlanOptimize(ctx, req)
}

// together adds up what was spent; nil is nothing.
func together(a, b *outcome.Spent) *outcome.Spent {
	if a == nil {
		return b
	}
	if b != nil {
		sum := *a
		sum.Add(*b)
		return &sum
	}
	return a
}
