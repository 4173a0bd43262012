package window_test

import (
	"context"
	"fmt"
	"iter"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/thresh-dev/thresh/host/internal/store"
	"github.com/thresh-dev/thresh/host/internal/store/sqlite"
	"github.com/thresh-dev/thresh/host/internal/window"
	"github.com/thresh-dev/thresh/internal/testkit/full"
	"github.com/thresh-dev/thresh/internal/testkit/gen"
	"github.com/thresh-dev/thresh/internal/testkit/race"
	"github.com/thresh-dev/thresh/sdk/content"
)

// Sessions whose memory is released and read again, between any two of their steps, do what others do. What is in
// memory stays within the setting.
func TestIdleSessionsLeaveMemory(t *testing.T) {
	const limit = 100_000 // bytes: about one of the sessions
	settings := map[string]any{"model.contextLimit": 12_000, "compression.density.recencyPruning": true}
	whole := open(t, settings)
	settings["sessions.maxMemory"] = limit
	tight := openOn(t, store.NewMemory(), settings)
	tight.SetSnapshotEvery(10)
	var sessions, twins []*window.Session
	var scripts [][]step
	for i := range 4 {
		key, own := store.Key{ID: fmt.Sprint("s", i)}, map[string]any{"compression.threshold": 0.7}
		for h, list := range map[*window.Host]*[]*window.Session{whole: &twins, tight: &sessions} {
			s, err := h.Open(window.Opening{Key: key, Settings: own})
			if err != nil {
				t.Fatal(err)
			}
			*list = append(*list, s)
		}
		scripts = append(scripts, script(gen.Session(110, uint64(i)), uint64(i)))
	}
	released := 0
	for at := range scripts[0] {
		for i := range scripts {
			if at >= len(scripts[i]) {
				continue
			}
			if diff := cmp.Diff(scripts[i][at](t, twins[i]), scripts[i][at](t, sessions[i])); diff != "" {
				t.Fatalf("session %d, step %d:\n%s", i, at, diff)
			}
			if diff := cmp.Diff(texts(owned(t, twins[i]).Contents()), texts(owned(t, sessions[i]).Contents())); diff != "" {
				t.Fatalf("session %d, step %d:\n%s", i, at, diff)
			}
			if tight.Memory() > limit {
				t.Errorf("step %d: %d bytes are in memory", at, tight.Memory())
			}
			for _, s := range sessions {
				if s.Released() {
					released++
				}
			}
		}
	}
	if released == 0 {
		t.Error("no session was ever released: the test shows nothing")
	}
}

// A session that the store does not give back says so, whatever is asked of it: no reader takes it for an empty one.
// What was read before and after fits together.
func TestNoReaderTakesAFailureForAnEmptySession(t *testing.T) {
	kept := &unreadable{Store: store.NewMemory()}
	s := begin(t, openOn(t, kept, map[string]any{"compression.strategy": "high-density"}), nil)
	must(t, s.SetSystem(t.Context(), content.Text{Text: "Be brief."}), nil)
	add(t, s, says(content.Human, "one"), says(content.AI, "two"))
	before := moment(t, s)
	readers := map[string]func() (empty bool, err error){
		"Point":     func() (bool, error) { m, err := s.Point(); return m != before, err },
		"History":   func() (bool, error) { h, err := s.History(); return len(h.Entries) != 2, err },
		"HistoryAt": func() (bool, error) { h, err := s.HistoryAt(&before); return len(h.Entries) != 2, err },
		"Size":      func() (bool, error) { _, _, n, err := s.Size(nil); return n != 2, err },
		"System":    func() (bool, error) { b, err := s.System(); return len(b) != 1, err },
		"Prepare": func() (bool, error) {
			p, err := s.Prepare(t.Context(), window.Sending{UpTo: &before})
			return len(p.Contents()) != 2, err
		},
		"PlanOptimize": func() (bool, error) { p, _, err := s.PlanOptimize(t.Context()); return p == nil, err },
		"Compress":     func() (bool, error) { o, err := s.Compress(t.Context(), nil); return o.TokensBefore == 0, err },
	}
	for name, read := range readers {
		s.Sleep()
		kept.down.Store(true)
		if _, err := read(); err == nil {
			t.Errorf("%s: no error while the store is down", name)
		}
		kept.down.Store(false)
		if empty, err := read(); empty || err != nil {
			t.Errorf("%s: %v, wrong: %v", name, err, empty)
		}
	}
}

// unreadable is a store that gives nothing back while it is down.
type unreadable struct {
	store.Store
	down atomic.Bool
}

