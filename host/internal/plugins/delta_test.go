package plugins

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"weak"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/thresh-dev/thresh/host/config"
	"github.com/thresh-dev/thresh/host/internal/history"
	"github.com/thresh-dev/thresh/host/internal/plugins/client"
	"github.com/thresh-dev/thresh/host/internal/prepare"
	"github.com/thresh-dev/thresh/internal/testkit/gen"
	"github.com/thresh-dev/thresh/internal/testkit/race"
	"github.com/thresh-dev/thresh/sdk"
	"github.com/thresh-dev/thresh/sdk/content"
)

// mirroring starts the plugin that tells what it sees. Its mirrors take at most the given number of bytes; below 0 it
// has none, and each call sends everything.
func mirroring(t testing.TB, bytes int) *Strategy {
	t.Helper()
	o := Options{Plugins: config.Plugins{Dirs: []string{pluginDir(t, "mirror")}, MirrorBytes: bytes}}
	if bytes < 0 {
		o.NoMirrors, o.MirrorBytes = true, 0
	}
	return strategy(t, open(t, o), "mirror")
}

// traffic is what was sent to a strategy's process.
func traffic(t testing.TB, s *Strategy) client.Traffic {
	t.Helper()
	l, err := s.Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer l.Release()
	return l.Plugin().Traffic()
}

// ledger is a history that is added to and rewritten as a host does.
type ledger struct {
	prepare.Call
	ids     int
	applied int // what the last optimize was told of its edits
}

func newLedger(session string) *ledger {
	l := &ledger{}
	l.SessionID = session
	return l
}

// add appends an entry.
func (l *ledger) add(c content.Content) {
	l.Entries = append(l.Entries, l.entry(c))
	l.Revision++
}

// entry makes an entry with an id of its own.
func (l *ledger) entry(c content.Content) *history.Entry {
	l.ids++
	return &history.Entry{ID: fmt.Sprint("e", l.ids), Content: c, Count: history.Count{Tokens: l.ids % 97}}
}

// rewrite replaces the entries [from, to). Holders of the earlier list keep it as it was.
func (l *ledger) rewrite(from, to int, entries ...*history.Entry) {
	l.Entries = slices.Concat(l.Entries[:from], entries, l.Entries[to:])
	l.Epoch++
	l.Revision++
}

// edited returns an entry with other blocks and the same id.
func edited(e *history.Entry, blocks []content.Block) *history.Entry {
	out := &history.Entry{ID: e.ID, Content: e.Content, Count: history.Count{Tokens: e.Tokens + 1}}
	out.Content.Blocks = blocks
	return out
}

// droppable is an entry that the plugin removes.
var droppable = content.Content{Speaker: content.AI, Blocks: []content.Block{content.Text{Text: "drop"}}}

// drop removes the entries that the plugin wants to be removed, but for the first spared of them.
func (l *ledger) drop(spared int) {
	left := slices.DeleteFunc(slices.Clone(l.Entries), func(e *history.Entry) bool {
		if drop := e.Content.Equal(droppable); !drop || spared > 0 {
			if drop {
				spared--
			}
			return false
		}
		return true
	})
	l.rewrite(0, len(l.Entries), left...)
}

// optimize returns what the plugin says that it saw, but for Unchanged, which comes apart, and Applied.
func (l *ledger) optimize(t interface {
	Helper()
	Fatal(...any)
}, s *Strategy) (saw sdk.DensityMetadata, unchanged int) {
	t.Helper()
	a, err := s.Optimize(rapidContext, prepare.OptimizeCall{Call: l.Call})
	if err != nil {
		t.Fatal(err)
	}
	saw = a.Metadata
	unchanged, l.applied, saw.RecencyPruned = saw.RecencyPruned&(1<<20-1), saw.RecencyPruned>>20, 0
	return saw, unchanged
}

