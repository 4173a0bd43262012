package plugins

import (
	"errors"
	"os"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/hashicorp/go-hclog"

	"github.com/thresh-dev/thresh/host/config"
	"github.com/thresh-dev/thresh/host/internal/plugins/plugintest"
	"github.com/thresh-dev/thresh/host/internal/prepare"
	"github.com/thresh-dev/thresh/internal/testkit/race"
)

// What a plugin opens and sends towards the host is bounded; one that goes on is killed, and the error says why. The
// names are those of the plugin's faults; each begins in a call.
func TestAPluginThatFloodsTheHostIsKilled(t *testing.T) {
	const most = 1 << 30 // bytes of memory that the host may take from the system meanwhile
	tests := []struct {
		name string
		call func(*testing.T, *Strategy) error // nil: the flood begins after an Optimize
		says string
	}{
		{"floods-estimates", compressA, "it was killed: its requests to the host took more than 128 MiB of memory together"},
		{"opens-streams", compressA, "it was killed: it made more than 1000 requests in a row that the host refused"},
		{"sends-unasked", nil, "it was killed: it "},
		{"asks-unasked", nil, "it was killed: it made more than 1000 requests in a row that the host refused"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if test.name == "floods-estimates" || test.name == "sends-unasked" { // with much memory
				race.Skip(t)
			}
			s := strategy(t, open(t, Options{Plugins: config.Plugins{Dirs: []string{pluginDir(t, test.name)}}}),
				test.name)
			first, before := pid(t, s), memoryTaken(t)
			reason := ""
			if test.call != nil {
				err := test.call(t, s)
				if err == nil {
					t.Fatal("the call succeeded")
				}
				reason = err.Error()
			} else if _, err := s.Optimize(t.Context(), prepare.OptimizeCall{Call: call("a", "b")}); err != nil {
				t.Fatal(err)
			}
			plugintest.Eventually(t, "it is killed", func() bool { return !plugintest.Exists(first) })
			plugintest.Eventually(t, "the state says why", func() bool {
				state, why := s.State()
				reason += why
				return state != StateReady
			})
			// Sending takes processor time too, and on a busy machine that is noticed first.
			spun := test.name == "sends-unasked" && strings.Contains(reason, "it used processor time while no call")
			if !spun && !strings.Contains(reason, test.says) {
				t.Errorf("the reason is %q, want %q", reason, test.says)
			}
			after := memoryTaken(t)
			t.Logf("the host took %d MB", (after-before)>>20)
			if after-before > most {
				t.Errorf("the host took %d MB of memory", (after-before)>>20)
			}
		})
	}
}

func compressA(t *testing.T, s *Strategy) error {
	_, err := s.Compress(t.Context(), prepare.CompressCall{Call: call("a", "b")}, services{})
	return err
}

// memoryTaken returns the most memory that this process ever had, in bytes.
func memoryTaken(t *testing.T) (bytes int64) {
	t.Helper()
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Skip("SKIPPED: only Linux tells how much memory a process had at most")
	}
	for line := range strings.Lines(string(status)) {
		if fields := strings.Fields(line); fields[0] == "VmHWM:" {
			for _, c := range fields[1] {
				bytes = bytes*10 + int64(c-'0')
			}
		}
	}
	return bytes << 10
}

// What a plugin writes to its standard error cannot look like a line of the host, at the level that is the default.
func TestAPluginCannotForgeLogLines(t *testing.T) {
	t.Parallel()
	var log plugintest.Buffer
	m := open(t, Options{
		Plugins: config.Plugins{Dirs: []string{pluginDir(t, "writes-to-the-log")}},
		Logger:  hclog.New(&hclog.LoggerOptions{Name: "thresh", Level: hclog.Warn, Output: &log}),
	})
	s := strategy(t, m, "writes-to-the-log")
	if _, err := s.Optimize(t.Context(), prepare.OptimizeCall{Call: call("a", "b")}); err != nil {
		t.Fatal(err)
	}
	plugintest.Eventually(t, "all of it is logged",
		func() bool { return strings.Contains(log.String(), "forged by a panic") })
	lines := 0
	for line := range strings.Lines(log.String()) {
		line = strings.TrimSuffix(line, "\n")
		if strings.Contains(line, "forged") {
			lines++
		}
		if strings.ContainsFunc(line, unicode.IsControl) ||
			strings.HasPrefix(line[min(25, len(line)):], "[ERROR] thresh: ") {
			t.Errorf("logged: %q", line)
		}
	}
	if lines != 4 {
		t.Errorf("%d lines for four of the plugin:\n%s", lines, log.String())
	}
}

