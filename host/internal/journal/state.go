package journal

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"

	"github.com/thresh-dev/thresh/host/internal/history"
	"github.com/thresh-dev/thresh/host/internal/journal/sessionlog"
	"github.com/thresh-dev/thresh/host/internal/store"
	"github.com/thresh-dev/thresh/host/internal/todos"
)

// draft is what one append is going to write.
type draft struct {
	store.Change
	tag    uint64 // by which the append is recognised in the log if its answer is lost; 0 for none
	holder string // of the lease; "" if the append needs none
	memory Memory
	groups sessionlog.Groups // what the log lacks of it; nil if that was not looked for
}

// draft begins an append. Callers hold j.writing.
func (j *Journal) draft() draft {
	now := j.history.Snapshot()
	d := draft{tag: rand.Uint64()}
	d.Summary = store.Summary{Entries: len(now.Entries), Tokens: now.Tokens}
	return d
}

// state begins a draft with what the log lacks of the session's state. A turn that learned nothing has nothing to
// write.
func (j *Journal) state(d *draft) error {
	d.memory = j.session.Remembers()
	all, err := d.memory.Groups()
	if err != nil {
		return j.wrong(err)
	}
	if d.groups = all.Changed(j.seen.groups); len(d.groups) > 0 {
		d.Records = []store.Record{{Kind: store.State, Data: sessionlog.AppendState(d.tag, d.groups)}}
	}
	return nil
}

// next is the number of the draft's next record.
func (d *draft) next(p *seen) uint64 { return p.at.Revision + uint64(len(d.Records)) + 1 }

// snapshot adds a snapshot to a draft, unless the state's views are of a history before the last rewrite, from which
// they could not be made again. It has all groups, also those that this version does not know, which would be lost
// otherwise.
func (j *Journal) snapshot(d *draft) error {
	now, entries := j.history.State()
	for _, v := range []sessionlog.Place{d.memory.Sent, d.memory.Last} {
		if v.Made && v.Epoch != now.Epoch {
			return nil
		}
	}
	// The entries that the tasks were read from may be gone.
	tasks, err := json.Marshal(&j.tasks)
	if err != nil {
		return j.wrong(fmt.Errorf("task list: %w", err))
	}
	// The stored groups change only once the write has succeeded.
	groups := maps.Clone(j.seen.groups)
	groups.Take(d.groups)
	places := make([]history.Place, len(entries))
	for i, e := range entries {
		places[i] = e.Place
	}
	data := sessionlog.AppendSnapshot(d.tag, sessionlog.Snapshot{
		Encoding: j.session.Counter().Encoding(), History: now, Places: places, Tasks: tasks, Groups: groups,
		Done: j.additions,
	})
	d.Records = append(d.Records, store.Record{Kind: store.Snapshot, Data: data})
	return nil
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
