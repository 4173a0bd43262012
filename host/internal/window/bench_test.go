package window_test

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/thresh-dev/thresh/host/config"
	"github.com/thresh-dev/thresh/host/internal/lab/transcript"
	"github.com/thresh-dev/thresh/host/internal/window"
	"github.com/thresh-dev/thresh/internal/testkit/gen"
	"github.com/thresh-dev/thresh/sdk/content"
)

// benchPlugins builds the strategies that ship and one that does nothing, and returns their directory.
func benchPlugins(b *testing.B) string {
	b.Helper()
	return strategies(b, "idle", "high-density", "top-down-truncation")
}

func openHost(b *testing.B, dir string, settings ...config.Override) *window.Host {
	b.Helper()
	set := []config.Override{
		{Key: "plugins.dirs", Value: []string{dir}}, {Key: "model.name", Value: "gpt-4"},
		{Key: "model.contextLimit", Value: 4_000_000},
	}
	c, err := config.Load(config.Options{ConfigFile: os.DevNull, Env: []string{}, Overrides: append(set, settings...)})
	if err != nil {
		b.Fatal(err)
	}
	h, err := window.Open(window.Options{Config: c, Logger: hclog.New(&hclog.LoggerOptions{Output: io.Discard})})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { h.Close() })
	return h
}

// BenchmarkWindow is a whole turn over 5,000 entries, about a million tokens: "idle" sends the history to a strategy
// that does nothing, "high-density" prunes it. The history is made again for each turn, so that there is something to
// prune; that and counting are not measured.
func BenchmarkWindow(b *testing.B) {
	dir := benchPlugins(b)
	entries := gen.Session(5000, 1)
	for _, strategy := range []string{"idle", "high-density"} {
		b.Run(strategy, func(b *testing.B) {
			h := openHost(b, dir, config.Override{Key: "compression.strategy", Value: strategy})
			b.ReportAllocs()
			var hostTime, pluginTime float64
			for b.Loop() {
				b.StopTimer()
				s := session(b, h, entries)
				b.StartTimer()
				p, err := s.Prepare(b.Context(), window.Sending{})
				if err != nil {
					b.Fatal(err)
				}
				b.StopTimer()
				hostTime += float64(p.Outcome.HostTime.Nanoseconds())
				pluginTime += float64(p.Outcome.PluginTime().Nanoseconds())
				s.Close()
				b.StartTimer()
			}
			b.ReportMetric(hostTime/float64(b.N), "host-ns/op")
			b.ReportMetric(pluginTime/float64(b.N), "plugin-ns/op")
		})
	}
}

// BenchmarkCompress is one Compress of histories of growing size: twice the entries should take at most 2.3 times as
// long.
func BenchmarkCompress(b *testing.B) {
	dir := benchPlugins(b)
	for _, strategy := range []string{"high-density", "top-down-truncation"} {
		for _, n := range []int{1250, 2500, 5000} {
			b.Run(fmt.Sprintf("%s/%d", strategy, n), func(b *testing.B) {
				h := openHost(b, dir, config.Override{Key: "compression.strategy", Value: strategy},
					config.Override{Key: "model.contextLimit", Value: n * 100}) // so that about half has to go
				entries := gen.Session(n, 1)
				for b.Loop() {
					b.StopTimer()
					s := session(b, h, entries)
					b.StartTimer()
					if _, err := s.Compress(b.Context(), nil); err != nil {
						b.Fatal(err)
					}
					b.StopTimer()
					s.Close()
					b.StartTimer()
				}
			})
		}
	}
}

// BenchmarkTurn is a turn of an agent: three entries of about 550 tokens are added, which counts them, and the history
// is prepared. ms/turn is the median; edit-ms/turn is that of the turns that applied a prune. "full" sends the plugin
// the whole history each time, as hosts and plugins without mirrors do. "idle" is the floor: what the host does,
// counting included, and a call of a plugin that does nothing.
func BenchmarkTurn(b *testing.B) {
	dir := benchPlugins(b)
	for _, way := range []struct {
		name, strategy string
		mirrorBytes    int
	}{
		{"high-density", "high-density", 256 << 20},
		{"idle", "idle", 256 << 20},
		{"high-density-full", "high-density", 0},
		{"top-down-truncation", "top-down-truncation", 256 << 20},
	} {
		for _, tokens := range []int{10_000, 100_000, 1_000_000, 4_000_000} {
			b.Run(fmt.Sprintf("%s/tokens=%d", way.name, tokens), func(b *testing.B) {
				h := openHost(b, dir,
					config.Override{Key: "compression.strategy", Value: way.strategy},
					config.Override{Key: "plugins.mirrorBytes", Value: way.mirrorBytes},
					config.Override{Key: "model.contextLimit", Value: 1_000_000_000},
				)
				benchmarkTurns(b, h, tokens)
			})
		}
	}
}

// tokensPerEntry is about what an entry of gen.Session has.
const tokensPerEntry = 180

