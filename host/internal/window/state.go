package window

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/thresh-dev/thresh/host/internal/history"
	"github.com/thresh-dev/thresh/host/internal/journal"
	"github.com/thresh-dev/thresh/host/internal/journal/sessionlog"
	"github.com/thresh-dev/thresh/host/internal/prepare"
	"github.com/thresh-dev/thresh/host/internal/tokens"
	"github.com/thresh-dev/thresh/sdk"
)

// remembered is what a journal keeps of a session: see [journal.Session].
type remembered struct{ *Session }

func (r remembered) Remembers() journal.Memory {
	s := r.Session
	s.mu.Lock()
	defer s.mu.Unlock()
	m := journal.Memory{LastView: s.last, State: sessionlog.State{
		Overrides: maps.Clone(s.overrides), Model: s.config.Settings().Model.Name, Settings: s.digest(),
		System: s.system, TodosSet: s.todosSet, Turns: s.pipeline.State(), LastTokens: s.sent,
	}}
	m.SentView = m.Turns.Sent.View
	if s.todosSet {
		m.Todos = s.todos
	}
	// An empty view may have been sent too, so the time tells whether there is one.
	if !m.Turns.Sent.At.IsZero() {
		m.Sent = sessionlog.PlaceOf(m.SentView)
	}
	if s.viewed {
		m.Last = sessionlog.PlaceOf(m.LastView)
	}
	return m
}

func (r remembered) Counter() *tokens.Counter { return r.currentCounter() }

func (r remembered) Count(with *tokens.Counter) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.useCounter(with)
}

// Todos implements [journal.Session]. An agent that sets its tasks itself knows better than its calls say.
func (r remembered) Todos(list []sdk.Todo) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.todosSet {
		r.todos = list
	}
}

// Release implements [journal.Session]. The plugin's process and the host's side of it both hold entries too.
func (r remembered) Release() {
	r.host.plugins.EndSession(r.name())
	r.mu.Lock()
	defer r.mu.Unlock()
	r.last, r.viewed, r.sent = history.View{}, false, 0
	r.overrides, r.system = map[string]json.RawMessage{}, nil
	r.pipeline.Restore(prepare.State{})
}

// End implements [journal.Session], in this order: calls end, the host no longer finds the session, and then plugins
// drop what they keep of it.
func (r remembered) End() {
	r.end()
	r.host.forget(r.Session)
	r.host.plugins.EndSession(r.name())
}

// digest tells whether two configurations of a session give the same turns: what turns learned applies to one only. It is
// worked out once for each configuration, as each turn is written with it. Callers hold s.mu.
func (s *Session) digest() []byte {
	if s.digested == s.config {
		return s.digestOf
	}
	set := s.config.Settings()
	raw, err := json.Marshal([]any{set.Compression, set.Model, set.Strategies})
	if err != nil { // all of it was read from text: it can be written
		return nil
	}
	sum := sha256.Sum256(raw)
	s.digested, s.digestOf = s.config, sum[:8]
	return s.digestOf
}

// Adopt implements [journal.Session]: a setting may no longer be valid under the host's configuration. One that the
// owner may not set, or no longer, is not in force.
func (r remembered) Adopt(state journal.Memory, reopened bool) error {
	s := r.Session
	s.mu.Lock()
	defer s.mu.Unlock()
	c, refused, err := s.host.inForce(s.by, state.Overrides)
	if err != nil {
		return s.wrong(fmt.Errorf("a setting of the session does not hold any more: %w", err))
	}
	taxonomy, err := s.host.taxonomyOf(c.Settings())
	if err != nil {
		return s.wrong(err)
	}
	s.config, s.taxonomy, s.overrides, s.refused = c, taxonomy, state.Overrides, refused
	if s.overrides == nil { // a state without any
		s.overrides = map[string]json.RawMessage{}
	}
	s.system, s.systemTokens = state.System, s.counter.System(state.System)
	s.todosSet = state.TodosSet
	s.todos = state.Todos
	if !s.todosSet {
		s.todos = state.Read
	}
	s.viewed, s.last, s.sent = state.Last.Made, state.LastView, state.LastTokens
	state.Turns.Sent.View = state.SentView
	s.pipeline.Restore(state.Turns)
	if reopened {
		s.reconfigured(state.State)
	}
	return nil
}

// reconfigured drops what turns learned under other settings than those in force, as Set does: the host's configuration
// may have changed since the state was written. For another model, it uses what the host knows of that model's count.
// Callers hold s.mu.
func (s *Session) reconfigured(was sessionlog.State) {
	set := s.config.Settings()
	if set.Model.Name != was.Model {
		s.pipeline.StartFrom(s.host.calibrations.of(calibrated{s.key.Owner, set.Model.Name}))
	}
	if !slices.Equal(s.digest(), was.Settings) {
		s.pipeline.Reset()
	}
}

// overrideValue returns the value of a setting as JSON. A duration is text, as the configuration reads it; as JSON it
// would be nanoseconds.
func overrideValue(value any) (json.RawMessage, error) {
	if d, ok := value.(time.Duration); ok {
		value = d.String()
	}
	return json.Marshal(value)
}
