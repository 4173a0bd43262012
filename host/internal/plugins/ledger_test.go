package plugins

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/go-hclog"
)

// remembering are options with which a plugin is remembered in a lock file of the test's own.
func remembering(t *testing.T, dirs ...string) Options {
	t.Helper()
	return Options{Dirs: dirs, LockFile: filepath.Join(t.TempDir(), "plugins.lock")}
}

func TestPluginsOfTheSameNameInTwoDirectoriesAreTwo(t *testing.T) {
	one, two := pluginDir(t, "steady"), pluginDir(t, "steady")
	variant(t, filepath.Join(two, FilePrefix+"steady"))
	o := remembering(t, one)
	for range 2 { // the first sight, and the second
		for _, dir := range []string{one, two} {
			o.Dirs = []string{dir}
			if err := try(t, o, "steady"); err != nil {
				t.Error(err)
			}
		}
	}
	variant(t, filepath.Join(two, FilePrefix+"steady"))
	if err := try(t, o, "steady"); !errors.Is(err, ErrUntrusted) {
		t.Errorf("changed: %v", err)
	}
	o.Dirs = []string{one}
	if err := try(t, o, "steady"); err != nil {
		t.Errorf("the other: %v", err)
	}
}

func TestOnlyTheOneThatWasLockedIs(t *testing.T) {
	one, two := pluginDir(t, "steady"), pluginDir(t, "steady")
	variant(t, filepath.Join(two, FilePrefix+"steady"))
	o := remembering(t, one)
	if _, err := open(t, o).Lock(t.Context(), "steady"); err != nil {
		t.Fatal(err)
	}
	o.Dirs, o.Integrity = []string{two}, IntegrityLocked
	if err := try(t, o, "steady"); !errors.Is(err, ErrUntrusted) || !strings.Contains(err.Error(), "not in the lock file") {
		t.Errorf("got %v", err)
	}
}

func TestAPluginThatIsMovedIsWhatItWas(t *testing.T) {
	before, after := pluginDir(t, "steady"), t.TempDir()
	o := remembering(t, before)
	if _, err := open(t, o).Lock(t.Context(), "steady"); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(after, FilePrefix+"steady")
	if err := os.Rename(filepath.Join(before, FilePrefix+"steady"), path); err != nil {
		t.Fatal(err)
	}
	o.Dirs, o.Integrity = []string{after}, IntegrityLocked
	if err := try(t, o, "steady"); err != nil {
		t.Error("locked:", err)
	}
	o.Integrity = IntegrityTOFU
	if err := try(t, o, "steady"); err != nil {
		t.Error("tofu:", err)
	}
	variant(t, path)
	if err := try(t, o, "steady"); !errors.Is(err, ErrUntrusted) {
		t.Errorf("it changes where it is now: %v", err)
	}
}

// A lock file of the form in which plugins were by name holds, and takes the new form when something is added to it.
func TestTheOldFormOfALockFile(t *testing.T) {
	dir := pluginDir(t, "steady", "chatty")
	o := remembering(t, dir)
	if _, err := open(t, o).Lock(t.Context(), "steady"); err != nil {
		t.Fatal(err)
	}
	now, err := ledger{path: o.LockFile}.read()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, FilePrefix+"steady")
	old := fmt.Sprintf(`{"version": 1, "plugins": {"steady": {"sha256": %q, "path": %q, "info": %s, "at": "2026-01-02T03:04:05Z"}}}`,
		now[path].SHA256, path, now[path].Info)
	if err := os.WriteFile(o.LockFile, []byte(old), 0o600); err != nil {
		t.Fatal(err)
	}
	o.Integrity = IntegrityLocked
	if err := try(t, o, "steady"); err != nil {
		t.Error("as it was:", err)
	}
	if _, err := open(t, o).Lock(t.Context(), "chatty"); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(o.LockFile)
	if err != nil || !strings.Contains(string(text), `"version": 2`) {
		t.Errorf("%v: %s", err, text)
	}
	for _, name := range []string{"steady", "chatty"} {
		if err := try(t, o, name); err != nil {
			t.Error("in the new form:", err)
		}
	}
	o.Integrity = IntegrityTOFU
	variant(t, path)
	if err := try(t, o, "steady"); !errors.Is(err, ErrUntrusted) {
		t.Errorf("changed: %v", err)
	}
}

