package plugins

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/thresh-dev/thresh/host/config"
	"github.com/thresh-dev/thresh/host/internal/plugins/client"
	"github.com/thresh-dev/thresh/host/internal/plugins/plugintest"
	"github.com/thresh-dev/thresh/host/internal/prepare"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/go-hclog"
)

// Every call is a lease: by these the look at idle processes knows that one was busy in calls only.
func TestEveryCallIsCounted(t *testing.T) {
	t.Parallel()
	s := strategy(t, open(t, Options{Plugins: config.Plugins{Dirs: []string{pluginDir(t, "honest")}}}), "honest")
	before := s.Inspect().Leases
	for range 3 {
		if _, err := s.Optimize(t.Context(), prepare.OptimizeCall{Call: call("grain")}); err != nil {
			t.Fatal(err)
		}
	}
	if n := s.Inspect().Leases - before; n != 3 {
		t.Errorf("3 calls are %d leases", n)
	}
}

// users is how many calls a strategy's process has under way.
func users(s *Strategy) int { return s.Inspect().Users }

// kill kills the process that a strategy has, and returns its id.
func kill(t *testing.T, s *Strategy) int {
	t.Helper()
	p, err := s.Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer p.Release()
	_ = p.Plugin().Process().Kill()
	return p.Plugin().PID()
}

func TestOptimizeIsTriedOnceMoreAfterACrash(t *testing.T) {
	t.Parallel()
	s := strategy(t, open(t, Options{Plugins: config.Plugins{Dirs: []string{pluginDir(t, "waits-in-optimize")}}}),
		"waits-in-optimize")
	failed := make(chan error, 1)
	go func() {
		_, err := s.Optimize(t.Context(), prepare.OptimizeCall{Call: call("a")})
		failed <- err
	}()
	inCall := func() bool { return users(s) == 1 }
	plugintest.Eventually(t, "the first call", inCall)
	first := kill(t, s)
	plugintest.Eventually(t, "the second call", inCall)
	if second := kill(t, s); second == first {
		t.Error("it was not tried on a fresh process")
	}
	if err := <-failed; !errors.Is(err, ErrPluginCrashed) {
		t.Errorf("got %v", err)
	}
}

func TestCompressIsNotTriedAgain(t *testing.T) {
	t.Parallel()
	s := strategy(t, open(t, Options{Plugins: config.Plugins{Dirs: []string{pluginDir(t, "exits-in-compress")}}}),
		"exits-in-compress")
	_, err := s.Compress(t.Context(), prepare.CompressCall{Call: call("a")}, services{})
	if !errors.Is(err, ErrPluginCrashed) {
		t.Errorf("got %v", err)
	}
	plugintest.Eventually(t, "it is seen that it crashed",
		func() bool { state, _ := s.State(); return state == StateCrashed })
}

func TestAPluginThatCrashesTooOftenIsQuarantined(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, FilePrefix+"exits-in-compress")
	plugintest.Install(t, faulty, path) // its time is changed
	m := open(t, Options{Plugins: config.Plugins{Dirs: []string{dir}, MaxCrashes: 2}})
	s := strategy(t, m, "exits-in-compress")
	compress := func() error {
		_, err := s.Compress(t.Context(), prepare.CompressCall{Call: call("a")}, services{})
		return err
	}
	quarantined := func() {
		t.Helper()
		for range 2 {
			if err := compress(); !errors.Is(err, ErrPluginCrashed) || errors.Is(err, ErrQuarantined) {
				t.Fatalf("got %v", err)
			}
		}
		plugintest.Eventually(t, "the quarantine",
			func() bool { state, _ := s.State(); return state == StateQuarantined })
		err := compress()
		if !errors.Is(err, ErrQuarantined) || !strings.Contains(err.Error(), "out of paper") {
			t.Fatalf("got %v", err)
		}
	}
	quarantined()
	l := m.List(t.Context())
	if len(l) != 1 || l[0].State != StateQuarantined || l[0].Version != "1.2.3" ||
		!strings.Contains(l[0].Reason, "2 crashes within") {
		t.Errorf("listed as %+v", l)
	}
	if !m.Reset("exits-in-compress") {
		t.Error("it cannot be reset")
	}
	quarantined()
	later := time.Now().Add(time.Minute)
	if err := os.Chtimes(path, later, later); err != nil {
		t.Fatal(err)
	}
	quarantined() // after the change of the file it may crash again
	if m.Reset("nobody") {
		t.Error("what never was there was reset")
	}
}