// A plugin sees the same history whether it is sent whole or what is new: whatever is added and rewritten, and whatever
// its memory holds. Small mirrors are evicted all the time.
func TestAPluginSeesWhatItWouldSeeOfAFullSend(t *testing.T) {
	t.Parallel()
	race.Skip(t)
	whole := mirroring(t, -1)
	plain := gen.History(gen.Options{})
	for name, bytes := range map[string]int{"all held": 64 << 20, "some evicted": 20 << 10} {
		if bytes > 1<<20 && testing.Short() {
			continue // where some are evicted, most are held, too
		}
		delta := mirroring(t, bytes)
		t.Run(name, func(t *testing.T) {
			runs, told := 0, 0
			property := func(t *rapid.T) {
				runs++
				var ledgers []*ledger
				for i := range 3 {
					ledgers = append(ledgers, newLedger(fmt.Sprint("session ", runs, " ", i)))
				}
				t.Repeat(map[string]func(*rapid.T){
					"": func(t *rapid.T) {
						l := rapid.SampledFrom(ledgers).Draw(t, "session")
						if rapid.IntRange(0, 9).Draw(t, "call") == 0 {
							in := prepare.CompressCall{Call: l.Call}
							in.Entries = history.Curate(l.Entries)
							want, err := whole.Compress(rapidContext, in, services{})
							if err != nil {
								t.Fatal(err)
							}
							if got, err := delta.Compress(rapidContext, in, services{}); err != nil ||
								got.NoOp != want.NoOp {
								t.Fatalf("Compress saw %q, %v; want %q", got.NoOp, err, want.NoOp)
							}
							return
						}
						want, _ := l.optimize(t, whole)
						if got, _ := l.optimize(t, delta); got != want {
							t.Fatalf("Optimize saw %+v, want %+v", got, want)
						}
						told += l.applied
					},
					"add": func(t *rapid.T) {
						l := rapid.SampledFrom(ledgers).Draw(t, "session")
						for _, c := range plain.Draw(t, "entries") {
							l.add(c)
						}
					},
					"remove or replace": func(t *rapid.T) {
						l := rapid.SampledFrom(ledgers).Draw(t, "session")
						from := rapid.IntRange(0, len(l.Entries)).Draw(t, "from")
						to := rapid.IntRange(from, len(l.Entries)).Draw(t, "to")
						var news []*history.Entry
						for _, c := range plain.Draw(t, "entries") {
							news = append(news, l.entry(c))
						}
						l.rewrite(from, to, news...)
					},
					"edit": func(t *rapid.T) {
						l := rapid.SampledFrom(ledgers).Draw(t, "session")
						if len(l.Entries) == 0 {
							return
						}
						i := rapid.IntRange(0, len(l.Entries)-1).Draw(t, "entry")
						blocks := slices.Clone(l.Entries[i].Content.Blocks)
						at := rapid.IntRange(0, len(blocks)).Draw(t, "block")
						if rapid.Bool().Draw(t, "remove") {
							blocks = slices.Delete(blocks, at, min(at+1, len(blocks)))
						} else {
							blocks = slices.Insert(blocks, at,
								content.Block(content.Text{Text: gen.Text().Draw(t, "text")}))
						}
						l.rewrite(i, i+1, edited(l.Entries[i], blocks))
					},
					"add one to drop": func(t *rapid.T) {
						rapid.SampledFrom(ledgers).Draw(t, "session").add(droppable)
					},
					"drop": func(t *rapid.T) { // mostly what the plugin answered
						rapid.SampledFrom(ledgers).Draw(t, "session").drop(rapid.SampledFrom([]int{0, 0, 1}).Draw(t, "spared"))
					},
					"shorten": func(t *rapid.T) { // as a turn sees it that was asked for before something was added
						l := rapid.SampledFrom(ledgers).Draw(t, "session")
						l.Entries = l.Entries[:rapid.IntRange(0, len(l.Entries)).Draw(t, "length")]
						l.Entries = slices.Clip(l.Entries)
						l.Epoch++
					},
					"tell": func(t *rapid.T) {
						delta.Rewritten(rapid.SampledFrom(ledgers).Draw(t, "session").Call)
					},
					"end": func(t *rapid.T) {
						delta.EndSession(rapid.SampledFrom(ledgers).Draw(t, "session").SessionID)
					},
				})
			}
			// With -short, rapid makes so few histories that some that matter may be missing.
			for range 20 {
				rapid.Check(t, property)
				// Where all are held, a resync comes only from a session that goes on though it was said to have ended.
				got := traffic(t, delta)
				if t.Failed() || got.Delta > 0 && (bytes > 1<<20 || got.Resyncs > 0) && told > 0 {
					return
				}
			}
			t.Errorf("traffic %+v; told that edits left %d entries", traffic(t, delta), told)
		})
	}
}

