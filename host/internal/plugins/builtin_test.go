package plugins

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/thresh-dev/thresh/host/config"
	"github.com/thresh-dev/thresh/host/internal/plugins/discover"
	"github.com/thresh-dev/thresh/host/internal/plugins/plugintest"
	"github.com/thresh-dev/thresh/host/internal/plugins/trust"
	"github.com/thresh-dev/thresh/host/internal/prepare"
	"github.com/thresh-dev/thresh/internal/testkit/binaries"
)

// both is a strategy that is built in, and that exists as a file too.
const both = "top-down-truncation"

// It is isolated as a file is, and where only locked files run, it needs no lock.
func TestABuiltInStrategyRunsAsOtherPluginsDo(t *testing.T) {
	t.Parallel()
	dir, lock := pluginDir(t, "steady"), filepath.Join(t.TempDir(), "state", "plugins.lock")
	o := Options{Plugins: config.Plugins{Dirs: []string{dir}, LockFile: lock}, BuiltIn: []string{both}}
	m := open(t, o)
	if locked, err := m.Lock(t.Context()); err != nil || len(locked) != 1 {
		t.Errorf("locked %v, %v", locked, err)
	}
	if _, err := m.Lock(t.Context(), both); err == nil || !strings.Contains(err.Error(), "is built in") {
		t.Errorf("locking it: %v", err)
	}
	o.Integrity = trust.Locked
	m = open(t, o)
	list := m.List(t.Context())
	if len(list) != 2 || list[1].State != StateReady || !list[1].BuiltIn || list[1].SHA256 != "" ||
		!slices.Equal(list[0].Isolation, list[1].Isolation) {
		t.Errorf("listed as %+v", list)
	}
	s := strategy(t, m, both)
	kill(t, s)
	plugintest.Eventually(t, "it runs again", func() bool {
		_, err := s.Compress(t.Context(), prepare.CompressCall{Call: call("a")}, services{})
		return err == nil
	})
}

func TestAFileIsUsedInsteadOfWhatIsBuiltIn(t *testing.T) {
	t.Parallel()
	elsewhere, dir := t.TempDir(), filepath.Join(t.TempDir(), "plugins")
	if err := binaries.Strategies(elsewhere, both); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, FilePrefix+both)
	o := reloading(dir)
	o.BuiltIn = []string{both}
	m := open(t, o)
	s := strategy(t, m, both)
	runs := func(file bool) func() bool {
		return func() bool {
			p, err := s.Acquire(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			defer p.Release()
			return p.Plugin().Binary().BuiltIn != file
		}
	}
	if !runs(false)() {
		t.Error("without a file, what is built in does not run")
	}
	plugintest.Write(t, dir, FilePrefix+both, "", 0o755) // not one that could be used
	plugintest.Install(t, filepath.Join(elsewhere, FilePrefix+both), path)
	plugintest.Eventually(t, "the file runs", runs(true))
	list := m.List(t.Context())
	if len(list) != 2 || list[0].Path != path || list[0].State != StateReady || list[1].State != StateShadowed ||
		list[1].Reason != "hidden by "+path {
		t.Errorf("listed as %+v", list)
	}

	first := pid(t, s)
	if err := os.Rename(dir, dir+".away"); err != nil {
		t.Fatal(err)
	}
	plugintest.Eventually(t, "it is noticed",
		func() bool { _, reason := s.State(); return strings.Contains(reason, "is away") })
	if pid(t, s) != first {
		t.Error("the file's process went with its directory")
	}
	if err := os.Rename(dir+".away", dir); err != nil {
		t.Fatal(err)
	}
	plugintest.Eventually(t, "it is back", func() bool { _, reason := s.State(); return reason == "" })
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	plugintest.Eventually(t, "what is built in runs again", runs(false))
	plugintest.GoneWithin(t, first, time.Minute)
}

// What could not be seen may be a file that is to be used instead.
func TestWhatIsBuiltInWaitsForTheMachine(t *testing.T) {
	t.Parallel()
	c := discover.Catalog{Lack: ErrHost}.AddBuiltIn([]string{both})
	if got, ok := c.Find(both); ok {
		t.Errorf("found %+v", got)
	}
}
