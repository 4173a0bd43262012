package plugins

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/go-plugin"

	"github.com/thresh-dev/thresh/host/config"
	"github.com/thresh-dev/thresh/host/internal/plugins/discover"
	"github.com/thresh-dev/thresh/host/internal/plugins/plugintest"
	"github.com/thresh-dev/thresh/host/internal/plugins/process"
	"github.com/thresh-dev/thresh/host/internal/plugins/supervise"
	"github.com/thresh-dev/thresh/host/internal/plugins/trust"
	"github.com/thresh-dev/thresh/host/internal/prepare"
	"github.com/thresh-dev/thresh/internal/testkit/binaries"
	"github.com/thresh-dev/thresh/internal/testkit/gen"
	"github.com/thresh-dev/thresh/internal/wire"
	threshv1 "github.com/thresh-dev/thresh/proto/thresh/v1"
	"github.com/thresh-dev/thresh/sdk"
)

// What isolation costs: a start, of the same plugin, up to the answer of GetInfo with go-plugin's own runner, and up
// to the accepted Configure with ours, bare and isolated. They take turns, so that what else goes on in the machine
// hurts each alike, with a rest before each: the kernel still removes the namespaces of the last process, and a
// launcher is made ready.
func BenchmarkIsolatedStart(b *testing.B) {
	isolates(b)
	dir := pluginDir(b, "honest")
	bare := open(b, Options{Plugins: config.Plugins{Dirs: []string{dir}, Isolation: process.IsolationOff}})
	isolated := open(b, Options{Plugins: config.Plugins{Dirs: []string{dir}, Isolation: process.IsolationStrict}})
	turns := map[string]func() time.Duration{
		"go-plugin": func() time.Duration { return goPluginStart(b, filepath.Join(dir, FilePrefix+"honest")) },
		"bare":      func() time.Duration { return starts(b, bare, 1)[0] },
		"isolated":  func() time.Duration { return starts(b, isolated, 1)[0] },
	}
	for name, start := range turns {
		turns[name] = func() time.Duration {
			time.Sleep(30 * time.Millisecond)
			return start()
		}
	}
	takeTurns(b, turns)
}

// goPluginStart starts a plugin as go-plugin does by itself.
func goPluginStart(b *testing.B, path string) time.Duration {
	b.Helper()
	client := plugin.NewClient(&plugin.ClientConfig{
		HandshakeConfig: wire.Handshake(), Plugins: plugin.PluginSet{}, Cmd: exec.Command(path),
		AllowedProtocols: []plugin.Protocol{plugin.ProtocolGRPC}, Logger: hclog.NewNullLogger(),
	})
	defer client.Kill()
	start := time.Now()
	rpc, err := client.Client()
	if err != nil {
		b.Fatal(err)
	}
	conn := rpc.(*plugin.GRPCClient).Conn
	if _, err := threshv1.NewStrategyServiceClient(conn).GetInfo(b.Context(), &threshv1.GetInfoRequest{}); err != nil {
		b.Fatal(err)
	}
	return time.Since(start)
}

// What isolation costs a call: nothing that can be measured. The processes take turns, as the starts above.
func BenchmarkIsolatedCall(b *testing.B) {
	isolates(b)
	turns := map[string]func() time.Duration{}
	for name, mode := range map[string]string{"bare": process.IsolationOff, "isolated": process.IsolationStrict} {
		s := strategy(b, open(b, Options{Plugins: config.Plugins{Dirs: []string{pluginDir(b, "honest")},
			Isolation: mode}}), "honest")
		in := prepare.OptimizeCall{Call: call("a", "chaff", "b")}
		turns[name] = func() time.Duration {
			start := time.Now()
			if _, err := s.Optimize(b.Context(), in); err != nil {
				b.Fatal(err)
			}
			return time.Since(start)
		}
	}
	takeTurns(b, turns)
}

// What an Optimize costs for a turn of three entries, by the length of the history before it: with mirrors, where only
// these travel, and without, where everything does. "idle" is a strategy that does nothing, so that what is left is the
// transport. An entry has about 200 tokens. bytes/op is what was sent of the history.
func BenchmarkDelta(b *testing.B) {
	dir := b.TempDir()
	if err := errors.Join(binaries.Strategies(dir, "high-density"),
		binaries.Plugins(dir, map[string]string{"idle": "host/internal/window/testdata/idle"})); err != nil {
		b.Fatal(err)
	}
	all := gen.Session(20_000+300, 1)
	for _, name := range []string{"idle", "high-density"} {
		for _, mode := range []string{"delta", "full"} {
			s := strategy(b, open(b, Options{
				Plugins: config.Plugins{Dirs: []string{dir}, Isolation: process.IsolationOff}, NoMirrors: mode == "full",
			}), name)
			for _, n := range []int{50, 500, 5000, 20_000} {
				b.Run(fmt.Sprintf("%s/%s/entries=%d", name, mode, n), func(b *testing.B) { benchTurns(b, s, all, n) })
			}
		}
	}
}

// benchTurns measures turns that add three entries each to the first n.
func benchTurns(b *testing.B, s *Strategy, all []sdk.Content, n int) {
	call := func(l *ledger) {
		if _, err := s.Optimize(b.Context(), prepare.OptimizeCall{
			Call: l.Call, OptimizeParams: sdk.OptimizeParams{Density: sdk.DefaultDensityConfig()},
		}); err != nil {
			b.Fatal(err)
		}
	}
	var l *ledger
	var sent uint64
	var took []time.Duration
	for turn := 0; b.Loop(); turn++ {
		b.StopTimer()
		if turn%100 == 0 { // or the history would become another one
			l = newLedger(fmt.Sprint("s", turn))
			for _, c := range all[:n] {
				l.add(c)
			}
			call(l)
		}
		at := len(l.Entries)
		for _, c := range all[at : at+3] {
			l.add(c)
		}
		before := traffic(b, s)
		b.StartTimer()
		start := time.Now()
		call(l)
		took = append(took, time.Since(start))
		b.StopTimer()
		sent += traffic(b, s).Bytes - before.Bytes
		b.StartTimer()
	}
	b.ReportMetric(float64(sent)/float64(b.N), "sent-bytes/op")
	b.ReportMetric(median(took).Seconds()*1e3, "ms/turn")
}

