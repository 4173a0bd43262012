package journal_test

import (
	"context"
	"fmt"
	"iter"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/thresh-dev/thresh/host/internal/history"
	"github.com/thresh-dev/thresh/host/internal/journal"
	"github.com/thresh-dev/thresh/host/internal/journal/sessionlog"
	"github.com/thresh-dev/thresh/host/internal/store"
	"github.com/thresh-dev/thresh/host/internal/store/backends"
	"github.com/thresh-dev/thresh/host/internal/tokens"
	cluster "github.com/thresh-dev/thresh/internal/testkit/postgres"
	"github.com/thresh-dev/thresh/sdk"
	"github.com/thresh-dev/thresh/sdk/content"
)

// onStores runs a test on a store of each kind, as two hosts see it. PostgreSQL is left out where it is not installed.
func onStores(t *testing.T, test func(t *testing.T, both [2]store.Store)) {
	t.Run("memory", func(t *testing.T) {
		m := store.NewMemory()
		test(t, [2]store.Store{m, m})
	})
	for kind, place := range map[string]func(*testing.T) string{
		"sqlite":   func(t *testing.T) string { return "sqlite:" + filepath.Join(t.TempDir(), "sessions.db") },
		"postgres": func(t *testing.T) string { return cluster.Shared(t).Database() },
	} {
		t.Run(kind, func(t *testing.T) {
			setting := place(t)
			var both [2]store.Store
			for i := range both {
				s, err := backends.Open(t.Context(), setting)
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { _ = s.Close() })
				both[i] = s
			}
			test(t, both)
		})
	}
}

// host is a host with one session open. The session remembers the name of a model, and the view that was sent last.
type host struct {
	*journal.Journal
	keeper *journal.Keeper
	memory journal.Memory
	end    context.CancelFunc
}

// names numbers hosts, whose names in leases must differ.
var names atomic.Int64

