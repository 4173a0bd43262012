package plugins

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"go.uber.org/goleak"

	_ "github.com/thresh-dev/thresh/host/early"
	"github.com/thresh-dev/thresh/host/internal/builtin"
	"github.com/thresh-dev/thresh/host/internal/history"
	"github.com/thresh-dev/thresh/host/internal/plugins/isolate"
	"github.com/thresh-dev/thresh/host/internal/plugins/plugintest"
	"github.com/thresh-dev/thresh/host/internal/prepare"
	"github.com/thresh-dev/thresh/internal/testkit/binaries"
	"github.com/thresh-dev/thresh/sdk"
	"github.com/thresh-dev/thresh/sdk/content"
)

// Plugins for all tests, built once: faulty speaks the protocol by itself, and what it does wrong depends on the name
// that it is linked to; honest and mirror are made with the SDK.
var faulty, honest, mirror string

// builtEnv names a directory with the plugins where they were built already.
const builtEnv = "THRESH_TEST_BUILT"

// hostEnv makes the test binary a host that is meant to be killed; see TestPluginsGoWhenTheHostIsKilled.
const hostEnv = "THRESH_TEST_HOST"

func TestMain(m *testing.M) {
	isolate.Main()
	builtin.Main()
	if dirs := os.Getenv(hostEnv); dirs != "" {
		doomedHost(dirs)
		return
	}
	os.Exit(func() int {
		if built := os.Getenv(builtEnv); built != "" {
			locate(built)
			return m.Run()
		}
		const testdata = "host/internal/plugins/testdata/"
		built, err := os.MkdirTemp("", "plugins") // links to these can be made where tests have their files
		if err == nil {
			defer os.RemoveAll(built)
			err = binaries.Install(built, map[string]string{"faulty": testdata + "faulty", "honest": testdata + "honest",
				"mirror": testdata + "mirror"})
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		locate(built)
		if code := m.Run(); code != 0 {
			return code
		}
		if err := goleak.Find(); err != nil {
			fmt.Fprintln(os.Stderr, "goroutines are left:", err)
			return 1
		}
		return 0
	}())
}

// locate says where the built plugins are.
func locate(dir string) {
	faulty, honest, mirror = filepath.Join(dir, "faulty"), filepath.Join(dir, "honest"), filepath.Join(dir, "mirror")
}

// rapidContext is that of calls in property tests, whose own ends with each draw.
var rapidContext = context.Background()

// pluginDir is a directory with a plugin of each name, all but "honest" and "mirror" faulty.
func pluginDir(t testing.TB, names ...string) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range names {
		binary := faulty
		switch name {
		case "honest":
			binary = honest
		case "mirror":
			binary = mirror
		}
		plugintest.Link(t, binary, filepath.Join(dir, FilePrefix+name))
	}
	return dir
}

// open makes a manager with a run directory of its own, and checks when the test is over that nothing is left in it.
func open(t testing.TB, o Options) *Manager {
	t.Helper()
	if o.RunDir == "" {
		o.RunDir = plugintest.ShortTemp(t)
	}
	if o.StopTimeout == 0 {
		o.StopTimeout = time.Second
	}
	m := New(o)
	t.Cleanup(func() {
		if err := m.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
		if left, err := os.ReadDir(o.RunDir); err != nil || len(left) > 0 {
			t.Errorf("left in the run directory: %v, %v", left, err)
		}
	})
	return m
}

func strategy(t testing.TB, m *Manager, name string) *Strategy {
	t.Helper()
	s, err := m.Strategy(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// pid is the process id of a strategy that runs.
func pid(t testing.TB, s *Strategy) int {
	t.Helper()
	p, err := s.Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer p.Release()
	return p.Plugin().PID()
}

func entries(texts ...string) []*history.Entry {
	var out []*history.Entry
	for i, text := range texts {
		out = append(out, &history.Entry{ID: fmt.Sprint("e", i), Count: history.Count{Tokens: 1},
			Content: content.Content{
				Speaker: content.AI, Blocks: []content.Block{content.Text{Text: text}},
			}})
	}
	return out
}

func call(texts ...string) prepare.Call {
	in := prepare.Call{Entries: entries(texts...)}
	in.SessionID, in.Revision, in.WorkspaceRoot = "s", 7, "/w"
	return in
}

// services answers what a strategy asks.
type services struct {
	generate func(ctx context.Context) (sdk.Completion, error)
}

func (services) EstimateTokens(_ context.Context, entries []sdk.Content) ([]int, error) {
	counts := make([]int, len(entries))
	for i, e := range entries {
		counts[i] = len(e.Blocks[0].(sdk.Text).Text)
	}
	return counts, nil
}

func (s services) Generate(ctx context.Context, req sdk.GenerateRequest, onText func(string)) (sdk.Completion, error) {
	if s.generate != nil {
		return s.generate(ctx)
	}
	onText("for ")
	onText(req.System)
	return sdk.Completion{FinishReason: "stop"}, nil
}

func (services) ResolvePrompt(_ context.Context, name string) (string, error) {
	return "<" + name + ">", nil
}
