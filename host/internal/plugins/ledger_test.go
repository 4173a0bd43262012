package plugins

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hashicorp/go-hclog"

	"github.com/thresh-dev/thresh/host/config"
	"github.com/thresh-dev/thresh/host/internal/plugins/plugintest"
	"github.com/thresh-dev/thresh/host/internal/plugins/trust"
)

// remembering are options with which a plugin is remembered in a lock file of the test's own.
func remembering(t *testing.T, dirs ...string) Options {
	t.Helper()
	return Options{Plugins: config.Plugins{Dirs: dirs, LockFile: filepath.Join(t.TempDir(), "plugins.lock")}}
}

func TestPluginsOfTheSameNameInTwoDirectoriesAreTwo(t *testing.T) {
	t.Parallel()
	one, two := pluginDir(t, "steady"), pluginDir(t, "steady")
	plugintest.Variant(t, filepath.Join(two, FilePrefix+"steady"))
	o := remembering(t, one)
	for range 2 { // the first sight, and the second
		for _, dir := range []string{one, two} {
			o.Dirs = []string{dir}
			if err := try(t, o, "steady"); err != nil {
				t.Error(err)
			}
		}
	}
	plugintest.Variant(t, filepath.Join(two, FilePrefix+"steady"))
	if err := try(t, o, "steady"); !errors.Is(err, ErrUntrusted) {
		t.Errorf("changed: %v", err)
	}
	o.Dirs = []string{one}
	if err := try(t, o, "steady"); err != nil {
		t.Errorf("the other: %v", err)
	}
}

func TestOnlyTheOneThatWasLockedIs(t *testing.T) {
	t.Parallel()
	one, two := pluginDir(t, "steady"), pluginDir(t, "steady")
	plugintest.Variant(t, filepath.Join(two, FilePrefix+"steady"))
	o := remembering(t, one)
	if _, err := open(t, o).Lock(t.Context(), "steady"); err != nil {
		t.Fatal(err)
	}
	o.Dirs, o.Integrity = []string{two}, trust.Locked
	if err := try(t, o, "steady"); !errors.Is(err, ErrUntrusted) ||
		!strings.Contains(err.Error(), "not in the lock file") {
		t.Errorf("got %v", err)
	}
}

func TestAPluginThatIsMovedIsWhatItWas(t *testing.T) {
	t.Parallel()
	before, after := pluginDir(t, "steady"), t.TempDir()
	o := remembering(t, before)
	if _, err := open(t, o).Lock(t.Context(), "steady"); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(after, FilePrefix+"steady")
	if err := os.Rename(filepath.Join(before, FilePrefix+"steady"), path); err != nil {
		t.Fatal(err)
	}
	o.Dirs, o.Integrity = []string{after}, trust.Locked
	if err := try(t, o, "steady"); err != nil {
		t.Error("locked:", err)
	}
	o.Integrity = trust.TOFU
	if err := try(t, o, "steady"); err != nil {
		t.Error("tofu:", err)
	}
	plugintest.Variant(t, path)
	if err := try(t, o, "steady"); !errors.Is(err, ErrUntrusted) {
		t.Errorf("it changes where it is now: %v", err)
	}
}

// How the way to a directory is spelled makes no other directory of it.
func TestADirectoryIsTheSameHoweverItIsSpelled(t *testing.T) {
	t.Parallel()
	dir := pluginDir(t, "steady")
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(dir, link); err != nil {
		t.Fatal(err)
	}
	o := remembering(t, link)
	done, err := open(t, o).Lock(t.Context(), "steady")
	if err != nil {
		t.Fatal(err)
	}
	if got, want := done["steady"].Path, filepath.Join(link, FilePrefix+"steady"); got != want {
		t.Errorf("shown as %s, configured is %s", got, want)
	}
	plugintest.Variant(t, filepath.Join(dir, FilePrefix+"steady"))
	for name, spelled := range map[string]string{"as before": link, "really": dir,
		"with a detour": filepath.Join(dir, "..") + "/" + filepath.Base(dir)} {
		o.Dirs = []string{spelled}
		if err := try(t, o, "steady"); !errors.Is(err, ErrUntrusted) {
			t.Errorf("%s: a changed file runs: %v", name, err)
		}
	}
}

func TestAFirstSightOfAKnownNameIsAWarning(t *testing.T) {
	t.Parallel()
	one, two := pluginDir(t, "steady", "chatty"), pluginDir(t, "steady")
	plugintest.Variant(t, filepath.Join(two, FilePrefix+"steady"))
	o := remembering(t, one)
	var log plugintest.Buffer
	o.Logger = hclog.New(&hclog.LoggerOptions{Level: hclog.Warn, Output: &log})
	for _, name := range []string{"steady", "chatty"} {
		if err := try(t, o, name); err != nil {
			t.Fatal(err)
		}
	}
	const warning = "locked elsewhere"
	if text := log.String(); strings.Contains(text, warning) {
		t.Errorf("of a new name: %s", text)
	}
	o.Dirs = []string{two}
	if err := try(t, o, "steady"); err != nil {
		t.Fatal(err)
	}
	text := log.String()
	for _, part := range []string{warning, one, two} {
		if !strings.Contains(text, part) {
			t.Errorf("%q is not in the warning: %s", part, text)
		}
	}
}
