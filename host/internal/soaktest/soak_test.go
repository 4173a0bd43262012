package soaktest

import (
	"context"
	"flag"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/thresh-dev/thresh/host/config"
	"github.com/thresh-dev/thresh/host/internal/engine"
	"github.com/thresh-dev/thresh/internal/testkit/gen"
	"github.com/thresh-dev/thresh/internal/testkit/llmtest"
)

var (
	lasts = flag.Duration("soak", 5*time.Second, "how long the soak test lasts")
	seed  = flag.Uint64("seed", 0, "what the soak test's choices are made from; 0 chooses one")
)

// sessions is how many conversations go on at the same time, the same number with each strategy.
const sessions = 200

// TestSoak plays two hundred conversations while the plugins are killed. What may come of that is an error that says
// that a retry may help; what may not is in the checks of a conversation, and here: a process, a descriptor, a file
// or a goroutine that is left when the host is closed (the goroutines are counted by TestMain).
func TestSoak(t *testing.T) {
	if *seed == 0 {
		*seed = uint64(time.Now().UnixNano())
	}
	t.Logf("to make the same choices again: go test ./host/internal/soaktest -soak %v -seed %d", *lasts, *seed)
	server := llmtest.New(t, llmtest.Options{Reply: summary})
	state, runDirs := t.TempDir(), temporary(t)
	t.Setenv("TMPDIR", runDirs)
	before := descriptors(t)
	h := open(t, server, state)
	total := play(t, h)
	total.check(t)

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

// play has the conversations and the killer go on side by side, and then lets each conversation come to its end
// undisturbed.
func play(t *testing.T, h *engine.Host) tally {
	ready(t, h)
	ctx, stop := context.WithTimeout(t.Context(), *lasts)
	defer stop()
	var killers, agents sync.WaitGroup
	k := newKiller(h, *seed)
	killers.Go(func() { k.kill(ctx, t) })
	tallies := make([]tally, sessions)
	names := names()
	for i := range sessions {
		a := agent{t: t, host: h, strategy: names[i%len(names)], number: i, tally: &tallies[i]}
		agents.Go(func() { a.work(ctx, killers.Wait) })
	}
	agents.Wait()
	total := tally{kills: k.kills}
	for _, one := range tallies {
		total.add(one)
	}
	return total
}

// ready has the host read its table of tokens, which takes seconds under the race detector.
func ready(t *testing.T, h *engine.Host) {
	t.Helper()
	s, err := h.Session(engine.SessionOptions{})
	if err == nil {
		_, _, err = s.Add(t.Context(), gen.Session(1, 1)...)
	}
	if err == nil {
		err = s.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
}

func names() []string {
	var out []string
	for name := range strategies {
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}

// open opens a host that knows nothing of the machine, and writes what it has to remember to the directory state.
func open(t *testing.T, server *llmtest.Server, state string) *engine.Host {
	t.Helper()
	o := config.Options{WorkDir: state, Env: []string{}}
	for key, value := range map[string]any{
		"plugins.dirs": []string{pluginDir}, "plugins.lockFile": filepath.Join(state, "plugins.lock"),
		"plugins.maxCrashes": 1_000_000, // they are not to blame
		"transcript.dir":     filepath.Join(state, "transcripts"),
		"model.contextLimit": 30_000, "compression.threshold": 0.1, "compression.profile": "writer",
		"profiles.writer.provider.kind": "openai", "profiles.writer.provider.model": "writer-1",
		"profiles.writer.provider.baseURL": server.BaseURL("openai"), "profiles.writer.provider.retries": 0,
	} {
		o.Overrides = append(o.Overrides, config.Override{Key: key, Value: value, Source: "test"})
	}
	c, err := config.Load(o)
	if err != nil {
		t.Fatal(err)
	}
	h, err := engine.Open(engine.Options{Config: c,
		Logger: hclog.New(&hclog.LoggerOptions{Output: io.Discard, Level: hclog.Error})})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = h.Close() })
	return h
}

// summary answers in pieces with a little time between them, so that many a plugin is killed while its model writes.
func summary(llmtest.Request) llmtest.Reply {
	return llmtest.Reply{
		Text:       "<state_snapshot>\n<overall_goal>\nA parser that never panics.\n</overall_goal>\n</state_snapshot>",
		ChunkBytes: 20, Pace: 10 * time.Millisecond,
	}
}

// temporary is a directory with a short path: sockets are made in it.
func temporary(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "s")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}