func benchmarkTurns(b *testing.B, h *window.Host, tokens int) {
	const added = 3
	n := tokens / tokensPerEntry
	turns := max(20, n/10/added) // a session grows by a tenth before it is made again
	entries := gen.Session(n+turns*added, 1)
	var took, edits []time.Duration
	for b.Loop() {
		s := session(b, h, entries[:n])
		if _, err := s.Prepare(b.Context(), window.Sending{}); err != nil {
			b.Fatal(err)
		}
		runtime.GC() // making the session is not part of its turns,
		runtime.GC() // and neither is sweeping up after it
		for i := range turns {
			start := time.Now()
			if _, err := s.Add(b.Context(), window.Addition{Entries: entries[n+i*added : n+(i+1)*added],
				Judge: window.Anything}); err != nil {
				b.Fatal(err)
			}
			p, err := s.Prepare(b.Context(), window.Sending{})
			if err != nil {
				b.Fatal(err)
			}
			took = append(took, time.Since(start))
			if len(p.Outcome.Changes) > 0 {
				edits = append(edits, took[len(took)-1])
			}
		}
		if err := s.Close(); err != nil {
			b.Fatal(err)
		}
	}
	if slices.Sort(edits); len(edits) > 0 {
		b.ReportMetric(edits[len(edits)/2].Seconds()*1e3, "edit-ms/turn")
	}
	slices.Sort(took)
	b.ReportMetric(took[len(took)/2].Seconds()*1e3, "ms/turn")
	b.ReportMetric(took[len(took)*95/100].Seconds()*1e3, "p95-ms/turn")
	b.ReportMetric(0, "ns/op") // most of it is making the session
}

// BenchmarkRestore opens a session from a native file of 5,000 entries, about a million tokens: reading, counting, the
// first view. No strategy is called.
func BenchmarkRestore(b *testing.B) {
	h := openHost(b, benchPlugins(b), config.Override{Key: "compression.strategy", Value: "top-down-truncation"},
		config.Override{Key: "model.contextLimit", Value: 1_000_000_000})
	var native bytes.Buffer
	_, err := transcript.Write(&native, &transcript.Transcript{Entries: gen.Session(5000, 1)}, transcript.Native)
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		t, err := transcript.Read(bytes.NewReader(native.Bytes()), transcript.Options{})
		if err != nil {
			b.Fatal(err)
		}
		s := session(b, h, t.Entries)
		if _, err := s.Prepare(b.Context(), window.Sending{}); err != nil {
			b.Fatal(err)
		}
		if err := s.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkSessionMemory reports what a session of 5,000 entries, about a million tokens, keeps resident in the host,
// as a multiple of its text, and what the plugin keeps for all sessions. The entries come in as JSON, as from a file or
// an agent, and the session has had its first turn, which prunes most. slack is what Go's garbage collector leaves
// unused on top. Run it with -benchtime 200x for a tenth of 2,000 sessions.
func BenchmarkSessionMemory(b *testing.B) {
	h := openHost(b, benchPlugins(b), config.Override{Key: "compression.strategy", Value: "high-density"})
	var raw [][]byte
	text := 0
	for _, c := range gen.Session(5000, 1) {
		raw = append(raw, c.AppendJSON(nil))
		text += len(raw[len(raw)-1])
	}
	open := func() {
		entries := make([]content.Content, len(raw))
		for i := range raw {
			if err := entries[i].UnmarshalJSON(raw[i]); err != nil {
				b.Fatal(err)
			}
		}
		s := session(b, h, entries)
		if _, err := s.Prepare(b.Context(), window.Sending{}); err != nil {
			b.Fatal(err)
		}
	}
	open() // the first one pays for the tokenizer
	debug.FreeOSMemory()
	before := resident(b, "self")
	n := 0
	for b.Loop() {
		open()
		n++
	}
	perText := func() float64 { return float64(resident(b, "self")-before) / float64(text*n) }
	all := perText()
	debug.FreeOSMemory()
	b.ReportMetric(perText(), "rss-bytes/text-byte")
	b.ReportMetric(all-perText(), "slack-bytes/text-byte")
	for _, child := range children(b) {
		b.ReportMetric(float64(resident(b, child))/(1<<20), "plugin-MiB")
	}
}

// children returns the processes that this one started: the plugins.
func children(b *testing.B) (pids []string) {
	b.Helper()
	all, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		b.Fatal(err)
	}
	for _, file := range all {
		raw, err := os.ReadFile(file)
		if err != nil {
			continue // it has ended
		}
		_, after, _ := strings.Cut(string(raw), ") ") // a name may hold anything
		if fields := strings.Fields(after); len(fields) > 1 && fields[1] == strconv.Itoa(os.Getpid()) {
			pids = append(pids, filepath.Base(filepath.Dir(file)))
		}
	}
	return pids
}

func session(b *testing.B, h *window.Host, entries []content.Content) *window.Session {
	b.Helper()
	s, err := h.Open(window.Opening{})
	if err != nil {
		b.Fatal(err)
	}
	if _, err := s.Add(b.Context(), window.Addition{Entries: entries, Judge: window.Anything}); err != nil {
		b.Fatal(err)
	}
	return s
}

// resident is the resident memory of a process in bytes, as the kernel counts it.
func resident(b *testing.B, process string) int {
	b.Helper()
	raw, err := os.ReadFile(filepath.Join("/proc", process, "status"))
	if err != nil {
		b.Skip("no /proc here: resident memory cannot be read")
	}
	for line := range strings.Lines(string(raw)) {
		if kb, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			n, err := strconv.Atoi(strings.TrimSuffix(strings.TrimSpace(kb), " kB"))
			if err != nil {
				b.Fatal(err)
			}
			return n << 10
		}
	}
	b.Fatalf("no VmRSS in the status of process %s", process)
	return 0
}
