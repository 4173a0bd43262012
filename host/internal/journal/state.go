package journal

import (
	"encoding/json"
	"fmt"
	"maps"

	"github.com/thresh-dev/thresh/host/internal/history"
	"github.com/thresh-dev/thresh/host/internal/journal/sessionlog"
	"github.com/thresh-dev/thresh/host/internal/store"
	"github.com/thresh-dev/thresh/host/internal/todos"
)

type update struct {
	groups sessionlog.Groups
	Memory
}

// changed returns what the log lacks of the session's state, so a turn that learned nothing writes nothing. Callers
// hold j.writing.
func (j *Journal) changed() (update, error) {
	m := j.remembers()
	groups, err := m.Groups()
	if err != nil {
		return update{}, j.wrong(err)
	}
	return update{groups.Changed(j.seen.groups), m}, nil
}

// wrote notes that an update is in the log, after the store has acknowledged the write.
func (p *seen) wrote(u update) {
	p.groups.Take(u.groups)
	p.sentView, p.lastView = u.SentView, u.LastView
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
func (j *Journal) snapshot(tag uint64, u update) ([]store.Record, error) {
	now, entries := j.history.State()
	for _, v := range []sessionlog.Place{u.Sent, u.Last} {
		if v.Made && v.Epoch != now.Epoch {
			return nil, nil
		}
	}
	// The entries that the tasks were read from may be gone.
	tasks, err := json.Marshal(&j.tasks)
	if err != nil {
		return nil, j.wrong(fmt.Errorf("task list: %w", err))
	}
	// The stored groups change only once the write has succeeded.
	groups := maps.Clone(j.seen.groups)
	groups.Take(u.groups)
	places := make([]history.Place, len(entries))
	for i, e := range entries {
		places[i] = e.Place
	}
	data := sessionlog.AppendSnapshot(tag, sessionlog.Snapshot{
		Encoding: j.session.Counter().Encoding(), History: now, Places: places, Tasks: tasks, Groups: groups,
		Done: j.additions,
	})
	return []store.Record{{Kind: store.Snapshot, Data: data}}, nil
}

// install makes the session remember what the log says. The views must be the groups': see [replay.views]. reopened is
// as for [Session.Adopt]. It does nothing without a store. Callers hold j.writing.
func (j *Journal) install(reopened bool) error {
	if j.store == nil {
		return nil
	}
	state, err := j.seen.groups.State()
	if err != nil {
		return j.wrong(err)
	}
	return j.session.Adopt(Memory{State: state, SentView: j.seen.sentView, LastView: j.seen.lastView,
		Read: todos.Active(j.tasks.Todos())}, reopened)
}
