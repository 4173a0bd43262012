package journal_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/thresh-dev/thresh/host/internal/history"
	"github.com/thresh-dev/thresh/host/internal/journal"
	"github.com/thresh-dev/thresh/host/internal/journal/sessionlog"
	"github.com/thresh-dev/thresh/host/internal/store"
	"github.com/thresh-dev/thresh/internal/rewrite"
	"github.com/thresh-dev/thresh/internal/testkit/full"
)

// state is what a session is, without a journal or a store.
type state struct {
	Entries  []string // with their ids
	Tokens   int
	Revision uint64
	Model    string
	View     []string
	Added    []string // all that was ever added
}

// model is what two hosts made of a session.
type model struct {
	state
	ids  int
	keys map[string]answer
	// changed is the revision of the log at the last rewrite or change of what the session remembers: a host that has
	// not seen it may neither rewrite the history nor settle a turn.
	changed uint64
}

// answer is what an addition under a key was answered with.
type answer struct {
	texts    string
	revision uint64
	tokens   int
}

func (m *model) entry(text string) string {
	m.ids++
	return fmt.Sprintf("e%d %s", m.ids, text)
}

// size is the number of tokens of entries, as count counts their texts.
func size(entries []string) (n int) {
	for _, e := range entries {
		_, text, _ := strings.Cut(e, " ")
		n += len(text) + 3
	}
	return n
}

func lines(entries []*history.Entry) (out []string) {
	for _, e := range entries {
		out = append(out, e.ID+" "+text(e.Content))
	}
	return out
}

// run is a run of the property on two hosts.
type run struct {
	*rapid.T
	model
	key   store.Key
	kept  [2]*flaky
	hosts [2]*host
	// late are entries that a host was not sure to have added: they are in its transcript log when it knows.
	late [2][]string
	logs [2]string
	n    int // numbers what is written
	past []moment
}

// moment is one of the session's past, to fork it at.
type moment struct {
	at uint64
	state
}

// Whatever two hosts do with a session, wherever they end, and wherever their store fails: what was acknowledged is
// there once, in the same order for both, and what was not is there exactly if the store took it. A host that was
// overtaken is told so. A fork has what its parent had.
func TestHostsDoWhatTheModelDoes(t *testing.T) {
	onStores(t, func(t *testing.T, both [2]store.Store) {
		var runs atomic.Int64
		check := func(rt *rapid.T) {
			r := &run{T: rt, key: store.Key{ID: fmt.Sprint("s", runs.Add(1))}, model: model{keys: map[string]answer{}}}
			for i := range both {
				r.kept[i], r.logs[i] = &flaky{Store: both[i]}, t.TempDir()
				r.reopen(i)
			}
			rt.Repeat(map[string]func(*rapid.T){
				"add": r.step(r.add), "rewrite": r.step(r.rewrite), "change": r.step(r.change), "settle": r.step(r.settle),
				"sleep": r.step(r.sleep), "end": r.step(r.reopen), "look": r.step(r.look), "fork": r.step(r.fork),
			})
			for i := range r.hosts {
				r.look(i)
				r.reopen(i)
				r.look(i)
			}
		}
		rapid.Check(t, check)
		for range 9 * full.Or(1, 2) {
			if both[0].Ephemeral() { // costs next to nothing
				rapid.Check(t, check)
			}
		}
	})
}

// step makes a host do something. Its store is whole again afterwards.
func (r *run) step(do func(host int)) func(*rapid.T) {
	return func(*rapid.T) {
		i := rapid.IntRange(0, 1).Draw(r.T, "host")
		f := r.kept[i]
		*f = flaky{Store: f.Store}
		if rapid.IntRange(0, 2).Draw(r.T, "goes wrong") == 0 {
			f.next = fate(rapid.IntRange(int(refused), int(silent)).Draw(r.T, "fate"))
		}
		do(i)
		*f = flaky{Store: f.Store}
	}
}

// took reports whether a write took place. An error must be the store's, and say what is known.
func (r *run) took(i int, is fate, repeatable bool, err error) bool {
	f, unknown := r.kept[i], (*journal.UnknownError)(nil)
	idle := is != answered && f.next == is // nothing was appended
	switch {
	case err == nil && (idle || is == answered || is == lost || is == silent && !f.wrote):
		return true
	case is == refused && store.IsCause(err, store.Full):
		return false
	case (is == dropped || is == silent) && errors.As(err, &unknown) && unknown.Repeatable == repeatable:
		return f.wrote
	}
	r.Fatalf("fate %d: %v", is, err)
	return false
}