// The log grows by a bounded amount however much a plugin writes, and says how much is missing.
func TestAFloodOfTheLogIsDropped(t *testing.T) {
	t.Parallel()
	var log plugintest.Buffer
	m := open(t, Options{
		Plugins: config.Plugins{Dirs: []string{pluginDir(t, "floods-the-log")}},
		Logger:  hclog.New(&hclog.LoggerOptions{Name: "thresh", Level: hclog.Warn, Output: &log}),
	})
	s := strategy(t, m, "floods-the-log")
	if _, err := s.Optimize(t.Context(), prepare.OptimizeCall{Call: call("a", "b")}); err != nil {
		t.Fatal(err)
	}
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	if n := len(log.String()); n > 4<<20 {
		t.Errorf("19 MB of lines made %d bytes of log", n)
	}
	if !strings.Contains(log.String(), "plugin logs too much, lines were dropped") {
		t.Error("what is missing is not mentioned")
	}
}

func TestAnIdlePluginThatSpinsIsReplaced(t *testing.T) {
	t.Parallel()
	m := open(t, Options{Plugins: config.Plugins{Dirs: []string{pluginDir(t, "spins")}}})
	m.supervision.IdlePeriod, m.supervision.IdleShare = 500*time.Millisecond, 0.01
	s := strategy(t, m, "spins")
	first := pid(t, s)
	if _, err := s.Optimize(t.Context(), prepare.OptimizeCall{Call: call("a", "b")}); err != nil {
		t.Fatal(err)
	}
	plugintest.Eventually(t, "its process is ended", func() bool { return !plugintest.Exists(first) })
	if second := pid(t, s); second == first {
		t.Error("the next call has the same process")
	}
}

// A plugin that makes its directory inaccessible leaves nothing behind: open checks that when the test is over. Root is
// not held back by modes, so that another user runs the test too.
func TestAPluginThatClosesItsDirectory(t *testing.T) {
	if os.Geteuid() == 0 {
		out := plugintest.AsNobody(t, t.Name(), map[string]string{faulty: "faulty", honest: "honest", mirror: "mirror"},
			builtEnv+"=%DIR%")
		if !strings.Contains(out, "--- PASS") {
			t.Error(out)
		}
	}
	s := strategy(t, open(t, Options{Plugins: config.Plugins{Dirs: []string{pluginDir(t, "closes-its-directory")}}}),
		"closes-its-directory")
	if _, err := s.Optimize(t.Context(), prepare.OptimizeCall{Call: call("a", "b")}); err != nil {
		t.Fatal(err)
	}
}

// A plugin that declares without measure is refused before it is written to the lock file, which others need.
func TestAPluginCannotFillTheLockFile(t *testing.T) {
	t.Parallel()
	dir := pluginDir(t, "declares-too-much", "steady")
	lock := t.TempDir() + "/lock.json"
	m := open(t, Options{Plugins: config.Plugins{Dirs: []string{dir}, LockFile: lock}})
	if _, err := m.Lock(t.Context()); !errors.Is(err, ErrBadInfo) {
		t.Errorf("got %v", err)
	}
	if _, err := m.Strategy(t.Context(), "declares-too-much"); !errors.Is(err, ErrBadInfo) {
		t.Errorf("got %v", err)
	}
	written, err := os.ReadFile(lock)
	if err != nil || len(written) > 10_000 || strings.Contains(string(written), "declares-too-much") {
		t.Errorf("the lock file has %d bytes, %v", len(written), err)
	}
	strategy(t, m, "steady")
}
