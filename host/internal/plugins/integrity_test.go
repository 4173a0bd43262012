package plugins

import (
	"encoding/json"
	"errors"
	"fmt"
	"github.com/thresh-dev/thresh/host/internal/prepare"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sys/unix"
)

// variant makes the file of a plugin another one that does the same: bytes after the end of a program change nothing.
func variant(t testing.TB, path string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	next := filepath.Join(t.TempDir(), "next")
	if err := os.WriteFile(next, append(text, "another version"...), 0o755); err != nil {
		t.Fatal(err)
	}
	install(t, next, path)
}

// try starts a plugin with a manager of its own, as another run of a host would.
func try(t *testing.T, o Options, name string) error {
	t.Helper()
	_, err := open(t, o).Strategy(t.Context(), name)
	return err
}

func TestAChangedFileIsRefusedUntilItIsLocked(t *testing.T) {
	dir := pluginDir(t, "steady")
	o := Options{Dirs: []string{dir}, LockFile: filepath.Join(t.TempDir(), "state", "plugins.lock")}
	if err := try(t, o, "steady"); err != nil {
		t.Fatal("first sight:", err)
	}
	if err := try(t, o, "steady"); err != nil {
		t.Fatal("unchanged:", err)
	}
	variant(t, filepath.Join(dir, FilePrefix+"steady"))
	err := try(t, o, "steady")
	if !errors.Is(err, ErrUntrusted) || !strings.Contains(err.Error(), "the file has changed") || !strings.Contains(err.Error(), "thresh plugins lock steady") {
		t.Fatalf("changed: %v", err)
	}
	done, err := open(t, o).Lock(t.Context(), "steady")
	if err != nil || !strings.Contains(string(done["steady"].Info), `"version":"1.2.3"`) {
		t.Fatalf("lock: %v %+v", err, done)
	}
	if err := try(t, o, "steady"); err != nil {
		t.Error("locked:", err)
	}
}

func TestWithoutALockFileAChangeIsNoticedAllTheSame(t *testing.T) {
	dir := pluginDir(t, "steady")
	s := strategy(t, open(t, Options{Dirs: []string{dir}}), "steady")
	variant(t, filepath.Join(dir, FilePrefix+"steady"))
	kill(t, s)
	if _, err := s.Optimize(t.Context(), prepare.OptimizeCall{Call: call("a")}); !errors.Is(err, ErrUntrusted) {
		t.Errorf("got %v", err)
	}
}

func TestOnlyLockedPluginsStartWhereThatIsAsked(t *testing.T) {
	o := Options{Dirs: []string{pluginDir(t, "steady", "chatty")}, LockFile: filepath.Join(t.TempDir(), "plugins.lock")}
	if _, err := open(t, o).Lock(t.Context(), "steady"); err != nil {
		t.Fatal(err)
	}
	o.Integrity = IntegrityLocked
	if err := try(t, o, "steady"); err != nil {
		t.Error(err)
	}
	if err := try(t, o, "chatty"); !errors.Is(err, ErrUntrusted) || !strings.Contains(err.Error(), "not in the lock file") {
		t.Errorf("got %v", err)
	}
}