// What a turn sends is what was added, whatever stands before it; a rewrite sends what it made.
func TestATurnSendsWhatIsNew(t *testing.T) {
	t.Parallel()
	race.Skip(t)
	s := mirroring(t, 64<<20)
	perTurn := map[int]uint64{}
	for _, n := range []int{100, 2000} {
		l := newLedger(fmt.Sprint("session of ", n))
		for _, c := range gen.Session(n, 1) {
			l.add(c)
		}
		l.optimize(t, s)
		before := traffic(t, s)
		for _, c := range entries("three", "new", "entries") {
			l.add(c.Content)
		}
		if _, unchanged := l.optimize(t, s); unchanged != n {
			t.Errorf("%d of %d entries are unchanged for the memo", unchanged, n)
		}
		added := traffic(t, s)
		perTurn[n] = added.Bytes - before.Bytes
		l.rewrite(n/2, n/2+1)
		l.rewrite(n/4, n/4+1, edited(l.Entries[n/4], []content.Block{content.Text{Text: "short"}}))
		if _, unchanged := l.optimize(t, s); unchanged != n/4 {
			t.Errorf("after a rewrite at %d, %d entries are unchanged for the memo", n/4, unchanged)
		}
		after := traffic(t, s)
		if d := after.Bytes - added.Bytes; d > 100 {
			t.Errorf("a rewrite that leaves out an entry and shortens one sent %d bytes", d)
		}
		gone := weak.Make(l.Entries[n/2])
		l.rewrite(n/2, n/2+1)
		s.Rewritten(l.Call)
		if runtime.GC(); gone.Value() != nil {
			t.Error("an entry that a rewrite took out is kept until the next call")
		}
		l.optimize(t, s)
		if after = traffic(t, s); after.Full-before.Full != 0 || after.Resyncs != 0 {
			t.Errorf("the whole history was sent again: %+v", after)
		}
	}
	if perTurn[100] > 150 || perTurn[2000] > perTurn[100]+10 { // longer ids
		t.Errorf("bytes sent by the number of entries: %v", perTurn)
	}
}

// A plugin is told that the host applied its edits: all of them, whatever was added behind them, and nothing else.
func TestAPluginIsToldThatItsEditsWereApplied(t *testing.T) {
	t.Parallel()
	s := mirroring(t, 64<<20)
	for name, c := range map[string]struct {
		then          func(l *ledger)
		left, applied int
	}{
		"held back": {func(*ledger) {}, 7, 0},
		"applied":   {func(l *ledger) { l.drop(0) }, 1, 4},
		"applied and told": {func(l *ledger) {
			l.drop(0)
			s.Rewritten(l.Call)
		}, 1, 4},
		"applied, and an entry gone that the plugin has not seen": {func(l *ledger) {
			l.add(droppable)
			l.drop(0)
		}, 1, 4},
		"applied in part":          {func(l *ledger) { l.drop(1) }, 3, 0},
		"applied, and another one": {func(l *ledger) { l.drop(0); l.rewrite(3, 4) }, 1, 0},
		"applied, then another one": {func(l *ledger) {
			l.drop(0)
			if _, err := s.Compress(t.Context(), prepare.CompressCall{Call: l.Call}, services{}); err != nil {
				t.Fatal(err)
			}
			l.rewrite(3, 4)
		}, 1, 0},
		"applied, then a Compress that did nothing": {func(l *ledger) {
			l.drop(0)
			if _, err := s.Compress(t.Context(), prepare.CompressCall{Call: l.Call}, services{}); err != nil {
				t.Fatal(err)
			}
		}, 1, 4},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLedger(name)
			for _, text := range []string{"a", "drop", "b", "drop", "drop", "c", "d"} {
				l.add(entries(text)[0].Content)
			}
			l.optimize(t, s)
			c.then(l)
			l.add(entries("new")[0].Content)
			if _, unchanged := l.optimize(t, s); unchanged != c.left || l.applied != c.applied {
				t.Errorf("%d entries are unchanged and %d left by the edits, want %d and %d", unchanged, l.applied,
					c.left, c.applied)
			}
		})
	}
}

