package plugins

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/thresh-dev/thresh/host/config"
	"github.com/thresh-dev/thresh/host/internal/plugins/plugintest"
	"github.com/thresh-dev/thresh/host/internal/plugins/process"
	"github.com/thresh-dev/thresh/host/internal/plugins/trust"
	"github.com/thresh-dev/thresh/host/internal/prepare"
)

// reloading are options with which changes are noticed soon, and trusted.
func reloading(dir string) Options {
	return Options{Plugins: config.Plugins{Dirs: []string{dir}, Integrity: trust.Off},
		QuietTime: 50 * time.Millisecond}
}

func TestANewVersionIsPickedUp(t *testing.T) {
	t.Parallel()
	dir := pluginDir(t, "steady")
	s := strategy(t, open(t, reloading(dir)), "steady")
	old := pid(t, s)
	plugintest.Variant(t, filepath.Join(dir, FilePrefix+"steady"))
	plugintest.Eventually(t, "the new version runs", func() bool {
		p, err := s.Acquire(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer p.Release()
		return p.Plugin().PID() != old
	})
	if _, err := s.Optimize(t.Context(), prepare.OptimizeCall{Call: call("a")}); err != nil {
		t.Error(err)
	}
}

// However long a new version takes to start, no call waits for it.
func TestCallsGoOnWhileANewVersionStarts(t *testing.T) {
	t.Parallel()
	dir, elsewhere := pluginDir(t, "steady"), pluginDir(t, "steady")
	o := reloading(dir)
	o.Isolation = process.IsolationOff // the new version waits at a pipe, and is not one file
	s := strategy(t, open(t, o), "steady")
	old := pid(t, s)
	gate := filepath.Join(elsewhere, "gate")
	if err := syscall.Mkfifo(gate, 0o600); err != nil {
		t.Fatal(err)
	}
	slow := plugintest.Write(t, t.TempDir(), "slow",
		fmt.Sprintf("#!/bin/sh\nread -r _ < %s\nexec %s\n", gate, filepath.Join(elsewhere, FilePrefix+"steady")), 0o755)
	plugintest.Install(t, slow, filepath.Join(dir, FilePrefix+"steady"))
	pipe, err := os.OpenFile(gate, os.O_WRONLY, 0) // waits for the new version to read it
	if err != nil {
		t.Fatal(err)
	}
	for range 20 {
		if _, err := s.Optimize(t.Context(), prepare.OptimizeCall{Call: call("a")}); err != nil || pid(t, s) != old {
			t.Fatalf("process %d, not %d: %v", pid(t, s), old, err)
		}
	}
	if err := pipe.Close(); err != nil {
		t.Fatal(err)
	}
	plugintest.Eventually(t, "the new version takes the calls", func() bool { return pid(t, s) != old })
	if _, err := s.Optimize(t.Context(), prepare.OptimizeCall{Call: call("a")}); err != nil {
		t.Error(err)
	}
	plugintest.GoneWithin(t, old, time.Minute)
}

// held puts a new version into dir that waits, when it is started for the first time, for the test to close the pipe,
// and then goes on as then says. It returns when it was started.
func held(t *testing.T, dir, then string) (pipe *os.File, ran string) {
	t.Helper()
	elsewhere := pluginDir(t, "steady")
	gate, mark := filepath.Join(elsewhere, "gate"), filepath.Join(elsewhere, "mark")
	if err := syscall.Mkfifo(gate, 0o600); err != nil {
		t.Fatal(err)
	}
	text := fmt.Sprintf("#!/bin/sh\nif (set -C; : > %s) 2>/dev/null; then read -r _ < %s; %s; fi\nexec %s\n", mark,
		gate, then, filepath.Join(elsewhere, FilePrefix+"steady"))
	plugintest.Install(t, plugintest.Write(t, t.TempDir(), "held", text, 0o755),
		filepath.Join(dir, FilePrefix+"steady"))
	pipe, err := os.OpenFile(gate, os.O_WRONLY, 0) // waits for the new version to read it
	if err != nil {
		t.Fatal(err)
	}
	return pipe, elsewhere
}

// The old version crashes while the new one is on its way: who calls then waits for that one, and no other is started.
func TestTheOldVersionCrashesWhileANewOneStarts(t *testing.T) {
	t.Parallel()
	for what, then := range map[string]string{"which works": ":", "which does not": "exit 1"} {
		t.Run(what, func(t *testing.T) {
			dir := pluginDir(t, "steady")
			o := reloading(dir)
			o.Isolation = process.IsolationOff
			m := open(t, o)
			s := strategy(t, m, "steady")
			pipe, elsewhere := held(t, dir, then)
			kill(t, s)
			plugintest.Eventually(t, "it is seen that it crashed",
				func() bool { state, _ := s.State(); return state == StateCrashed })
			answered := make(chan error, 1)
			go func() {
				_, err := s.Optimize(t.Context(), prepare.OptimizeCall{Call: call("a")})
				answered <- err
			}()
			waits := func() bool { return s.Inspect().Waiting == 1 }
			plugintest.Eventually(t, "a call waits", waits)
			m.Reset("steady") // so that no delay keeps a second one from being started
			if s.Inspect().Starting {
				t.Error("a second process is started next to the new version")
			}
			if err := pipe.Close(); err != nil {
				t.Fatal(err)
			}
			if err := <-answered; err != nil {
				t.Error(err)
			}
			plugintest.Eventually(t, "one process is left",
				func() bool { return len(plugintest.Processes(t, elsewhere)) == 1 })
		})
	}
}

func TestACallUnderWayEndsOnTheOldVersion(t *testing.T) {
	t.Parallel()
	dir := pluginDir(t, "needs-llm")
	s := strategy(t, open(t, reloading(dir)), "needs-llm")
	p, err := s.Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	plugintest.Variant(t, filepath.Join(dir, FilePrefix+"needs-llm"))
	plugintest.Eventually(t, "the old version drains", func() bool { return p.Retired() })
	if !p.Plugin().Alive() {
		t.Error("it was ended in the middle of a call")
	}
	p.Release()
	plugintest.Eventually(t, "the old version ends", func() bool { return !p.Plugin().Alive() })
	if _, err := s.Compress(t.Context(), prepare.CompressCall{Call: call("a", "b")}, services{}); err != nil {
		t.Error(err)
	}
}

func TestABadVersionLeavesTheOldOneRunning(t *testing.T) {
	t.Parallel()
	for what, test := range map[string]struct {
		options func(*Options)
		change  func(t testing.TB, path string)
		says    string
	}{
		"it does not work": {func(*Options) {},
			func(t testing.TB, path string) { plugintest.Install(t, "/bin/false", path) }, "before the handshake"},
		"it is not locked": {func(o *Options) { o.Integrity = trust.TOFU }, plugintest.Variant,
			"the file has changed"},
	} {
		t.Run(what, func(t *testing.T) {
			dir := pluginDir(t, "steady")
			o := reloading(dir)
			test.options(&o)
			m := open(t, o)
			s := strategy(t, m, "steady")
			p, err := s.Acquire(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			defer p.Release()
			runs := m.List(t.Context())[0].SHA256
			test.change(t, filepath.Join(dir, FilePrefix+"steady"))
			plugintest.Eventually(t, "it says why",
				func() bool { _, reason := s.State(); return strings.Contains(reason, test.says) })
			if _, err := s.Optimize(t.Context(), prepare.OptimizeCall{Call: call("a")}); err != nil ||
				!p.Plugin().Alive() {
				t.Errorf("the old version does not go on: %v", err)
			}
			if l := m.List(t.Context()); l[0].State != StateReady || !strings.Contains(l[0].Reason, test.says) ||
				l[0].SHA256 != runs || l[0].NewSHA256 == "" || l[0].NewSHA256 == runs {
				t.Errorf("listed as %+v", l[0])
			}
		})
	}
}

func TestLockingANewVersionStartsIt(t *testing.T) {
	t.Parallel()
	dir := pluginDir(t, "steady")
	o := reloading(dir)
	o.Integrity, o.LockFile = trust.TOFU, filepath.Join(t.TempDir(), "state", "plugins.lock")
	s := strategy(t, open(t, o), "steady")
	old := pid(t, s)
	plugintest.Variant(t, filepath.Join(dir, FilePrefix+"steady"))
	plugintest.Eventually(t, "it is refused",
		func() bool { _, reason := s.State(); return strings.Contains(reason, "has changed") })
	if _, err := open(t, o).Lock(t.Context()); err != nil { // as 'thresh plugins lock' does, elsewhere
		t.Fatal(err)
	}
	plugintest.Eventually(t, "the new version runs", func() bool { return pid(t, s) != old })
}

func TestAPluginThatIsRemovedStops(t *testing.T) {
	t.Parallel()
	dir := pluginDir(t, "steady")
	s := strategy(t, open(t, reloading(dir)), "steady")
	if err := os.Remove(filepath.Join(dir, FilePrefix+"steady")); err != nil {
		t.Fatal(err)
	}
	plugintest.Eventually(t, "it stops", func() bool { state, _ := s.State(); return state == StateStopped })
	if _, err := s.Optimize(t.Context(), prepare.OptimizeCall{Call: call("a")}); !errors.Is(err, ErrUnknownStrategy) {
		t.Errorf("got %v", err)
	}
}

// A directory that is away for a while, as a volume that is mounted again, takes no process away: no turn fails.
func TestADirectoryThatIsAwayForAWhile(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "plugins")
	if err := os.Rename(pluginDir(t, "steady"), dir); err != nil {
		t.Fatal(err)
	}
	s := strategy(t, open(t, reloading(dir)), "steady")
	first := pid(t, s)
	for range 2 {
		if err := os.Rename(dir, dir+".away"); err != nil {
			t.Fatal(err)
		}
		plugintest.Eventually(t, "it is noticed",
			func() bool { _, reason := s.State(); return strings.Contains(reason, "is away") })
		if pid(t, s) != first {
			t.Error("another process runs")
		}
		if err := os.Rename(dir+".away", dir); err != nil {
			t.Fatal(err)
		}
		plugintest.Eventually(t, "it is back",
			func() bool { _, reason := s.State(); return reason == "" })
		if pid(t, s) != first {
			t.Error("another process runs")
		}
	}
}
