package soaktest

import (
	"context"
	"flag"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/thresh-dev/thresh/host/config"
	"github.com/thresh-dev/thresh/host/internal/window"
	"github.com/thresh-dev/thresh/internal/testkit/gen"
	"github.com/thresh-dev/thresh/internal/testkit/modelapi"
)

var (
	lasts = flag.Duration("soak", 0, "how long the soak test lasts at least; by default it ends when it has proved "+
		"enough")
	seed = flag.Uint64("seed", 0, "seed of the soak test's random choices; 0 chooses one")
)

// tooLong is when the test gives up. It is far more than any machine needs; only a hang takes that long.
const tooLong = 5 * time.Minute

// sessions is how many conversations run at the same time, the same number with each strategy: few in the usual test
// run, many for 'make soak'.
func sessions() int {
	if *lasts > 0 {
		return 200
	}
	return 40
}

// minTurns is how many turns there are at least.
func minTurns() int { return 10 * sessions() }

// turnsPerDisturbance is how many turns go by between two disturbances. One fails at most the turns that are in flight
// with that strategy (sessions / 4), so that at most a fifth of all turns can fail, however slow the machine is.
func turnsPerDisturbance() int { return sessions() * 5 / 4 }

// TestSoak runs many conversations while their plugins are disturbed. The only acceptable consequence is an error
// that says that a retry may help. What must never happen is checked by the conversations after each turn, and here
// at the end: no process, descriptor, file or goroutine may be left when the host is closed (TestMain checks the
// goroutines).
//
// Nothing depends on the speed of the machine: disturbances are spaced by turns, and the test lasts until enough has happened
// (see tally.enough). The durations in it are limits for a test that hangs.
func TestSoak(t *testing.T) {
	if *seed == 0 {
		*seed = uint64(time.Now().UnixNano())
	}
	t.Logf("to repeat the random choices: go test ./host/internal/soaktest -soak %v -seed %d", *lasts, *seed)
	server := modelapi.Start(t, modelapi.Options{Reply: summary})
	state, runDirs := t.TempDir(), temporary(t)
	t.Setenv("TMPDIR", runDirs)
	before := descriptors(t)
	h := open(t, server, state)
	play(t, h, runDirs).check(t)

	if err := h.Close(); err != nil {
		t.Errorf("closing the host: %v", err)
	}
	server.Close()
	if left := children(t); len(left) > 0 {
		t.Errorf("processes are left: %v", left)
	}
	if left, err := os.ReadDir(runDirs); err != nil || len(left) > 0 {
		t.Errorf("left in the temporary directory: %v, %v", left, err)
	}
	if !eventually(t.Context(), func() bool { return len(descriptors(t)) <= len(before) }) {
		t.Errorf("descriptors are left: before\n%v\nafter\n%v", before, descriptors(t))
	}
}

// play runs the conversations and the monkey at the same time until enough has happened, then lets each conversation
// finish undisturbed.
func play(t *testing.T, h *window.Host, runDirs string) *tally {
	ready(t, h)
	ctx, stop := context.WithTimeout(t.Context(), max(tooLong, *lasts+tooLong))
	defer stop()
	var monkeys, agents sync.WaitGroup
	y := newTally()
	m := &monkey{t: t, host: h, rnd: rand.New(rand.NewPCG(*seed, 1)), tally: y, runDirs: runDirs, aside: t.TempDir(),
		away: map[string]bool{}}
	monkeys.Go(func() { m.disturb(ctx) })
	names := strategies
	for i := range sessions() {
		a := agent{t: t, host: h, strategy: names[i%len(names)], number: i, tally: y}
		agents.Go(func() { a.work(ctx, monkeys.Wait) })
	}
	begin := time.Now()
	for ctx.Err() == nil && (!y.enough() || time.Since(begin) < *lasts) {
		time.Sleep(10 * time.Millisecond)
	}
	stop()
	agents.Wait()
	return y
}

// ready makes the host load its token vocabulary, which takes seconds under the race detector.
func ready(t *testing.T, h *window.Host) {
	t.Helper()
	s, err := h.Open(window.Opening{})
	if err == nil {
		_, err = s.Add(t.Context(), window.Entries(gen.Session(1, 1)...))
	}
	if err == nil {
		err = s.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
}

// open opens a host that reads nothing from the machine's configuration and writes to the directory state only. Its
// timeouts are for hangs, not for slow machines.
func open(t *testing.T, server *modelapi.Server, state string) *window.Host {
	t.Helper()
	o := config.Options{WorkDir: state, Env: []string{}}
	for key, value := range map[string]any{
		"plugins.dirs": []string{pluginDir}, "plugins.lockFile": filepath.Join(state, "plugins.lock"),
		"plugins.maxCrashes":   1_000_000, // a kill is not the plugin's fault: no quarantine
		"plugins.integrity":    "off",     // a plugin that is replaced is used
		"plugins.startTimeout": tooLong, "plugins.optimizeTimeout": tooLong,
		"transcript.dir":     filepath.Join(state, "transcripts"),
		"model.contextLimit": 30_000, "compression.threshold": 0.1, "compression.profile": "writer",
		"profiles.writer.provider.kind": "openai", "profiles.writer.provider.model": "writer-1",
		"profiles.writer.provider.baseURL": server.URL, "profiles.writer.provider.retries": 0,
	} {
		o.Overrides = append(o.Overrides, config.Override{Key: key, Value: value, Source: "test"})
	}
	c, err := config.Load(o)
	if err != nil {
		t.Fatal(err)
	}
	h, err := window.Open(window.Options{Config: c,
		Logger: hclog.New(&hclog.LoggerOptions{Output: io.Discard, Level: hclog.Error})})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = h.Close() })
	return h
}

// summary answers in pieces with pauses between them, so that plugins are also killed while their model writes.
func summary(*modelapi.Request) modelapi.Reply {
	return modelapi.Reply{
		Text:  "<state_snapshot>\n<overall_goal>\nA parser that never panics.\n</overall_goal>\n</state_snapshot>",
		Chunk: 20, Pace: 10 * time.Millisecond,
	}
}

// temporary is a directory with a short path, because paths of sockets are limited to about 100 bytes.
func temporary(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "s")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}