// Whatever happens to the process or its mirrors, one call sends everything and the next ones what is new.
func TestALostMirrorCostsOneFullSend(t *testing.T) {
	t.Parallel()
	m := open(t, Options{Plugins: config.Plugins{Dirs: []string{pluginDir(t, "mirror")}}})
	s := strategy(t, m, "mirror")
	l := newLedger("s")
	turn := func() (unchanged int) {
		t.Helper()
		l.add(entries("new")[0].Content)
		saw, unchanged := l.optimize(t, s)
		if saw.FileDeduplicationsPruned != len(l.Entries) {
			t.Fatalf("the plugin saw %d entries of %d", saw.FileDeduplicationsPruned, len(l.Entries))
		}
		return unchanged
	}
	turn()
	if turn() != 1 {
		t.Error("the second turn found no memo")
	}
	l.SessionID = "another" // a mirror that the host has not heard of is no hindrance
	if turn() != 0 || turn() != 3 {
		t.Error("a session found the memo of another one")
	}
	m.EndSession("another")
	if turn() != 0 {
		t.Error("a memo outlived its session")
	}
	if got := traffic(t, s); got.Full != 3 || got.Delta != 2 || got.Resyncs != 0 {
		t.Errorf("traffic %+v", got)
	}
	if err := syscall.Kill(pid(t, s), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if turn() != 0 || turn() != len(l.Entries)-1 {
		t.Error("no memo, or one that outlived its process")
	}
	if got := traffic(t, s); got.Full != 1 || got.Delta != 1 {
		t.Errorf("traffic of the new process %+v", got)
	}
}

// Concurrent calls of one session each see their own history.
func TestConcurrentCallsOfOneSession(t *testing.T) {
	t.Parallel()
	s, full := mirroring(t, 64<<20), mirroring(t, -1)
	var all sync.WaitGroup
	for i := range 4 {
		all.Go(func() {
			l := newLedger("the same")
			l.Epoch = uint64(i)
			for n := range 25 {
				l.add(content.Content{Speaker: content.AI, Blocks: []content.Block{
					content.Text{Text: strings.Repeat(fmt.Sprint(i, " "), n)},
				}})
				want, _ := l.optimize(t, full)
				got, _ := l.optimize(t, s)
				if diff := cmp.Diff(want, got); diff != "" {
					t.Error(diff)
				}
			}
		})
	}
	all.Wait()
}

// A strategy that is only called at the threshold keeps no mirror: it would take memory for a call that is rare.
func TestAPluginWithoutMirrorsIsSentEverything(t *testing.T) {
	t.Parallel()
	s := strategy(t, open(t, Options{Plugins: config.Plugins{Dirs: []string{pluginDir(t, "steady")}}}), "steady")
	for range 3 {
		if _, err := s.Optimize(t.Context(), prepare.OptimizeCall{Call: call("a", "b")}); err != nil {
			t.Fatal(err)
		}
	}
	if got := traffic(t, s); got.Full != 3 || got.Delta != 0 {
		t.Errorf("traffic %+v", got)
	}
}
