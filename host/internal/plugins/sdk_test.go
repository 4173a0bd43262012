package plugins

import (
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/go-plugin"

	"github.com/thresh-dev/thresh/host/config"
	"github.com/thresh-dev/thresh/host/internal/plugins/plugintest"
	"github.com/thresh-dev/thresh/host/internal/prepare"
	"github.com/thresh-dev/thresh/internal/rewrite"
	"github.com/thresh-dev/thresh/internal/wire"
	"github.com/thresh-dev/thresh/sdk"
	"github.com/thresh-dev/thresh/sdk/content"
)

func TestAPluginOfTheSDK(t *testing.T) {
	t.Parallel()
	s := strategy(t, open(t, Options{Plugins: config.Plugins{Dirs: []string{pluginDir(t, "honest")}}}), "honest")
	wantInfo := sdk.Info{
		Name: "honest", Version: "0.1.0", Trigger: sdk.Continuous(0.85), RequiresLLM: true,
		Config: []sdk.ConfigField{{Key: "keep", Type: sdk.Integer, Default: 2, Description: "Entries to keep."}},
	}
	if diff := cmp.Diff(wantInfo, s.Info()); diff != "" {
		t.Error(diff)
	}
	optimized, err := s.Optimize(t.Context(), prepare.OptimizeCall{Call: call("grain", "chaff", "grain")})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]rewrite.Edit{{Index: 1, Remove: true}}, optimized.Edits); diff != "" {
		t.Error(diff)
	}
	in := call("a", "b", "c")
	if in.Config, err = s.Config(settings(t, map[string]any{"strategies." + s.Name() + ".keep": 1})); err != nil {
		t.Fatal(err)
	}
	compressed, err := s.Compress(t.Context(), prepare.CompressCall{Call: in}, services{})
	if err != nil {
		t.Fatal(err)
	}
	want := prepare.CompressAnswer{
		Pieces: []rewrite.Piece{
			rewrite.Added{Content: content.Content{Speaker: content.AI,
				Blocks: []content.Block{content.Text{Text: "for <compression>"}}}},
			rewrite.Keep{From: 2, To: 3},
		},
		Metadata: sdk.CompressMetadata{LLMCallMade: true,
			Counts: map[string]int64{"summaryTokens": int64(len("for <compression>"))}},
	}
	if diff := cmp.Diff(want, compressed, cmpopts.IgnoreUnexported(content.Content{})); diff != "" {
		t.Error(diff)
	}
}

func TestAPanicInAStrategyIsAnErrorOfThatCallOnly(t *testing.T) {
	t.Parallel()
	s := strategy(t, open(t, Options{Plugins: config.Plugins{Dirs: []string{pluginDir(t, "honest")}}}), "honest")
	before := pid(t, s)
	_, err := s.Optimize(t.Context(), prepare.OptimizeCall{Call: call("panic")})
	if !errors.Is(err, ErrStrategy) || !strings.Contains(err.Error(), "an entry said so") {
		t.Errorf("got %v", err)
	}
	if _, err := s.Optimize(t.Context(), prepare.OptimizeCall{Call: call("grain")}); err != nil || pid(t, s) != before {
		t.Errorf("the next call: %v, process %d, before %d", err, pid(t, s), before)
	}
}

func TestAPluginsLogKeepsItsLevelAndNamesThePlugin(t *testing.T) {
	t.Parallel()
	var log plugintest.Buffer
	m := open(t, Options{Plugins: config.Plugins{Dirs: []string{pluginDir(t, "honest")}},
		Logger: hclog.New(&hclog.LoggerOptions{Output: &log, Level: hclog.Info})})
	s := strategy(t, m, "honest")
	id := pid(t, s)
	if _, err := s.Optimize(t.Context(), prepare.OptimizeCall{Call: call("chaff")}); err != nil {
		t.Fatal(err)
	}
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(log.String()) {
		if strings.Contains(line, "[WARN]") && strings.Contains(line, "optimized") {
			for _, words := range []string{"strategy=honest", fmt.Sprint("pid=", id), "removed=1"} {
				if !strings.Contains(line, words) {
					t.Errorf("%q does not say %s", line, words)
				}
			}
			return
		}
	}
	t.Errorf("no such line in\n%s", log.String())
}

func TestAPluginOfTheSDKGoesWhenItsLifelineBreaks(t *testing.T) {
	s := strategy(t, open(t, Options{Plugins: config.Plugins{Dirs: []string{pluginDir(t, "honest")}}}), "honest")
	p, err := s.Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	p.Plugin().Process().BreakLifeline()
	if !p.Plugin().Process().Gone(time.Second) {
		t.Error("it is still there after a second")
	}
}

// BenchmarkStart is the time from nothing to the first answer: "empty" is a process that serves
// nothing, under go-plugin's own runner, "strategy" is one made with the SDK under ours.
func BenchmarkStart(b *testing.B) {
	b.Run("empty", startEmpty)
	b.Run("strategy", startStrategy)
}

func startEmpty(b *testing.B) {
	binary := filepath.Join(b.TempDir(), "empty")
	if out, err := exec.Command("go", "build", "-o", binary, "./testdata/empty").CombinedOutput(); err != nil {
		b.Fatalf("%v\n%s", err, out)
	}
	for b.Loop() {
		client := plugin.NewClient(&plugin.ClientConfig{
			HandshakeConfig: wire.Handshake(), Plugins: plugin.PluginSet{}, Cmd: exec.Command(binary),
			AllowedProtocols: []plugin.Protocol{plugin.ProtocolGRPC}, Logger: hclog.NewNullLogger(),
		})
		conn, err := client.Client()
		if err != nil {
			b.Fatal(err)
		}
		if err := conn.Ping(); err != nil {
			b.Fatal(err)
		}
		b.StopTimer()
		client.Kill()
		b.StartTimer()
	}
}

func startStrategy(b *testing.B) {
	dir := pluginDir(b, "honest")
	for b.Loop() {
		m := New(Options{Plugins: config.Plugins{Dirs: []string{dir}}})
		s, err := m.Strategy(b.Context(), "honest")
		if err != nil {
			b.Fatal(err)
		}
		if _, err := s.Optimize(b.Context(), prepare.OptimizeCall{Call: call("grain")}); err != nil {
			b.Fatal(err)
		}
		b.StopTimer()
		if err := m.Close(); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
	}
}

// BenchmarkOptimize is a call with a long history of which nothing is pruned: the price of sending it.
func BenchmarkOptimize(b *testing.B) {
	for _, n := range []int{1, 1250, 2500, 5000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			s := strategy(b, open(b, Options{Plugins: config.Plugins{Dirs: []string{pluginDir(b, "honest")}}}),
				"honest")
			texts := make([]string, n)
			for i := range texts {
				texts[i] = strings.Repeat("grain and ", 88)
			}
			in := prepare.OptimizeCall{Call: call(texts...)}
			b.SetBytes(int64(n * len(texts[0])))
			for b.Loop() {
				if _, err := s.Optimize(b.Context(), in); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