// takeTurns has each function run once per iteration, in an order that changes, and reports the median of each.
func takeTurns(b *testing.B, turns map[string]func() time.Duration) {
	names := slices.Sorted(maps.Keys(turns))
	took := map[string][]time.Duration{}
	for b.Loop() {
		rand.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
		for _, name := range names {
			took[name] = append(took[name], turns[name]())
		}
	}
	for name, d := range took {
		b.ReportMetric(float64(median(d)), name+"-p50-ns")
	}
}

// What a new version of the file costs those who call meanwhile: an iteration is a reload, from the new file to the
// first call of the new process. max-call-ns is the slowest of all calls and p50-call-ns the one in the middle;
// start-ns is what one start takes when nothing else is going on. quiet-max-call-ns is the slowest call of a second
// without a reload: where that is large, the machine is busy with something else. Callers and a start share the
// processors, so that under load a start takes longer: loaded-start-ns is the longest of 20, and
// slower-than-a-start/op how many calls of each reload took longer than that.
func BenchmarkReloadUnderLoad(b *testing.B) {
	isolates(b)
	dir := pluginDir(b, "steady")
	m := open(b, reloading(dir))
	bare := median(starts(b, m, 5))
	versions := versions(b, filepath.Join(dir, FilePrefix+"steady"), 16)
	s := strategy(b, m, "steady")
	quiet, stop := context.WithTimeout(b.Context(), time.Second)
	defer stop()
	before := callers(quiet, b, s)()
	ctx, stop := context.WithCancel(b.Context())
	calls := callers(ctx, b, s)
	loaded := starts(b, m, 20)
	for b.Loop() {
		old := pid(b, s)
		plugintest.Install(b, versions(), filepath.Join(dir, FilePrefix+"steady"))
		plugintest.Eventually(b, "the new version takes the calls", func() bool { return pid(b, s) != old })
	}
	stop()
	all := calls()
	b.ReportMetric(float64(bare), "start-ns")
	b.ReportMetric(float64(slices.Max(loaded)), "loaded-start-ns")
	b.ReportMetric(float64(slices.Max(before)), "quiet-max-call-ns")
	b.ReportMetric(float64(slices.Max(all)), "max-call-ns")
	b.ReportMetric(float64(median(all)), "p50-call-ns")
	b.ReportMetric(float64(len(all))/float64(b.N), "calls/op")
	slow := 0
	for _, d := range all {
		if d > slices.Max(loaded) {
			slow++
		}
	}
	b.ReportMetric(float64(slow)/float64(b.N), "slower-than-a-start/op")
}

// versions makes n files that differ from one at path, and returns one after the other, under a name that is free.
// They are written before anything is measured: writing competes with the calls.
func versions(b *testing.B, path string, n int) (next func() string) {
	b.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		b.Fatal(err)
	}
	dir := b.TempDir()
	for i := range n {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprint(i)), append(text, fmt.Sprint("version ", i)...),
			0o755); err != nil {
			b.Fatal(err)
		}
	}
	i := -1
	return func() string {
		i++
		link := filepath.Join(dir, fmt.Sprint("next ", i))
		if err := os.Link(filepath.Join(dir, fmt.Sprint(i%n)), link); err != nil {
			b.Fatal(err)
		}
		return link
	}
}

// callers has a few callers call a strategy until ctx ends. wait returns how long each call took.
func callers(ctx context.Context, b *testing.B, s *Strategy) (wait func() []time.Duration) {
	took := make([][]time.Duration, 4)
	var all sync.WaitGroup
	for i := range took {
		all.Go(func() { took[i] = callWhile(ctx, b, s) })
	}
	return func() []time.Duration {
		all.Wait()
		return slices.Concat(took...)
	}
}

// callWhile calls a strategy, one call after the other, until ctx ends, and returns how long each took.
func callWhile(ctx context.Context, b *testing.B, s *Strategy) (took []time.Duration) {
	in := prepare.OptimizeCall{Call: call("a", "b", "c")}
	for {
		start := time.Now()
		_, err := s.Optimize(ctx, in)
		if ctx.Err() != nil {
			return took
		}
		if err != nil {
			b.Error(err)
			return took
		}
		took = append(took, time.Since(start))
	}
}

// starts returns how long each of n starts of the only plugin takes, its file not being hashed.
func starts(b *testing.B, m *Manager, n int) (took []time.Duration) {
	b.Helper()
	if err := m.prepare(); err != nil {
		b.Fatal(err)
	}
	c := m.scan().Candidates[0]
	for range n {
		bin, err := discover.Open(c, &m.hashes)
		if err != nil {
			b.Fatal(err)
		}
		start := time.Now()
		p, err := m.launch(b.Context(), bin, trust.Snapshot{}, func(State) {})
		bin.Close()
		if err != nil {
			b.Fatal(err)
		}
		took = append(took, time.Since(start))
		p.End(supervise.ErrNotNeeded)
		p.Close(m.opts.StopTimeout)
	}
	return took
}

func median(d []time.Duration) time.Duration {
	slices.Sort(d)
	return d[len(d)/2]
}
