package prune

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/internal/testkit/gen"
	"github.com/thresh-dev/thresh/sdk"
	"github.com/thresh-dev/thresh/sdk/tools"
)

// benchCall is what a host sends of a made session, with every tool preset.
func benchCall(b *testing.B, entries int) sdk.Call {
	b.Helper()
	taxonomy, err := tools.ForPresets(tools.PresetNames(), nil)
	if err != nil {
		b.Fatal(err)
	}
	call := sdk.Call{History: gen.Session(entries, 1), Tools: taxonomy}
	call.WorkspaceRoot = "/w"
	for i, e := range call.History {
		call.History[i] = e.WithOrigin(i)
	}
	return call
}

// A turn that adds three entries to a history, of which 5,000 entries are about a million tokens: without a memo, which
// works on everything, and with one. No edits are applied, so all of them stay in every answer.
func BenchmarkOptimize(b *testing.B) {
	for _, recency := range []bool{false, true} {
		for _, entries := range []int{500, 5000, 100_000} {
			b.Run(fmt.Sprintf("recency=%v/entries=%d", recency, entries), func(b *testing.B) {
				benchmarkTurns(b, entries, recency)
			})
		}
	}
}

func benchmarkTurns(b *testing.B, entries int, recency bool) {
	in := sdk.OptimizeInput{Call: benchCall(b, entries+300)}
	in.Density = sdk.DefaultDensityConfig()
	in.Density.RecencyPruning = recency
	history := in.History
	optimize := func(b *testing.B, entries, unchanged int) {
		in.History, in.Unchanged = history[:entries], unchanged
		if _, err := Optimize(b.Context(), in); err != nil {
			b.Fatal(err)
		}
	}
	b.Run("full", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			optimize(b, entries, 0)
		}
	})
	b.Run("turn", func(b *testing.B) {
		b.ReportAllocs()
		in.Memo = new(sdk.Memo)
		before := heap()
		optimize(b, entries, 0)
		took := float64(heap() - before)
		memo, says := took/float64(size(history[:entries])), float64(in.Memo.Load().(*state).MemoBytes())/took
		n := entries
		for b.Loop() {
			if n == len(history) { // back to the beginning
				b.StopTimer()
				n = entries
				optimize(b, n, n)
				b.StartTimer()
			}
			optimize(b, n+3, n)
			n += 3
		}
		b.ReportMetric(memo, "memo/text")      // bytes
		b.ReportMetric(says, "accounted/memo") // bytes
	})
}

// heap returns how many bytes are in use.
func heap() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

func size(history []sdk.Content) (bytes int) {
	for _, e := range history {
		bytes += len(e.AppendJSON(nil))
	}
	return bytes
}

// The worst that a history can hold. Twice the size must not take more than 2.3 times as long.
func BenchmarkOptimizeWorst(b *testing.B) {
	shapes := map[string]func(n int) []sdk.Content{
		"reads of one path, then a write": func(n int) (h []sdk.Content) {
			for i := range n / 2 {
				h = append(h, exchange(fmt.Sprint(i), "read_file", "a.go")...)
			}
			return append(h, exchange("w", "write_file", "a.go")...)
		},
		"writes that are answered late, the first one first": func(n int) (h []sdk.Content) {
			var late []sdk.Content
			for i := range n / 4 {
				w := exchange(fmt.Sprint("w", i), "write_file", "a.go")
				h = append(append(h, w[0]), exchange(fmt.Sprint(i), "read_file", "a.go")...)
				late = append(late, w[1])
			}
			return append(h, late...)
		},
		"reads and writes in turn": func(n int) (h []sdk.Content) {
			for i := range n / 4 {
				h = append(h, exchange(fmt.Sprint(i), "read_file", "a.go")...)
				h = append(h, exchange(fmt.Sprint("w", i), "write_file", "a.go")...)
			}
			return h
		},
		"one letter in a parameter": func(n int) []sdk.Content {
			path := strings.Repeat("a", 20*n)
			return join(exchange("r", "read_file", path), exchange("w", "write_file", path))
		},
		"inclusions in one text": func(n int) []sdk.Content {
			return []sdk.Content{said(sdk.Human, strings.Repeat("--- a.go ---\nx\n--- End of content ---\n", n))}
		},
		"calls in one entry": func(n int) []sdk.Content {
			var asked, answered []sdk.Content
			for range n / 2 {
				e := exchange("same", "read_file", "a.go")
				asked, answered = append(asked, e[0]), append(answered, e[1])
			}
			return append([]sdk.Content{merge(asked...), merge(answered...)}, exchange("w", "write_file", "a.go")...)
		},
	}
	for name, shape := range shapes {
		for _, n := range []int{25_000, 50_000} {
			b.Run(fmt.Sprintf("%s/%d", name, n), func(b *testing.B) {
				in := sdk.OptimizeInput{Call: benchCall(b, 0)}
				in.History = shape(n)
				in.Density = sdk.DensityConfig{
					ReadWritePruning: true, FileDedupe: true, RecencyPruning: true, RecencyRetention: n / 8,
				}
				for b.Loop() {
					if _, err := Optimize(b.Context(), in); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
