package plugins

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/thresh-dev/thresh/host/config"
	"github.com/thresh-dev/thresh/host/internal/plugins/client"
	"github.com/thresh-dev/thresh/host/internal/plugins/plugintest"
	"github.com/thresh-dev/thresh/host/internal/plugins/process"
	"github.com/thresh-dev/thresh/host/internal/prepare"

	"github.com/hashicorp/go-hclog"
)

func TestOneProcessServesAllCallers(t *testing.T) {
	t.Parallel()
	m := open(t, Options{Plugins: config.Plugins{Dirs: []string{pluginDir(t, "steady")}}})
	pids := make([]int, 16)
	var wg sync.WaitGroup
	for i := range pids {
		wg.Go(func() {
			s, err := m.Strategy(t.Context(), "steady")
			if err != nil {
				t.Error(err)
				return
			}
			pids[i] = pid(t, s)
			if _, err := s.Optimize(t.Context(), prepare.OptimizeCall{Call: call("a", "b")}); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if slices.Sort(pids); len(slices.Compact(pids)) != 1 {
		t.Errorf("processes: %v", pids)
	}
}

func TestACrashedPluginIsStartedAgainAtTheNextCall(t *testing.T) {
	t.Parallel()
	s := strategy(t, open(t, Options{Plugins: config.Plugins{Dirs: []string{pluginDir(t, "exits-in-optimize")}}}),
		"exits-in-optimize")
	first := pid(t, s)
	if _, err := s.Optimize(t.Context(), prepare.OptimizeCall{Call: call("a")}); !errors.Is(err, ErrPluginCrashed) {
		t.Fatalf("got %v", err)
	}
	if _, err := s.Compress(t.Context(), prepare.CompressCall{Call: call("a", "b")}, services{}); err != nil {
		t.Fatal(err)
	}
	if second := pid(t, s); second == first || plugintest.Exists(first) {
		t.Errorf("first process %d (there: %v), second %d", first, plugintest.Exists(first), second)
	}
}

func TestAPluginThatWasKilledBetweenCallsIsNotNoticed(t *testing.T) {
	t.Parallel()
	s := strategy(t, open(t, Options{Plugins: config.Plugins{Dirs: []string{pluginDir(t, "steady")}}}), "steady")
	p, err := s.Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	_ = syscall.Kill(p.Plugin().PID(), syscall.SIGKILL)
	<-p.Plugin().Process().Exited()
	if _, err := s.Optimize(t.Context(), prepare.OptimizeCall{Call: call("a")}); err != nil {
		t.Error(err)
	}
}

func TestAStartOutlivesACallerWhoGivesUp(t *testing.T) {
	t.Parallel()
	m := open(t, Options{Plugins: config.Plugins{Dirs: []string{pluginDir(t, "steady")}}})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := m.Strategy(ctx, "steady"); err != nil && !errors.Is(err, context.Canceled) {
		t.Fatalf("got %v", err)
	}
	if got := strategy(t, m, "steady").Info().Version; got != "1.2.3" {
		t.Errorf("version %q", got)
	}
}

func TestCloseEndsWhatEndsAtAll(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"steady", "ignores-sigterm", "floods-stdout", "chatty"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := open(t, Options{Plugins: config.Plugins{Dirs: []string{pluginDir(t, name)}},
				Limits: client.Limits{StopTimeout: 200 * time.Millisecond}})
			s := strategy(t, m, name)
			if _, err := s.Optimize(t.Context(), prepare.OptimizeCall{Call: call("a")}); err != nil {
				t.Error(err)
			}
			id := pid(t, s)
			if err := m.Close(); err != nil {
				t.Error(err)
			}
			if plugintest.Exists(id) {
				t.Error("the process is still there")
			}
			if _, err := s.Optimize(t.Context(), prepare.OptimizeCall{Call: call("a")}); !errors.Is(err, ErrClosed) {
				t.Errorf("a call after Close: %v", err)
			}
			if _, err := m.Strategy(t.Context(), name); !errors.Is(err, ErrClosed) {
				t.Errorf("a start after Close: %v", err)
			}
		})
	}
}