// A call that waits for the delay after a crash is served as soon as the delay is lifted.
func TestAResetServesThoseWhoWait(t *testing.T) {
	t.Parallel()
	m := open(t, Options{Plugins: config.Plugins{Dirs: []string{pluginDir(t, "steady")}}})
	s := strategy(t, m, "steady")
	answered := make(chan error, 1)
	// on a busy machine the delay may pass before the call waits; the next delay is longer
	for waits := false; !waits; {
		kill(t, s)
		plugintest.Eventually(t, "the crash is noticed",
			func() bool { state, _ := s.State(); return state == StateCrashed })
		go func() {
			_, err := s.Optimize(t.Context(), prepare.OptimizeCall{Call: call("a")})
			answered <- err
		}()
		plugintest.Eventually(t, "the call waits or was answered", func() bool {
			waits = s.Inspect().Waiting == 1
			return waits || len(answered) == 1
		})
		if !waits {
			<-answered
		}
	}
	m.Reset("steady")
	select {
	case err := <-answered:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(time.Minute):
		t.Fatal("the call is not answered")
	}
}

// A plugin that is killed while it starts is not to blame: another start may fare better. A plugin that ends by
// itself is.
func TestAPluginThatIsKilledWhileItStarts(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"hangs-at-start", "hangs-in-getinfo"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := pluginDir(t, name)
			m := open(t, Options{Plugins: config.Plugins{Dirs: []string{dir}}})
			failed := make(chan error, 1)
			go func() {
				_, err := m.Strategy(t.Context(), name)
				failed <- err
			}()
			running := func() bool { return len(plugintest.Processes(t, dir)) == 1 }
			plugintest.Eventually(t, "it is running", running)
			before := time.Now()
			_ = syscall.Kill(plugintest.Processes(t, dir)[0], syscall.SIGKILL)
			err := <-failed
			var failure *Error
			if !errors.As(err, &failure) || !failure.Retryable || !errors.Is(err, ErrPluginCrashed) ||
				!strings.Contains(err.Error(), "killed before it was ready") {
				t.Errorf("got %v", err)
			}
			if state, _ := m.handle(name).State(); state != StateBroken {
				t.Errorf("it is %s", state)
			}
			if next := m.handle(name).Inspect().NextStart; !next.After(before) {
				t.Error("it is started again without a delay")
			}
		})
	}
}

func TestABinaryThatSaysSomethingElseAfterARestartIsRefused(t *testing.T) {
	t.Parallel()
	s := strategy(t, open(t, Options{Plugins: config.Plugins{Dirs: []string{pluginDir(t, "changes-its-info")}}}),
		"changes-its-info")
	kill(t, s)
	_, err := s.Optimize(t.Context(), prepare.OptimizeCall{Call: call("a")})
	if !errors.Is(err, ErrInfoChanged) || !strings.Contains(err.Error(), "must answer the same") {
		t.Errorf("got %v", err)
	}
}

func TestAPluginCannotAskTheHostWithoutEnd(t *testing.T) {
	t.Parallel()
	s := strategy(t, open(t, Options{Plugins: config.Plugins{Dirs: []string{pluginDir(t, "asks-without-end")}},
		Limits: client.Limits{MaxHostCalls: 1000}}), "asks-without-end")
	got, err := s.Compress(t.Context(), prepare.CompressCall{Call: call("a")}, services{})
	if err != nil {
		t.Fatal(err)
	}
	if text := string(got.NoOp); !strings.HasPrefix(text, "after 1000: ") ||
		!strings.Contains(text, "1000 times") {
		t.Errorf("got %q", text)
	}
}

func TestAPluginThatLetsCallAfterCallTimeOutIsReplaced(t *testing.T) {
	t.Parallel()
	m := open(t, Options{Plugins: config.Plugins{Dirs: []string{pluginDir(t, "waits-in-optimize")},
		OptimizeTimeout: 50 * time.Millisecond}})
	s := strategy(t, m, "waits-in-optimize")
	first := pid(t, s)
	for range 3 {
		if _, err := s.Optimize(t.Context(), prepare.OptimizeCall{Call: call("a")}); !errors.Is(err, ErrTimeout) {
			t.Fatalf("got %v", err)
		}
	}
	plugintest.GoneWithin(t, first, time.Minute)
}

func TestEveryChangeOfStateIsLogged(t *testing.T) {
	t.Parallel()
	var log plugintest.Buffer
	m := open(t, Options{Plugins: config.Plugins{Dirs: []string{pluginDir(t, "exits-in-compress")}},
		Logger: hclog.New(&hclog.LoggerOptions{Level: hclog.Debug, Output: &log})})
	s := strategy(t, m, "exits-in-compress")
	_, _ = s.Compress(t.Context(), prepare.CompressCall{Call: call("a")}, services{})
	strategy(t, m, "exits-in-compress")
	if err := m.Close(); err != nil {
		t.Error(err)
	}
	var got []string
	for line := range strings.Lines(log.String()) {
		if _, rest, ok := strings.Cut(line, " to="); ok && strings.Contains(line, "plugin state changed") {
			got = append(got, strings.Fields(rest)[0])
		}
	}
	life := []string{"discovered", "verified", "starting", "described", "ready"}
	want := append(append([]string{}, life...), "crashed")
	want = append(append(want, life...), "draining", "stopped")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