// moved notes a write that other hosts must have seen before they rewrite or settle.
func (r *run) moved() {
	head, err := r.kept[0].Store.Head(context.Background(), r.key)
	if err != nil {
		r.Fatal(err)
	}
	r.changed = head.Revision
}

// overtaken checks that exactly a host that was behind is told so.
func (r *run) overtaken(behind bool, err error) bool {
	if errors.Is(err, journal.ErrMoved) != behind && (err == nil || errors.Is(err, journal.ErrMoved)) {
		r.Fatalf("behind: %v, and the error is %v", behind, err)
	}
	return errors.Is(err, journal.ErrMoved)
}

func (r *run) add(i int) {
	h, is := r.hosts[i], r.kept[i].next
	key := rapid.SampledFrom([]string{"", "", "a", "b", "c"}).Draw(r.T, "key")
	before, known := r.keys[key]
	texts := strings.Fields(before.texts)
	if !known || rapid.Bool().Draw(r.T, "other entries") {
		texts = nil
		for range rapid.IntRange(1, 3).Draw(r.T, "entries") {
			r.n++
			texts = append(texts, fmt.Sprint("t", r.n))
		}
	}
	revision, total, err := h.add(key, texts...)
	all := strings.Join(texts, " ")
	same := all == before.texts
	if known && !same && errors.Is(err, journal.ErrKeyReused) || !r.took(i, is, key != "", err) {
		return
	}
	if known {
		if !same || revision != before.revision || total != before.tokens {
			r.Fatalf("%q under a key: %d, %d; the first time %+v", texts, revision, total, before)
		}
		return
	}
	var fresh []string
	for _, text := range texts {
		fresh = append(fresh, r.entry(text))
	}
	r.Entries, r.Added = append(slices.Clip(r.Entries), fresh...), append(slices.Clip(r.Added), fresh...)
	r.Revision, r.Tokens = r.Revision+1, size(r.Entries)
	if key != "" {
		r.keys[key] = answer{all, r.Revision, r.Tokens}
	}
	if err != nil {
		r.late[i] = append(r.late[i], fresh...)
		return
	}
	if revision != r.Revision || total != r.Tokens {
		r.Fatalf("%q: %d, %d; want %d, %d", texts, revision, total, r.Revision, r.Tokens)
	}
	r.transcribed(i, fresh)
}

// transcribed checks that entries are in a host's transcript log.
func (r *run) transcribed(i int, entries []string) {
	for _, e := range entries {
		id, want, _ := strings.Cut(e, " ")
		got, err := r.hosts[i].Originals(context.Background(), id)
		if err != nil || len(got) != 1 || text(got[0]) != want {
			r.Fatalf("%s in the transcript log of host %d: %v, %v", e, i, got, err)
		}
	}
}

// rewrite removes an entry, or the first ones for one in their place, as far as the host knows the history.
func (r *run) rewrite(i int) {
	h, is := r.hosts[i], r.kept[i].next
	leave, err := h.Enter()
	defer leave()
	if err != nil {
		r.Fatal(err)
	}
	now := h.History().Snapshot()
	n := len(now.Entries)
	if n < 2 {
		return
	}
	behind := h.Position() < r.changed
	at, leased := rapid.IntRange(1, n-1).Draw(r.T, "at"), rapid.Bool().Draw(r.T, "leased")
	summary := ""
	var plan *history.Plan
	if rapid.Bool().Draw(r.T, "compress") {
		r.n++
		summary = fmt.Sprint("s", r.n)
		plan, err = now.PlanCompress(context.Background(), now.Entries, "test",
			[]rewrite.Piece{rewrite.Added{Content: says(summary)}, rewrite.Keep{From: at, To: n}}, count)
	} else {
		plan, err = now.PlanOptimize(context.Background(), []rewrite.Edit{{Index: at, Remove: true}}, count)
	}
	if err != nil {
		r.Fatal(err)
	}
	if leased {
		done, err := h.Lease(context.Background())
		if r.overtaken(behind, err) {
			r.restart(h)
			return
		}
		if err != nil {
			r.Fatal(err)
		}
		defer done()
	}
	if err = h.Rewrite(plan, "optimize", "test"); err != nil {
		defer r.restart(h)
	}
	if r.overtaken(behind, err) || !r.took(i, is, true, err) {
		return
	}
	rest := slices.Clone(r.Entries[at:])
	if summary != "" {
		r.Entries = append([]string{r.entry(summary)}, rest...)
	} else {
		r.Entries = append(slices.Clone(r.Entries[:at]), rest[1:]...)
	}
	r.Revision, r.Tokens = r.Revision+1, size(r.Entries)
	r.moved()
}