func TestCloseEndsCallsAndStarts(t *testing.T) {
	t.Parallel()
	m := open(t, Options{Plugins: config.Plugins{Dirs: []string{pluginDir(t, "waits-in-optimize", "hangs-at-start")}}})
	s := strategy(t, m, "waits-in-optimize")
	failed := make(chan error, 2)
	go func() {
		_, err := s.Optimize(t.Context(), prepare.OptimizeCall{Call: call("a")})
		failed <- err
	}()
	go func() {
		_, err := m.Strategy(t.Context(), "hangs-at-start")
		failed <- err
	}()
	time.AfterFunc(100*time.Millisecond, func() { _ = m.Close() })
	for range 2 {
		if err := <-failed; !errors.Is(err, ErrClosed) {
			t.Errorf("got %v", err)
		}
	}
	if err := m.Close(); err != nil {
		t.Error(err)
	}
}

// A plugin's children go when it does, though they hold its standard output open. Isolated, it has none at all, so
// that none can leave its process group, or stay behind when the host is gone.
func TestAGrandchildIsEndedToo(t *testing.T) {
	ways := map[string]func(*testing.T, *Manager, *Strategy){
		"Close": func(t *testing.T, m *Manager, _ *Strategy) {
			if err := m.Close(); err != nil {
				t.Error(err)
			}
		},
		"kill -9": func(t *testing.T, _ *Manager, s *Strategy) { _ = syscall.Kill(pid(t, s), syscall.SIGKILL) },
	}
	for way, end := range ways {
		t.Run(way, func(t *testing.T) {
			t.Parallel()
			m := open(t, Options{Plugins: config.Plugins{Dirs: []string{pluginDir(t, "leaves-a-grandchild")},
				Isolation: process.IsolationOff}})
			s := strategy(t, m, "leaves-a-grandchild")
			id := grandchild(t, s)
			end(t, m, s)
			plugintest.GoneWithin(t, id, time.Second)
		})
	}
}

func TestAnIsolatedPluginLeavesNobodyBehind(t *testing.T) {
	isolates(t)
	for _, name := range []string{"leaves-a-grandchild", "leaves-a-daemon"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := open(t, Options{Plugins: config.Plugins{Dirs: []string{pluginDir(t, name)}}})
			s, err := m.Strategy(t.Context(), name)
			if err != nil {
				if !strings.Contains(err.Error(), "operation not permitted") {
					t.Errorf("got %v", err)
				}
				return
			}
			id := grandchild(t, s)
			if err := m.Close(); err != nil {
				t.Error(err)
			}
			plugintest.GoneWithin(t, id, time.Second)
		})
	}
}

func TestAControlGroupGoesWithItsPlugin(t *testing.T) {
	t.Parallel()
	isolates(t)
	m := open(t, Options{Plugins: config.Plugins{Dirs: []string{pluginDir(t, "steady")}}})
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cgroup", pid(t, strategy(t, m, "steady"))))
	_, group, _ := strings.Cut(string(text), "0::")
	group = strings.TrimSpace(group)
	// The tree is mounted at one of these.
	dir := "/sys/fs/cgroup" + group
	if _, err := os.Stat(dir); err != nil {
		dir = "/sys/fs/cgroup/unified" + group
	}
	if _, err := os.Stat(dir); err != nil || !strings.HasPrefix(filepath.Base(group), "thresh-") {
		t.Skip("SKIPPED: no control group was delegated to this process ('thresh doctor' says why)")
	}
	if err := m.Close(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%s is left behind: %v", dir, err)
	}
}

// grandchild is the process that a plugin says that it has started. It does not outlive the test.
func grandchild(t *testing.T, s *Strategy) int {
	t.Helper()
	id, err := strconv.Atoi(s.Info().Description)
	if err != nil || !plugintest.Exists(id) {
		t.Fatalf("no grandchild: %v", s.Info().Description)
	}
	t.Cleanup(func() { _ = syscall.Kill(id, syscall.SIGKILL) })
	return id
}

// doomedHost runs as a process of its own: it starts plugins, says so, and waits to be killed. args is the plugin
// directory and the run directory.
func doomedHost(args string) {
	dirs := filepath.SplitList(args)
	m := New(Options{Plugins: config.Plugins{Dirs: dirs[:1]}, RunDir: dirs[1],
		Logger: hclog.New(&hclog.LoggerOptions{Level: hclog.Error})})
	for _, name := range []string{"steady", "ignores-sigterm"} {
		s, err := m.Strategy(context.Background(), name)
		if err != nil {
			fmt.Println("error:", err)
			return
		}
		p, _ := s.Acquire(context.Background())
		fmt.Println(p.Plugin().PID())
	}
	if s, err := m.Strategy(context.Background(), "leaves-a-grandchild"); err == nil { // it may not be allowed to
		fmt.Println(s.Info().Description)
	}
	fmt.Println("ready")
	time.Sleep(time.Hour)
}

