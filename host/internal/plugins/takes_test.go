package plugins

import (
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/host/config"
	"github.com/thresh-dev/thresh/host/internal/plugins/isolate"
	"github.com/thresh-dev/thresh/host/internal/plugins/plugintest"
	"github.com/thresh-dev/thresh/host/internal/prepare"
	"github.com/thresh-dev/thresh/internal/testkit/race"
)

// take has a plugin take what its name says, with all measures of isolation but those of without, and returns how far
// it came, or how it ended.
func take(t *testing.T, name string, maxMemory int, without ...isolate.Measure) (string, error) {
	t.Helper()
	m := open(t, Options{Plugins: config.Plugins{Dirs: []string{pluginDir(t, name)}, MaxMemoryBytes: maxMemory}})
	checks := slices.DeleteFunc(isolate.Probe(), func(c isolate.Check) bool {
		return slices.Contains(without, c.Measure)
	})
	m.checks = func() []isolate.Check { return checks }
	answer, err := strategy(t, m, name).Compress(t.Context(), prepare.CompressCall{Call: call("a")}, services{})
	return string(answer.NoOp), err
}

func TestAPluginCannotFillTheDisk(t *testing.T) {
	t.Parallel()
	race.Skip(t)
	isolates(t)
	got, err := take(t, "fills-its-directory", 1<<30)
	if want := "true after 268435456"; got > want || !strings.HasPrefix(got, "true after ") || err != nil {
		t.Errorf("in a file system of its own: %q, %v", got, err)
	}
	// The host looks at it only where there is no such file system.
	_, err = take(t, "fills-its-directory", 1<<30, isolate.Paths)
	if !errors.Is(err, ErrPluginCrashed) || !strings.Contains(err.Error(), "in its private directory, at most 256") {
		t.Errorf("in the host's file system: %v", err)
	}
}

func TestAPluginCannotStartAnyNumberOfThreads(t *testing.T) {
	race.Skip(t)
	isolates(t)
	_, err := take(t, "starts-threads", 2<<30)
	// The host sees that it has too many, unless the kernel refuses it a thread before: then Go's runtime ends the
	// process. It does so in a user namespace, and in a control group that bounds tasks.
	const seen, refused = "threads, at most 512 are allowed", "exit status 2"
	if !errors.Is(err, ErrPluginCrashed) ||
		!strings.Contains(err.Error(), seen) && !strings.Contains(err.Error(), refused) {
		t.Errorf("got %v", err)
	}
	if os.Geteuid() == 0 {
		out := plugintest.AsNobody(t, t.Name(), map[string]string{faulty: "faulty", honest: "honest", mirror: "mirror"},
			builtEnv+"=%DIR%")
		if !strings.Contains(out, "--- PASS") {
			t.Error(out)
		}
	}
}

func TestAPluginCannotTakeMemoryThatNoLimitCounts(t *testing.T) {
	t.Parallel()
	race.Skip(t)
	isolates(t)
	if got, err := take(t, "shares-memory", 1<<30); got != "true true" || err != nil {
		t.Errorf("shared memory was refused: %q, %v", got, err)
	}
	_, err := take(t, "takes-page-tables", 512<<20)
	if !errors.Is(err, ErrPluginCrashed) || !strings.Contains(err.Error(), "page tables included") &&
		!strings.Contains(err.Error(), "than its control group may") {
		t.Errorf("got %v", err)
	}
}
