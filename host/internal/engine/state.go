package engine

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/thresh-dev/thresh/host/config"
	"github.com/thresh-dev/thresh/host/internal/history"
	"github.com/thresh-dev/thresh/host/internal/sessionlog"
	"github.com/thresh-dev/thresh/host/internal/store"
	"github.com/thresh-dev/thresh/host/internal/todos"
)

// memory is a session's state with the views that the state names by their place, kept so that a change can be undone.
type memory struct {
	sessionlog.State
	sent, last history.View
}

// state returns what the session remembers besides its history.
func (s *Session) state() memory {
	s.mu.Lock()
	defer s.mu.Unlock()
	m := memory{last: s.last, State: sessionlog.State{
		Overrides: maps.Clone(s.overrides), Model: s.config.Settings().Model.Name, Settings: digest(s.config),
		System: s.system, Told: s.told, Turns: s.pipeline.State(), LastTokens: s.sent,
	}}
	m.sent = m.Turns.Sent.View
	if s.told {
		m.Todos = s.todos
	}
	// An empty view may have been sent too, so the time tells whether there is one.
	if !m.Turns.Sent.At.IsZero() {
		m.Sent = sessionlog.PlaceOf(m.sent)
	}
	if s.viewed {
		m.Last = sessionlog.PlaceOf(m.last)
	}
	return m
}

// digest tells whether two configurations of a session give the same turns: what turns learned applies to one only.
func digest(c *config.Config) []byte {
	set := c.Settings()
	raw, err := json.Marshal([]any{set.Compression, set.Model, set.Strategies})
	if err != nil { // all of it was read from text: it can be written
		return nil
	}
	sum := sha256.Sum256(raw)
	return sum[:8]
}

type update struct {
	groups sessionlog.Groups
	memory
}

// changed returns what the log lacks of the session's state, so a turn that learned nothing writes nothing. Callers
// hold s.adding.
func (s *Session) changed() (update, error) {
	m := s.state()
	groups, err := m.Groups()
	if err != nil {
		return update{}, s.storeError(err)
	}
	return update{groups.Changed(s.stored.groups), m}, nil
}

// wrote notes that an update is in the log, after the store has acknowledged the write.
func (p *stored) wrote(u update) {
	p.groups.Take(u.groups)
	p.sentView, p.lastView = u.sent, u.last
}

func (u update) records(tag uint64) []store.Record {
	if len(u.groups) == 0 {
		return nil
	}
	return []store.Record{{Kind: store.State, Data: sessionlog.AppendState(tag, u.groups)}}
}

// snapshot returns the record of a snapshot that follows an update, or none if the state's views are of a history
// before the last rewrite, from which they could not be made again. It has all groups, also those that this version
// does not know, which would be lost otherwise.
func (s *Session) snapshot(tag uint64, u update) ([]store.Record, error) {
	now, entries := s.history.State()
	for _, v := range []sessionlog.Place{u.Sent, u.Last} {
		if v.Made && v.Epoch != now.Epoch {
			return nil, nil
		}
	}
	// The entries that the tasks were read from may be gone.
	tasks, err := json.Marshal(&s.tasks)
	if err != nil {
		return nil, s.storeError(fmt.Errorf("task list: %w", err))
	}
	// The stored groups change only once the write has succeeded.
	groups := maps.Clone(s.stored.groups)
	groups.Take(u.groups)
	places := make([]history.Place, len(entries))
	for i, e := range entries {
		places[i] = e.Place
	}
	data := sessionlog.AppendSnapshot(tag, sessionlog.Snapshot{
		Encoding: s.currentCounter().Encoding(), History: now, Places: places, Tasks: tasks, Groups: groups,
		Done: s.additions,
	})
	return []store.Record{{Kind: store.Snapshot, Data: data}}, nil
}

// install makes the session's state what the log says, and returns it. The views must be the groups': see
// [replay.views]. It does nothing without a store. Callers hold s.adding.
func (s *Session) install() (sessionlog.State, error) {
	if s.stored == nil {
		return sessionlog.State{}, nil
	}
	state, err := s.stored.groups.State()
	if err != nil {
		return state, s.storeError(err)
	}
	state.Turns.Sent.View = s.stored.sentView
	return state, s.adopt(state, s.stored.lastView)
}

// adopt takes over a state, and the view that the last Prepare returned. If a setting is no longer valid under the
// host's configuration, it returns an error and changes nothing. A setting that the owner may not set, or no longer, is
// not in force.
func (s *Session) adopt(state sessionlog.State, last history.View) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	c, refused, err := s.host.inForce(s.by, state.Overrides)
	if err != nil {
		return s.storeError(fmt.Errorf("a setting of the session does not hold any more: %w", err))
	}
	taxonomy, err := s.host.taxonomyOf(c.Settings())
	if err != nil {
		return s.storeError(err)
	}
	s.config, s.taxonomy, s.overrides, s.refused = c, taxonomy, state.Overrides, refused
	if s.overrides == nil { // a state without any
		s.overrides = map[string]json.RawMessage{}
	}
	s.system, s.systemTokens = state.System, countSystem(s.counter, state.System)
	s.told = state.Told
	s.todos = state.Todos
	if !s.told {
		s.todos = todos.Active(s.tasks.Todos())
	}
	s.viewed, s.last, s.sent = state.Last.Made, last, state.LastTokens
	s.pipeline.Restore(state.Turns)
	return nil
}

// reconfigured drops what turns learned under other settings than those in force, as Set does: the host's configuration
// may have changed since the state was written. For another model, it uses what the host knows of that model's count.
func (s *Session) reconfigured(was sessionlog.State) {
	s.mu.Lock()
	defer s.mu.Unlock()
	set := s.config.Settings()
	if set.Model.Name != was.Model {
		s.pipeline.StartFrom(s.host.calibrations.of(calibrated{s.key.Owner, set.Model.Name}))
	}
	if !slices.Equal(digest(s.config), was.Settings) {
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