func TestPluginsGoWhenTheHostIsKilled(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("SKIPPED: these plugins do not watch the lifeline, and only Linux kills them with their host")
	}
	runDir := plugintest.ShortTemp(t)
	host := exec.Command(os.Args[0])
	host.Env = append(os.Environ(), hostEnv+"="+pluginDir(t, "steady", "ignores-sigterm", "leaves-a-grandchild")+
		string(os.PathListSeparator)+runDir)
	stdout, err := host.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := host.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = host.Process.Kill(); _ = host.Wait() })
	var pids []int
	lines := bufio.NewScanner(stdout)
	for lines.Scan() && lines.Text() != "ready" {
		id, err := strconv.Atoi(lines.Text())
		if err != nil {
			t.Fatal(lines.Text())
		}
		pids = append(pids, id)
	}
	if len(pids) < 2 {
		t.Fatalf("the host started %v", pids)
	}
	if err := host.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	for _, id := range pids {
		plugintest.GoneWithin(t, id, time.Second)
	}
	_ = host.Wait() // only when it is all gone does it hold its run directory no longer
	if left, _ := os.ReadDir(runDir); len(left) != 1 {
		t.Fatalf("a killed host cannot tidy up, but its run directory is gone: %v", left)
	}
	// The next host does it: open checks, at the end of the test, that nothing is left.
	strategy(t, open(t, Options{Plugins: config.Plugins{Dirs: []string{pluginDir(t, "steady")}}, RunDir: runDir}),
		"steady")
}

func TestATooLongTemporaryDirectoryIsRefused(t *testing.T) {
	m := New(Options{Plugins: config.Plugins{Dirs: []string{pluginDir(t, "steady")}}})
	t.Setenv("TMPDIR", filepath.Join(os.TempDir(), strings.Repeat("long", 25)))
	_, err := m.Strategy(t.Context(), "steady")
	var failure *Error
	if !errors.As(err, &failure) || failure.Plugin != "steady" ||
		!strings.Contains(err.Error(), "too long a path for sockets") || !strings.Contains(err.Error(), "TMPDIR") {
		t.Errorf("got %v", err)
	}
	if err := m.Close(); err != nil {
		t.Error(err)
	}
}

// Whenever a process is killed, each call gets its answer or an error, and the next one is served again.
func TestCallsSurviveProcessesThatAreKilledAllTheTime(t *testing.T) {
	t.Parallel()
	s := strategy(t, open(t, Options{Plugins: config.Plugins{Dirs: []string{pluginDir(t, "steady")},
		MaxCrashes: 1000}}), "steady")
	ctx, stop := context.WithCancel(t.Context())
	var killer, callers sync.WaitGroup
	killer.Go(func() {
		tick := time.NewTicker(20 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				if p, err := s.Acquire(ctx); err == nil {
					_ = p.Plugin().Process().Kill()
				}
			case <-ctx.Done():
				return
			}
		}
	})
	for range 8 {
		callers.Go(func() {
			for range 40 {
				var failure *Error
				if _, err := s.Optimize(ctx, prepare.OptimizeCall{Call: call("a", "b")}); err != nil &&
					(!errors.As(err, &failure) || !errors.Is(err, ErrPluginCrashed)) {
					t.Error(err)
				}
			}
		})
	}
	callers.Wait()
	stop()
	killer.Wait()
	if _, err := s.Optimize(t.Context(), prepare.OptimizeCall{Call: call("a", "b")}); err != nil &&
		!errors.Is(err, ErrPluginCrashed) {
		t.Error(err)
	}
}

func TestNothingIsMadeAfterClose(t *testing.T) {
	t.Parallel()
	o := Options{Plugins: config.Plugins{Dirs: []string{pluginDir(t, "steady")},
		LockFile: filepath.Join(t.TempDir(), "plugins.lock")}, RunDir: plugintest.ShortTemp(t)}
	m := open(t, o) // it sees to it that nothing is left in the run directory
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := m.Lock(t.Context(), "steady"); !errors.Is(err, ErrClosed) {
		t.Errorf("Lock: %v", err)
	}
	if _, err := m.Strategy(t.Context(), "steady"); !errors.Is(err, ErrClosed) {
		t.Errorf("Strategy: %v", err)
	}
}
