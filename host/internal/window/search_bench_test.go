package window_test

import (
	"fmt"
	"math/rand"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/thresh-dev/thresh/host/config"
	"github.com/thresh-dev/thresh/host/internal/journal"
	"github.com/thresh-dev/thresh/host/internal/search"
	"github.com/thresh-dev/thresh/host/internal/store"
	"github.com/thresh-dev/thresh/host/internal/window"
	"github.com/thresh-dev/thresh/internal/testkit/gen"
	"github.com/thresh-dev/thresh/sdk/content"
	"github.com/thresh-dev/thresh/sdk/tools"
)

// searchStores are the stores with an index.
func searchStores(b *testing.B, run func(b *testing.B, open func(*testing.B) store.Store)) {
	for _, name := range []string{"memory", "sqlite", "postgres"} {
		open := benchStores[name]
		if name == "memory" {
			open = func(*testing.B) store.Store { return store.NewMemory() }
		}
		b.Run(name, func(b *testing.B) { run(b, open) })
	}
}

// talk adds about so many tokens of results to a session, lines of code with names as frequent as words are, and calls
// every for each 20,000 of them.
func talk(b *testing.B, s *window.Session, tokens int, every func()) (queries []string) {
	b.Helper()
	random := rand.New(rand.NewSource(1))
	words := rand.NewZipf(random, 1.1, 8, 40_000)
	name := func() string { return fmt.Sprintf("name%d", words.Uint64()) }
	for sum, turn, next := 0, 0, 0; sum < tokens; turn++ {
		var file strings.Builder
		for range 120 {
			fmt.Fprintf(&file, "\t%s, err := %s.%s(ctx, %s) // %s %s\n", name(), name(), name(), name(), name(), name())
		}
		entries := factTurn(turn)
		entries[2].Blocks[0] = content.ToolResponse{CallID: fmt.Sprintf("call%d", turn), ToolName: "read_file"}.
			WithResultText(file.String())
		var err error
		added, err := s.Add(b.Context(), window.Addition{Entries: entries, Judge: window.Anything})
		if err != nil {
			b.Fatal(err)
		}
		sum = added.Tokens
		if sum >= next {
			every()
			next = sum + 20_000
		}
	}
	for range 100 {
		queries = append(queries, strings.Join([]string{name(), name(), name(), name(), "host/internal/file7.go"}, " "))
	}
	return queries
}

// BenchmarkSearch searches 1 M tokens, which were indexed as they came: four names and a path.
func BenchmarkSearch(b *testing.B) {
	dir := benchPlugins(b)
	taxonomy, err := tools.ForPresets(tools.PresetNames(), nil)
	if err != nil {
		b.Fatal(err)
	}
	searchStores(b, func(b *testing.B, open func(*testing.B) store.Store) {
		h := openHost(b, dir, config.Override{Key: "compression.strategy", Value: "idle"})
		kept := open(b)
		h.SetStore(kept)
		key := store.Key{ID: "searched"}
		fill := func(every func()) []string {
			s, err := h.Open(window.Opening{Key: store.Key{ID: key.ID}})
			if err != nil {
				b.Fatal(err)
			}
			defer s.Close()
			return talk(b, s, 1_000_000, every)
		}
		fill(func() {})
		log := storedBytes(b, kept)
		if err := kept.Delete(b.Context(), key); err != nil {
			b.Fatal(err)
		}
		var indexed time.Duration
		queries := fill(func() {
			start := time.Now()
			if err := journal.Index(b.Context(), kept, key, taxonomy); err != nil {
				b.Fatal(err)
			}
			indexed += time.Since(start)
		})
		both := storedBytes(b, kept)
		var took []time.Duration
		for n := 0; b.Loop(); n++ {
			start := time.Now()
			found, err := journal.Search(b.Context(), kept, []store.Key{key}, taxonomy,
				search.Query{Words: queries[n%len(queries)]})
			if err != nil || len(found.Found) == 0 {
				b.Fatal(len(found.Found), err)
			}
			took = append(took, time.Since(start))
		}
		slices.Sort(took)
		b.ReportMetric(took[len(took)/2].Seconds()*1000, "p50-ms")
		b.ReportMetric(indexed.Seconds(), "index-s")
		b.ReportMetric(float64(both-log)/1e6, "index-MB")
		b.ReportMetric(float64(log)/1e6, "log-MB")
	})
}

func storedBytes(b *testing.B, s store.Store) int64 {
	b.Helper()
	size, err := s.Size(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	return size.Bytes - size.Free
}

// BenchmarkIndexing adds three entries, about 550 tokens, to 1 M tokens, and indexes what was added as a host does in
// the background, for each 20,000 tokens. index-% is the time of that in percent of the time of the additions.
func BenchmarkIndexing(b *testing.B) {
	dir := benchPlugins(b)
	taxonomy, err := tools.ForPresets(tools.PresetNames(), nil)
	if err != nil {
		b.Fatal(err)
	}
	searchStores(b, func(b *testing.B, open func(*testing.B) store.Store) {
		h := openHost(b, dir, config.Override{Key: "compression.strategy", Value: "idle"})
		kept := open(b)
		h.SetStore(kept)
		key := store.Key{ID: "indexed"}
		s, err := h.Open(window.Opening{Key: store.Key{ID: key.ID}})
		if err != nil {
			b.Fatal(err)
		}
		index := func() {
			if err := journal.Index(b.Context(), kept, key, taxonomy); err != nil {
				b.Fatal(err)
			}
		}
		entries := gen.Session(1_000_000/tokensPerEntry, 1)
		sum := 0
		for at := 0; at < len(entries); at += 100 {
			added, err := s.Add(b.Context(), window.Addition{Entries: entries[at:min(at+100, len(entries))],
				Judge: window.Anything})
			if err != nil {
				b.Fatal(err)
			}
			sum = added.Tokens
			index()
		}
		next, at := sum+20_000, 0
		var added, indexed time.Duration
		var all []time.Duration
		for b.Loop() {
			start := time.Now()
			made, err := s.Add(b.Context(), window.Addition{Entries: entries[at : at+3], Judge: window.Anything})
			if err != nil {
				b.Fatal(err)
			}
			sum = made.Tokens
			all = append(all, time.Since(start))
			added += all[len(all)-1]
			if at = (at + 3) % (len(entries) - 3); sum >= next {
				start := time.Now()
				index()
				indexed += time.Since(start)
				next = sum + 20_000
			}
		}
		slices.Sort(all)
		b.ReportMetric(float64(added.Microseconds())/float64(len(all)), "add-µs")
		b.ReportMetric(float64(all[len(all)/2].Microseconds()), "add-p50-µs")
		b.ReportMetric(float64(indexed.Microseconds())/float64(len(all)), "index-µs")
		b.ReportMetric(100*indexed.Seconds()/added.Seconds(), "index-%")
	})
}
