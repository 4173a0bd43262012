package plugins

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/host/config"
	"github.com/thresh-dev/thresh/host/internal/plugins/plugintest"
	"github.com/thresh-dev/thresh/host/internal/plugins/trust"
	"github.com/thresh-dev/thresh/host/internal/prepare"
)

// try starts a plugin with a manager of its own, as another run of a host would.
func try(t *testing.T, o Options, name string) error {
	t.Helper()
	_, err := open(t, o).Strategy(t.Context(), name)
	return err
}

func TestAChangedFileIsRefusedUntilItIsLocked(t *testing.T) {
	t.Parallel()
	dir := pluginDir(t, "steady")
	o := Options{Plugins: config.Plugins{Dirs: []string{dir},
		LockFile: filepath.Join(t.TempDir(), "state", "plugins.lock")}}
	if err := try(t, o, "steady"); err != nil {
		t.Fatal("first sight:", err)
	}
	if err := try(t, o, "steady"); err != nil {
		t.Fatal("unchanged:", err)
	}
	plugintest.Variant(t, filepath.Join(dir, FilePrefix+"steady"))
	err := try(t, o, "steady")
	accept := "thresh plugins lock --plugin-dir " + dir + " steady"
	if !errors.Is(err, ErrUntrusted) || !strings.Contains(err.Error(), "the file has changed since it was first used, at ") ||
		!strings.Contains(err.Error(), accept) {
		t.Fatalf("changed: %v", err)
	}
	if l := open(t, o).List(t.Context())[0]; l.State != StateUntrusted || !strings.HasSuffix(l.Reason, accept) ||
		strings.Count(l.Reason, dir) != 1 {
		t.Errorf("listed: %+v", l)
	}
	done, err := open(t, o).Lock(t.Context(), "steady")
	if err != nil || !strings.Contains(string(done["steady"].Info), `"version":"1.2.3"`) {
		t.Fatalf("lock: %v %+v", err, done)
	}
	if err := try(t, o, "steady"); err != nil {
		t.Error("locked:", err)
	}
	plugintest.Variant(t, filepath.Join(dir, FilePrefix+"steady"))
	if err := try(t, o, "steady"); err == nil || !strings.Contains(err.Error(), "changed since it was locked, at ") {
		t.Errorf("changed again: %v", err)
	}
}

func TestWithoutALockFileAChangeIsNoticedAllTheSame(t *testing.T) {
	t.Parallel()
	dir := pluginDir(t, "steady")
	s := strategy(t, open(t, Options{Plugins: config.Plugins{Dirs: []string{dir}}}), "steady")
	plugintest.Variant(t, filepath.Join(dir, FilePrefix+"steady"))
	kill(t, s)
	if _, err := s.Optimize(t.Context(), prepare.OptimizeCall{Call: call("a")}); !errors.Is(err, ErrUntrusted) {
		t.Errorf("got %v", err)
	}
}

func TestOnlyLockedPluginsStartWhereThatIsAsked(t *testing.T) {
	t.Parallel()
	o := Options{Plugins: config.Plugins{Dirs: []string{pluginDir(t, "steady", "chatty")},
		LockFile: filepath.Join(t.TempDir(), "plugins.lock")}}
	if _, err := open(t, o).Lock(t.Context(), "steady"); err != nil {
		t.Fatal(err)
	}
	o.Integrity = trust.Locked
	if err := try(t, o, "steady"); err != nil {
		t.Error(err)
	}
	if err := try(t, o, "chatty"); !errors.Is(err, ErrUntrusted) ||
		!strings.Contains(err.Error(), "not in the lock file") {
		t.Errorf("got %v", err)
	}
}

