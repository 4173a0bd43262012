package discover

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/thresh-dev/thresh/host/internal/plugins/plugintest"
)

func TestDiscover(t *testing.T) {
	root := t.TempDir()
	first, second := filepath.Join(root, "first"), filepath.Join(root, "second")
	for _, dir := range []string{first, second, filepath.Join(first, FilePrefix+"folder"),
		filepath.Join(first, "sub")} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	const script = "#!/bin/sh\n"
	plugintest.Write(t, first, FilePrefix+"good", script, 0o755)
	plugintest.Write(t, first, FilePrefix+"broken", script, 0o644)
	plugintest.Write(t, first, FilePrefix+"empty", "", 0o755)
	plugintest.Write(t, first, FilePrefix+"text", "hello", 0o755)
	plugintest.Write(t, first, FilePrefix+"good.new", script, 0o755)
	huge := plugintest.Write(t, first, FilePrefix+"huge", "\x7fELF", 0o755)
	if err := errors.Join(os.Truncate(huge, 50<<30), // sparse
		syscall.Mkfifo(filepath.Join(first, FilePrefix+"pipe"), 0o755),
		os.Symlink("/dev/zero", filepath.Join(first, FilePrefix+"zero"))); err != nil {
		t.Fatal(err)
	}
	plugintest.Write(t, first, FilePrefix+"Upper", script, 0o755)
	plugintest.Write(t, first, "README.md", "", 0o644)
	plugintest.Write(t, filepath.Join(first, "sub"), FilePrefix+"deep", script, 0o755)
	plugintest.Write(t, second, FilePrefix+"good", script, 0o755)
	plugintest.Write(t, second, FilePrefix+"broken", script, 0o755)
	for link, target := range map[string]string{"linked": filepath.Join(first, FilePrefix+"good"),
		"dangling": "nothing"} {
		if err := os.Symlink(target, filepath.Join(second, FilePrefix+link)); err != nil {
			t.Fatal(err)
		}
	}
	file, again := plugintest.Write(t, root, "file", "", 0o644), filepath.Join(root, "again")
	if err := os.Symlink(first, again); err != nil {
		t.Fatal(err)
	}

	got := Scan([]string{first, second, first, again, filepath.Join(root, "none"), file}, nil)
	wantDirs := []Directory{
		{Path: first, Plugins: 1, Ignored: 2},
		{Path: second, Plugins: 2},
		{Path: filepath.Join(root, "none"), Problem: "no such file or directory"},
		{Path: file, Problem: "not a directory"},
	}
	if diff := cmp.Diff(wantDirs, got.Dirs); diff != "" {
		t.Error(diff)
	}
	f := func(dir, name, problem, shadowedBy string) Candidate {
		return Candidate{Name: name, Path: filepath.Join(dir, FilePrefix+name), Problem: problem,
			ShadowedBy: shadowedBy}
	}
	badName := func(name string) string {
		return `has no valid strategy name ("` + name + `" must be lower-case letters, digits and single hyphens)`
	}
	want := []Candidate{
		f(first, "Upper", badName("Upper"), ""),
		f(first, "broken", "is not executable (chmod +x)", ""),
		f(first, "empty", "is empty", ""),
		f(first, "folder", "is a directory", ""),
		f(first, "good", "", ""),
		f(first, "good.new", badName("good.new"), ""),
		f(first, "huge", "is too large for a plugin (53687091200 bytes, at most 1073741824)", ""),
		f(first, "pipe", "is not a regular file", ""),
		f(first, "text", "is neither a program nor a script that begins with #!", ""),
		f(first, "zero", "is not a regular file", ""),
		f(second, "broken", "", ""), // the broken one in the first directory does not hide it
		f(second, "dangling", "is a symbolic link to nothing", ""),
		f(second, "good", "", filepath.Join(first, FilePrefix+"good")),
		f(second, "linked", "", ""),
	}
	if diff := cmp.Diff(want, got.Candidates); diff != "" {
		t.Error(diff)
	}
	// Opened without a scan, they are refused as well, before they are read.
	for _, name := range []string{"huge", "pipe", "zero"} {
		if _, err := Open(Candidate{Path: filepath.Join(first, FilePrefix+name)}, &Hashes{}); err == nil {
			t.Errorf("%s was opened", name)
		}
	}
}

func TestAnUnreadableDirectoryIsReported(t *testing.T) {
	if os.Geteuid() == 0 { // who may read everything
		if got := plugintest.AsNobody(t, t.Name(), nil); !strings.Contains(got, "--- PASS") {
			t.Errorf("as user nobody: %s", got)
		}
		return
	}
	dir := t.TempDir()
	if err := os.Chmod(dir, 0); err != nil {
		t.Fatal(err)
	}
	if got := Scan([]string{dir}, nil).Dirs[0].Problem; !strings.Contains(got, "permission denied") {
		t.Errorf("got %q", got)
	}
}