func (u *unreadable) Records(ctx context.Context, key store.Key, c store.Choice) iter.Seq2[store.Record, error] {
	if u.down.Load() {
		return func(yield func(store.Record, error) bool) {
			yield(store.Record{}, &store.Fault{Cause: store.Gone, Store: "test", Err: context.DeadlineExceeded})
		}
	}
	return u.Store.Records(ctx, key, c)
}

// What sessions take of the heap is what is counted, and they give it back, whatever was done with them before.
func TestMemoryOfSessionsIsCountedAndGivenBack(t *testing.T) {
	race.Skip(t)
	kinds := map[string]func(seed uint64) []content.Content{
		"work":     func(seed uint64) []content.Content { return gen.Session(1400, seed) },
		"pictures": func(seed uint64) []content.Content { return pictures(t, 10, 100_000, seed) },
		"spaces":   func(uint64) []content.Content { return []content.Content{says("human", "x"+strings.Repeat(" ", 1e6))} },
	}
	for kind, entries := range kinds {
		for _, prepared := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, prepared: %v", kind, prepared), func(t *testing.T) {
				kept, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "s.db"))
				if err != nil {
					t.Fatal(err)
				}
				defer kept.Close()
				h := openOn(t, kept, map[string]any{"sessions.maxMemory": 0, "model.contextLimit": 10_000_000})
				begin := func(i int) *window.Session {
					s, err := h.Open(window.Opening{Key: store.Key{ID: fmt.Sprint("s", i)}})
					if err != nil {
						t.Fatal(err)
					}
					add(t, s, entries(uint64(i))...)
					if prepared {
						prepareTurn(t, s)
						add(t, s, says("human", "go on"))
						prepareTurn(t, s)
					}
					return s
				}
				begin(0) // pays for the tokenizer and the plugin
				sessions := full.Or(6, 12)
				heap, counted := heapBytes(), h.Memory()
				var all []*window.Session
				for i := range sessions {
					all = append(all, begin(i+1))
				}
				took, says := float64(heapBytes()-heap), float64(h.Memory()-counted)
				t.Logf("a session takes %.2f MB and counts as %.2f", took/1e6/float64(sessions), says/1e6/float64(sessions))
				if took > 1.2*says || says > 1.2*took {
					t.Errorf("%.0f bytes are taken, %.0f counted", took, says)
				}
				for _, s := range all {
					s.Sleep()
				}
				// The plugin is told in the background; buffers of that are noise, and go when it has ended.
				left := float64(heapBytes() - heap)
				for end := time.Now().Add(10 * time.Second); left > took/10 && time.Now().Before(end); {
					left = float64(heapBytes() - heap)
				}
				if left > took/10 || h.Memory() != counted {
					t.Errorf("released sessions keep %.0f bytes of %.0f, counted are %d", left, took, h.Memory()-counted)
				}
			})
		}
	}
}

// pictures is a session with pictures of so many bytes, one to an entry.
func pictures(t *testing.T, n, size int, seed uint64) (entries []content.Content) {
	t.Helper()
	for i := range n {
		letter := string(rune('A' + (seed+uint64(i))%26))
		var c content.Content
		err := c.UnmarshalJSON(fmt.Appendf(nil, `{"speaker":"human","blocks":[{"type":"media","mimeType":"image/png",`+
			`"encoding":"base64","data":"%s"}]}`, strings.Repeat(letter, size)))
		if err != nil {
			t.Fatal(err)
		}
		entries = append(entries, c)
	}
	return entries
}

// heapBytes is what is reachable.
func heapBytes() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC() // what pools keep goes with the second one
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

func TestOldSessionsAreDeleted(t *testing.T) {
	kept := expiring{store.NewMemory(), make(chan int, 2)}
	s, err := openOn(t, kept, map[string]any{"sessions.keep": "1h"}).Open(window.Opening{Key: store.Key{ID: "old"}})
	if err != nil {
		t.Fatal(err)
	}
	add(t, s, says("human", "long ago"))
	openOn(t, kept, map[string]any{"sessions.keep": "1ns"})
	if first, second := <-kept.expired, <-kept.expired; first != 0 || second != 1 {
		t.Errorf("of sessions kept for an hour %d are deleted, for a nanosecond %d", first, second)
	}
}

// expiring is a store that tells how many sessions each call of Expire deletes.
type expiring struct {
	store.Store
	expired chan int
}

func (e expiring) Expire(ctx context.Context, unused time.Duration) (int, error) {
	n, err := e.Store.Expire(ctx, unused)
	e.expired <- n
	return n, err
}