// open opens a session, and begins it as a fork if there is none. Nothing is closed: a host may end at any time.
func open(t fataler, kept store.Store, key store.Key, f *journal.Fork) *host {
	t.Helper()
	h, err := opened(kept, key, f)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func opened(kept store.Store, key store.Key, f *journal.Fork) (*host, error) {
	name := fmt.Sprint("host ", names.Add(1))
	h := &host{keeper: journal.NewKeeper(kept, name, func() int64 { return 0 })}
	h.keeper.SnapshotEvery = 4
	var done context.Context
	done, h.end = context.WithCancel(context.Background())
	h.Journal = h.keeper.New(done, key, remembered{h})
	_, _, err := h.Open(context.Background(), f)
	return h, err
}

// fataler is a test, or a run of a property.
type fataler interface {
	Helper()
	Fatal(...any)
}

// remembered implements [journal.Session].
type remembered struct{ *host }

var counter = func() *tokens.Counter {
	c, err := tokens.For("", "")
	if err != nil {
		panic(err)
	}
	return c
}()

func (r remembered) Remembers() journal.Memory { return r.memory }

func (r remembered) Adopt(m journal.Memory, _ bool) error {
	r.memory = m
	return nil
}

func (remembered) Counter() *tokens.Counter { return counter }
func (remembered) Count(*tokens.Counter)    {}
func (remembered) Todos([]sdk.Todo)         {}
func (r remembered) Release()               { r.memory = journal.Memory{} }
func (r remembered) End()                   { r.end() }

// count gives each text its length in tokens, and 3 for what is around it.
func count(_ context.Context, entries []content.Content) ([]history.Count, error) {
	counts := make([]history.Count, len(entries))
	for i, c := range entries {
		n := len(text(c))
		counts[i] = history.Count{Tokens: n + 3, Blocks: []int32{int32(n)}}
	}
	return counts, nil
}

// says makes an entry that goes without a mark: it is no answer of a model.
func says(text string) content.Content {
	return content.Content{Speaker: content.AI, Blocks: []content.Block{content.Text{Text: text}},
		Metadata: []byte(`{"synthetic":true}`)}
}

func text(c content.Content) string { return c.Blocks[0].(content.Text).Text }

// add appends texts, under a key if it is not "".
func (h *host) add(key string, texts ...string) (revision uint64, total int, err error) {
	a := journal.Addition{Counter: counter}
	for _, text := range texts {
		a.Entries = append(a.Entries, says(text))
	}
	if a.Counts, err = count(context.Background(), a.Entries); err != nil {
		return 0, 0, err
	}
	if key != "" {
		a.Once = sessionlog.OnceOf(key, a.Entries)
	}
	leave, err := h.Enter()
	defer leave()
	if err != nil {
		return 0, 0, err
	}
	return h.Append(context.Background(), a)
}

// flaky is a store as one host sees it, whose next append may go wrong.
type flaky struct {
	store.Store
	next  fate
	wrote bool // an append was written whose answer was lost
	// down: it does not say where a session is. unread: it gives no records.
	down, unread bool
}

// fate is what becomes of an append.
type fate int

const (
	answered fate = iota
	refused       // there is no room
	dropped       // it does not arrive, and no answer does
	lost          // it is written, but the answer is lost
	silent        // and the store is down from then on
)

var errGone = &store.Fault{Cause: store.Gone, Store: "test", Unknown: true, Err: context.DeadlineExceeded}

func (f *flaky) Append(ctx context.Context, key store.Key, at store.Position, c store.Change) (store.Head, error) {
	is := f.next
	f.next = answered
	switch is {
	case refused:
		return store.Head{}, &store.Fault{Cause: store.Full, Store: "test", Err: context.DeadlineExceeded}
	case dropped:
		return store.Head{}, errGone
	}
	head, err := f.Store.Append(ctx, key, at, c)
	if err != nil || is == answered {
		return head, err
	}
	f.wrote, f.down = true, is == silent
	return store.Head{}, errGone
}

func (f *flaky) Head(ctx context.Context, key store.Key) (store.Head, error) {
	if f.down {
		return store.Head{}, errGone
	}
	return f.Store.Head(ctx, key)
}

func (f *flaky) Records(ctx context.Context, key store.Key, c store.Choice) iter.Seq2[store.Record, error] {
	if f.unread {
		return func(yield func(store.Record, error) bool) { yield(store.Record{}, errGone) }
	}
	return f.Store.Records(ctx, key, c)
}

// What a session was opened with is in the log with its first entries.
func TestTheFirstEntriesComeWithWhatTheSessionWasOpenedWith(t *testing.T) {
	kept, key := store.NewMemory(), store.Key{ID: "s"}
	h := open(t, kept, key, nil)
	h.memory.Model = "claude"
	if _, _, err := h.add("", "one"); err != nil {
		t.Fatal(err)
	}
	if got := open(t, kept, key, nil).memory.Model; got != "claude" {
		t.Errorf("the session is for the model %q", got)
	}
}

// A session remembers a bounded number of keys, the last ones.
func TestKeysAreForgotten(t *testing.T) {
	h := open(t, store.NewMemory(), store.Key{ID: "s"}, nil)
	add := func(i, want int) {
		t.Helper()
		if _, _, err := h.add(fmt.Sprint("key ", i), fmt.Sprint(i)); err != nil {
			t.Fatal(err)
		}
		if n := len(h.History().Snapshot().Entries); n != want {
			t.Errorf("%d entries after key %d, want %d", n, i, want)
		}
	}
	for i := range 300 {
		add(i, i+1)
	}
	for _, i := range []int{299, 200, 172} {
		add(i, 300)
	}
	add(171, 301)
}

// An addition that failed with an unknown outcome, and is found in the store later, is in the transcript log too.
func TestALateAdditionIsInTheTranscript(t *testing.T) {
	key := store.Key{ID: "s"}
	for name, look := range map[string]func(h, other *host) error{
		"repeated with its key": func(h, _ *host) error {
			_, _, err := h.add("key", "late")
			return err
		},
		"found by another addition": func(h, _ *host) error {
			_, _, err := h.add("", "later")
			return err
		},
		"found by a turn": func(h, _ *host) error {
			_, err := h.Refresh(context.Background(), nil)
			return err
		},
		"found when the session is read again": func(h, _ *host) error {
			h.Sleep()
			_, err := h.Refresh(context.Background(), nil)
			return err
		},
		"found when it is read again from a snapshot behind it": func(h, other *host) error {
			for i := range 5 {
				if err := other.Change(context.Background(), "set", func() error {
					other.memory.Model = fmt.Sprint(i)
					return nil
				}); err != nil {
					return err
				}
			}
			h.Sleep()
			_, err := h.Refresh(context.Background(), nil)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := &flaky{Store: store.NewMemory()}
			h, other := open(t, f, key, nil), open(t, f.Store, key, nil)
			if err := h.Transcribe(t.Context(), t.TempDir(), key.ID, nil, false); err != nil {
				t.Fatal(err)
			}
			f.next = silent
			if _, _, err := h.add("key", "late"); !store.IsCause(err, store.Gone) {
				t.Fatal(err)
			}
			f.down = false
			if err := look(h, other); err != nil {
				t.Fatal(err)
			}
			for _, e := range h.History().Snapshot().Entries {
				if found, err := h.Originals(t.Context(), e.ID); len(found) != 1 || err != nil {
					t.Errorf("%s in the transcript log: %v, %v", e.ID, found, err)
				}
			}
			if err := h.CloseLog(); err != nil {
				t.Error(err)
			}
		})
	}
}