// How the way to a directory is spelled makes no other directory of it.
func TestADirectoryIsTheSameHoweverItIsSpelled(t *testing.T) {
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
	variant(t, filepath.Join(dir, FilePrefix+"steady"))
	for name, spelled := range map[string]string{"as before": link, "really": dir, "with a detour": filepath.Join(dir, "..") + "/" + filepath.Base(dir)} {
		o.Dirs = []string{spelled}
		if err := try(t, o, "steady"); !errors.Is(err, ErrUntrusted) {
			t.Errorf("%s: a changed file runs: %v", name, err)
		}
	}
}

// The old form had plugins by name. Which one it means is not known when that is not where it was and has other content.
func TestAMovedAndChangedPluginOfTheOldForm(t *testing.T) {
	const old = `{"version": 1, "plugins": {"steady": {"sha256": "00", "path": %q, "info": {}, "at": "2026-01-02T03:04:05Z"}}}`
	for name, test := range map[string]struct {
		before func(t *testing.T) string // the path in the lock file
		runs   bool
	}{
		"it is not there any more":   {func(t *testing.T) string { return filepath.Join(t.TempDir(), FilePrefix+"steady") }, false},
		"where it was was not said":  {func(*testing.T) string { return "" }, false},
		"it is where it was as well": {func(t *testing.T) string { return filepath.Join(pluginDir(t, "steady"), FilePrefix+"steady") }, true},
	} {
		t.Run(name, func(t *testing.T) {
			o := remembering(t, pluginDir(t, "steady", "chatty"))
			if err := os.WriteFile(o.LockFile, fmt.Appendf(nil, old, test.before(t)), 0o600); err != nil {
				t.Fatal(err)
			}
			check := func(form string) {
				t.Helper()
				err := try(t, o, "steady")
				if test.runs && err != nil || !test.runs && (!errors.Is(err, ErrUntrusted) || !strings.Contains(err.Error(), "thresh plugins lock steady")) {
					t.Errorf("%s form: %v", form, err)
				}
			}
			check("old")
			if _, err := open(t, o).Lock(t.Context(), "chatty"); err != nil { // it is written in the new form
				t.Fatal(err)
			}
			check("new")
			if _, err := open(t, o).Lock(t.Context(), "steady"); err != nil {
				t.Fatal(err)
			}
			if err := try(t, o, "steady"); err != nil {
				t.Errorf("locked: %v", err)
			}
		})
	}
}

func TestAFirstSightOfAKnownNameIsAWarning(t *testing.T) {
	one, two := pluginDir(t, "steady", "chatty"), pluginDir(t, "steady")
	variant(t, filepath.Join(two, FilePrefix+"steady"))
	o := remembering(t, one)
	var log buffer
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

func TestWhatIsRecordedForAFile(t *testing.T) {
	known := map[string]Locked{
		"/a/thresh-strategy-x": {SHA256: "1", Path: "/a/thresh-strategy-x"},
		"/b/thresh-strategy-x": {SHA256: "2", Path: "/b/thresh-strategy-x"},
		"/b/thresh-strategy-y": {SHA256: "3", Path: "/b/thresh-strategy-y"},
		"thresh-strategy-w":    {SHA256: "4", Path: "thresh-strategy-w"},
	}
	for name, test := range map[string]struct{ path, sum, want string }{
		"as it was":                         {"/a/thresh-strategy-x", "1", "/a/thresh-strategy-x"},
		"changed":                           {"/a/thresh-strategy-x", "9", "/a/thresh-strategy-x"},
		"changed to another's of the name":  {"/a/thresh-strategy-x", "2", "/a/thresh-strategy-x"},
		"a copy":                            {"/c/thresh-strategy-x", "2", "/b/thresh-strategy-x"},
		"a copy under another name":         {"/c/thresh-strategy-z", "2", ""},
		"another one with the same name":    {"/c/thresh-strategy-x", "9", ""},
		"one of another name beside a copy": {"/c/thresh-strategy-y", "1", ""},
		"one known by its name":             {"/c/thresh-strategy-w", "4", "thresh-strategy-w"},
		"one known by its name, changed":    {"/c/thresh-strategy-w", "9", "thresh-strategy-w"},
	} {
		t.Run(name, func(t *testing.T) {
			got, ok, _ := recorded(known, test.path, test.sum)
			if diff := cmp.Diff(test.want, got.Path); diff != "" || ok != (test.want != "") {
				t.Error(ok, diff)
			}
		})
	}
}