func TestOffStartsAnything(t *testing.T) {
	t.Parallel()
	dir := pluginDir(t, "steady")
	o := Options{Plugins: config.Plugins{Dirs: []string{dir}, LockFile: filepath.Join(t.TempDir(), "plugins.lock")}}
	if err := try(t, o, "steady"); err != nil {
		t.Fatal(err)
	}
	plugintest.Variant(t, filepath.Join(dir, FilePrefix+"steady"))
	if err := os.Chmod(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	o.Integrity = trust.Off
	if err := try(t, o, "steady"); err != nil {
		t.Error(err)
	}
}

func TestADamagedLockFileLetsNothingRun(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"no json": "{", "another version": `{"version": 9}`,
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "plugins.lock")
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			err := try(t, Options{Plugins: config.Plugins{Dirs: []string{pluginDir(t, "steady")}, LockFile: path}},
				"steady")
			if !errors.Is(err, ErrUntrusted) || !strings.Contains(err.Error(), path) {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestTheLockedInfoHoldsForTheSameFile(t *testing.T) {
	t.Parallel()
	o := Options{Plugins: config.Plugins{Dirs: []string{pluginDir(t, "changes-its-info")},
		LockFile: filepath.Join(t.TempDir(), "plugins.lock")}}
	if err := try(t, o, "changes-its-info"); err != nil {
		t.Fatal(err)
	}
	if err := try(t, o, "changes-its-info"); !errors.Is(err, ErrInfoChanged) {
		t.Errorf("got %v", err)
	}
}

func TestFilesThatOthersCanChangeAreNotRun(t *testing.T) {
	t.Parallel()
	const name = FilePrefix + "steady"
	chmod := func(t *testing.T, path string, mode os.FileMode) {
		t.Helper()
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
	}
	chown := func(t *testing.T, path string, uid, gid int) {
		t.Helper()
		if os.Geteuid() != 0 {
			t.Skip("SKIPPED: only root can give files away")
		}
		if err := os.Chown(path, uid, gid); err != nil {
			t.Fatal(err)
		}
	}
	tests := map[string]struct {
		change func(t *testing.T, dir string)
		says   string // "": it is run
	}{
		"as it should be": {func(*testing.T, string) {}, ""},
		"a file for everybody": {func(t *testing.T, dir string) { chmod(t, filepath.Join(dir, name), 0o757) },
			"written to by everybody (mode 0757): chmod o-w"},
		"a dir for everybody": {func(t *testing.T, dir string) { chmod(t, dir, 0o757) },
			"the directory can be written to by everybody"},
		"even if it is sticky": {func(t *testing.T, dir string) { chmod(t, dir, 0o777|os.ModeSticky) },
			"the directory can be written to by everybody"},
		"a parent for everyone": {func(t *testing.T, dir string) { chmod(t, filepath.Dir(dir), 0o777) },
			"the directory above it"},
		"a sticky parent": {func(t *testing.T, dir string) { chmod(t, filepath.Dir(dir), 0o777|os.ModeSticky) }, ""},
		"a file for a group": {func(t *testing.T, dir string) {
			chown(t, filepath.Join(dir, name), 0, 12345)
			chmod(t, filepath.Join(dir, name), 0o775)
		}, "by its group 12345"},
		"another user's file": {func(t *testing.T, dir string) { chown(t, filepath.Join(dir, name), 54321, 0) },
			"belongs to user 54321"},
		"another user's dir": {func(t *testing.T, dir string) { chown(t, dir, 54321, 0) },
			"the directory belongs to user 54321"},
		"a link that leaves it": {func(t *testing.T, dir string) { link(t, dir, faulty) },
			"is a symbolic link that leaves the directory, to " + faulty},
		"a link that stays": {func(t *testing.T, dir string) {
			plugintest.Install(t, faulty, filepath.Join(dir, "steady-1.2.3"))
			link(t, dir, "steady-1.2.3")
		}, ""},
	}
	for what, test := range tests {
		t.Run(what, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "plugins")
			if err := os.Mkdir(dir, 0o755); err != nil {
				t.Fatal(err)
			}
			plugintest.Install(t, faulty, filepath.Join(dir, name))
			test.change(t, dir)
			err := try(t, Options{Plugins: config.Plugins{Dirs: []string{dir}}}, "steady")
			if test.says == "" && err != nil || test.says != "" &&
				(err == nil || !strings.Contains(err.Error(), test.says)) {
				t.Errorf("got %v, want %q", err, test.says)
			}
		})
	}
}

// link puts a symbolic link in the place of the plugin.
func link(t *testing.T, dir, to string) {
	t.Helper()
	path := filepath.Join(dir, FilePrefix+"steady")
	if err := errors.Join(os.Remove(path), os.Symlink(to, path)); err != nil {
		t.Fatal(err)
	}
}

// Listing only looks: what it starts is trusted when it is used, as it is then.
func TestOnlyUseRecordsAPlugin(t *testing.T) {
	t.Parallel()
	dir, lock := pluginDir(t, "steady"), filepath.Join(t.TempDir(), "state", "plugins.lock")
	m := open(t, Options{Plugins: config.Plugins{Dirs: []string{dir}, LockFile: lock}})
	if l := m.List(t.Context()); l[0].State != StateReady {
		t.Fatalf("listed: %+v", l)
	}
	if _, err := os.Stat(filepath.Dir(lock)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("listing made the lock file's directory: %v", err)
	}
	plugintest.Variant(t, filepath.Join(dir, FilePrefix+"steady"))
	strategy(t, m, "steady")
	recorded, err := os.ReadFile(lock)
	if sum := m.hashes.OfFile(filepath.Join(dir, FilePrefix+"steady")); err != nil ||
		!strings.Contains(string(recorded), sum) {
		t.Errorf("%v: %s is not in %s", err, sum, recorded)
	}
}