func TestOffStartsAnything(t *testing.T) {
	dir := pluginDir(t, "steady")
	o := Options{Dirs: []string{dir}, LockFile: filepath.Join(t.TempDir(), "plugins.lock")}
	if err := try(t, o, "steady"); err != nil {
		t.Fatal(err)
	}
	variant(t, filepath.Join(dir, FilePrefix+"steady"))
	if err := os.Chmod(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	o.Integrity = IntegrityOff
	if err := try(t, o, "steady"); err != nil {
		t.Error(err)
	}
}

func TestADamagedLockFileLetsNothingRun(t *testing.T) {
	for name, text := range map[string]string{
		"no json": "{", "another version": `{"version": 9}`,
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "plugins.lock")
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			err := try(t, Options{Dirs: []string{pluginDir(t, "steady")}, LockFile: path}, "steady")
			if !errors.Is(err, ErrUntrusted) || !strings.Contains(err.Error(), path) {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestTheLockedInfoHoldsForTheSameFile(t *testing.T) {
	o := Options{Dirs: []string{pluginDir(t, "changes-its-info")}, LockFile: filepath.Join(t.TempDir(), "plugins.lock")}
	if err := try(t, o, "changes-its-info"); err != nil {
		t.Fatal(err)
	}
	if err := try(t, o, "changes-its-info"); !errors.Is(err, ErrInfoChanged) {
		t.Errorf("got %v", err)
	}
}

func TestWhatCameWithTheHostMayBeRebuilt(t *testing.T) {
	home := t.TempDir()
	dir := filepath.Join(home, "plugins")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	host := write(t, home, "thresh", "#!/bin/sh\n", 0o755)
	path := filepath.Join(dir, FilePrefix+"steady")
	install(t, faulty, path)
	o := Options{Dirs: []string{dir}, Executable: host, LockFile: filepath.Join(home, "plugins.lock")}
	if err := try(t, o, "steady"); err != nil {
		t.Fatal(err)
	}
	variant(t, path)
	if err := try(t, o, "steady"); err != nil {
		t.Error(err)
	}
	o.Integrity = IntegrityLocked
	if err := try(t, o, "steady"); !errors.Is(err, ErrUntrusted) {
		t.Errorf("locked: %v", err)
	}
}

func TestFilesThatOthersCanChangeAreNotRun(t *testing.T) {
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
		"as it should be":       {func(*testing.T, string) {}, ""},
		"a file for everybody":  {func(t *testing.T, dir string) { chmod(t, filepath.Join(dir, name), 0o757) }, "written to by everybody (mode 0757): chmod o-w"},
		"a dir for everybody":   {func(t *testing.T, dir string) { chmod(t, dir, 0o757) }, "the directory can be written to by everybody"},
		"even if it is sticky":  {func(t *testing.T, dir string) { chmod(t, dir, 0o777|os.ModeSticky) }, "the directory can be written to by everybody"},
		"a parent for everyone": {func(t *testing.T, dir string) { chmod(t, filepath.Dir(dir), 0o777) }, "the directory above it"},
		"a sticky parent":       {func(t *testing.T, dir string) { chmod(t, filepath.Dir(dir), 0o777|os.ModeSticky) }, ""},
		"a file for a group": {func(t *testing.T, dir string) {
			chown(t, filepath.Join(dir, name), 0, 12345)
			chmod(t, filepath.Join(dir, name), 0o775)
		}, "by its group 12345"},
		"somebody else's file":  {func(t *testing.T, dir string) { chown(t, filepath.Join(dir, name), 54321, 0) }, "belongs to user 54321"},
		"somebody else's dir":   {func(t *testing.T, dir string) { chown(t, dir, 54321, 0) }, "the directory belongs to user 54321"},
		"a link that leaves it": {func(t *testing.T, dir string) { link(t, dir, faulty) }, "is a symbolic link that leaves the directory, to " + faulty},
		"a link that stays": {func(t *testing.T, dir string) {
			install(t, faulty, filepath.Join(dir, "steady-1.2.3"))
			link(t, dir, "steady-1.2.3")
		}, ""},
	}
	for what, test := range tests {
		t.Run(what, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "plugins")
			if err := os.Mkdir(dir, 0o755); err != nil {
				t.Fatal(err)
			}
			install(t, faulty, filepath.Join(dir, name))
			test.change(t, dir)
			err := try(t, Options{Dirs: []string{dir}}, "steady")
			if test.says == "" && err != nil || test.says != "" && (err == nil || !strings.Contains(err.Error(), test.says)) {
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

func TestAGroupOfOnesOwnIsNobodyElse(t *testing.T) {
	g := &guard{user: 1000, groups: filepath.Join(t.TempDir(), "group")}
	if err := os.WriteFile(g.groups, []byte("alice:x:1000:\nbob:x:1001:bob\ncarol:x:1002:carol,mallory\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		uid, gid uint32
		want     bool
	}{{1000, 1000, true}, {1001, 1001, true}, {1002, 1002, false}, {1000, 1001, false}, {1003, 1003, true}} {
		if got := g.writable(&unix.Stat_t{Mode: 0o775, Uid: test.uid, Gid: test.gid}) == ""; got != test.want {
			t.Errorf("user %d, group %d: %v", test.uid, test.gid, got)
		}
	}
}

func TestHostsThatLockAtTheSameTimeLoseNothing(t *testing.T) {
	l := ledger{path: filepath.Join(t.TempDir(), "plugins.lock")}
	var wg sync.WaitGroup
	for i := range 20 {
		wg.Go(func() {
			if err := l.change(func(p map[string]Locked) {
				p[fmt.Sprint("p", i)] = Locked{SHA256: "x", Info: json.RawMessage(`{}`)}
			}); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	got, err := l.read()
	if err != nil || len(got) != 20 {
		t.Errorf("%d plugins, %v", len(got), err)
	}
	left, err := os.ReadDir(filepath.Dir(l.path))
	if err != nil || len(left) != 1 {
		t.Errorf("left: %v %v", left, err)
	}
}

// What is run is what was opened and hashed, though another file has its name by now.
func TestTheOpenedFileIsRun(t *testing.T) {
	for kind, text := range map[string]string{"script": "#!/bin/sh\necho original\n", "program": ""} {
		t.Run(kind, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, FilePrefix+"swapped")
			if kind == "script" {
				write(t, dir, FilePrefix+"swapped", text, 0o755)
			} else {
				install(t, "/bin/echo", path)
			}
			m := open(t, Options{})
			if err := m.prepare(); err != nil {
				t.Fatal(err)
			}
			b, err := openBinary(candidate{name: "swapped", path: path}, &m.hashes, nil)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(b.close)
			impostor := write(t, t.TempDir(), "impostor", "#!/bin/sh\necho impostor; exit 9\n", 0o755)
			if err := os.Rename(impostor, path); err != nil {
				t.Fatal(err)
			}
			c := newChild(b, cage{}, m.opts.Logger, m.starter)
			c.prepare(nil, dir)
			if err := c.Start(t.Context()); err != nil {
				t.Fatal(err)
			}
			<-c.exited
			if c.state != "exit status 0" {
				t.Errorf("it ended with %s%s", c.state, c.handshake.printed())
			}
		})
	}
}