// restart takes back what a host has made of the session and could not write.
func (r *run) restart(h *host) {
	if err := h.Restart(); err != nil {
		r.Fatal(err)
	}
}

func (r *run) change(i int) {
	h, is := r.hosts[i], r.kept[i].next
	r.n++
	name := fmt.Sprint("m", r.n)
	err := h.Change(context.Background(), "set", func() error {
		h.memory.Model = name
		return nil
	})
	if err != nil && h.memory.Model == name {
		r.Fatal("a change that could not be written holds")
	}
	if r.took(i, is, true, err) {
		r.Model = name
		r.moved()
	}
}

// settle sends what the host knows of the history, which is then what was sent last.
func (r *run) settle(i int) {
	h, is := r.hosts[i], r.kept[i].next
	leave, err := h.Enter()
	defer leave()
	if err != nil {
		r.Fatal(err)
	}
	behind := h.Position() < r.changed
	view := h.History().View(counter.Entry)
	r.n++
	name := fmt.Sprint("m", r.n)
	h.memory.Model, h.memory.LastView, h.memory.Last = name, view, sessionlog.PlaceOf(view)
	if err = h.Settle(context.Background()); err != nil {
		defer r.restart(h)
	}
	if !r.overtaken(behind, err) && r.took(i, is, true, err) {
		r.Model, r.View = name, lines(view.Entries)
		r.moved()
	}
}

// sleep releases the session's memory. A store that does not give it back loses nothing.
func (r *run) sleep(i int) {
	h := r.hosts[i]
	h.Sleep()
	if r.kept[i].unread = rapid.Bool().Draw(r.T, "unread"); r.kept[i].unread && h.Released() {
		at := h.Position()
		leave, err := h.Enter()
		leave()
		if !store.IsCause(err, store.Gone) || h.Position() != at {
			r.Fatalf("position %d, was %d: %v", h.Position(), at, err)
		}
	}
}

// reopen ends a host, at once, and opens the session in another one.
func (r *run) reopen(i int) {
	if old := r.hosts[i]; old != nil {
		_ = old.CloseLog() // as the system does
	}
	h := open(r, r.kept[i], r.key, nil)
	if err := h.Transcribe(context.Background(), r.logs[i], r.key.ID, nil, false); err != nil {
		r.Fatal(err)
	}
	r.hosts[i], r.late[i] = h, nil
}

// look compares what a host has with the model, and the store with what was added.
func (r *run) look(i int) {
	h := r.hosts[i]
	if _, err := h.Refresh(context.Background(), nil); err != nil {
		r.Fatal(err)
	}
	r.compare(h, r.key, r.state)
	r.transcribed(i, r.late[i])
	r.late[i] = nil
	if at := h.Position(); at > 0 {
		r.past = append(r.past, moment{at, r.state})
	}
}

func (r *run) compare(h *host, key store.Key, want state) {
	now := h.History().Snapshot()
	got := state{Entries: lines(now.Entries), Tokens: now.Tokens, Revision: now.Revision, Model: h.memory.Model,
		View: lines(h.memory.LastView.Entries)}
	recorded, err := journal.Read(context.Background(), r.kept[0].Store, key)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		r.Fatal(err)
	}
	for _, a := range recorded.Added {
		got.Added = append(got.Added, a.ID+" "+text(a.Content))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		r.Fatal(diff)
	}
}

// fork opens a fork at a moment of the session's past, twice.
func (r *run) fork(i int) {
	if len(r.past) == 0 {
		return
	}
	from := rapid.SampledFrom(r.past).Draw(r.T, "moment")
	r.n++
	key := store.Key{ID: fmt.Sprint(r.key.ID, "-", r.n)}
	for range 2 {
		r.compare(open(r, r.kept[i].Store, key, &journal.Fork{Parent: r.key.ID, At: from.at, Whole: true}), key,
			from.state)
	}
}
