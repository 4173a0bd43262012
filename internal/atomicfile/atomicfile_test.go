package atomicfile_test

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/thresh-dev/thresh/internal/atomicfile"
)

func text(s string) func(io.Writer) error {
	return func(w io.Writer) error { _, err := io.WriteString(w, s); return err }
}

func holds(t *testing.T, path, want string) {
	t.Helper()
	if got, err := os.ReadFile(path); err != nil || string(got) != want {
		t.Errorf("%s holds %q, %v; want %q", path, got, err, want)
	}
}

func only(t *testing.T, dir string, want int) {
	t.Helper()
	if left, _ := os.ReadDir(dir); len(left) != want {
		t.Errorf("left: %v", left)
	}
}

func TestWrite(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	for _, s := range []string{"new", "newer"} {
		if err := atomicfile.Write(path, 0o600, text(s)); err != nil {
			t.Fatal(err)
		}
		holds(t, path, s)
	}
	if info, _ := os.Stat(path); info.Mode() != 0o600 {
		t.Errorf("mode %v", info.Mode())
	}
	full := errors.New("full")
	if err := atomicfile.Write(path, 0o600, func(w io.Writer) error {
		_,
			_ = io.WriteString(w, "half")
		return full
	}); !errors.Is(err, full) {
		t.Errorf("got %v", err)
	}
	holds(t, path, "newer")
	only(t, dir, 1)
}

// A file that exists keeps its mode, whatever a new one would get; a new one respects the umask. What is private is
// private afterwards, whoever could read it before.
func TestTheModeOfAFile(t *testing.T) {
	defer syscall.Umask(syscall.Umask(0o027))
	for _, tt := range []struct{ before, mode, want os.FileMode }{
		{0o600, 0o644, 0o600}, {0o664, 0o644, 0o664}, {0, 0o644, 0o640}, {0, atomicfile.Private, 0o600},
		{0o644, atomicfile.Private, 0o600},
	} {
		path := filepath.Join(t.TempDir(), "f")
		if tt.before != 0 {
			if err := errors.Join(os.WriteFile(path, nil, 0o600), os.Chmod(path, tt.before)); err != nil {
				t.Fatal(err)
			}
		}
		if err := atomicfile.Write(path, tt.mode, text("x")); err != nil {
			t.Fatal(err)
		}
		if info, err := os.Stat(path); err != nil || info.Mode() != tt.want {
			t.Errorf("%04o, written with %04o: %v, %v; want %v", tt.before, tt.mode, info.Mode(), err, tt.want)
		}
	}
}

func TestWhatRootWritesBelongsToTheOwnerOfTheDirectory(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("SKIPPED: only root can make files for others")
	}
	dir := t.TempDir()
	if err := os.Chown(dir, 65533, 65532); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "f")
	for range 2 {
		if err := atomicfile.Write(path, 0o600, text("x")); err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if s := info.Sys().(*syscall.Stat_t); s.Uid != 65533 || s.Gid != 65532 {
			t.Errorf("it belongs to %d:%d", s.Uid, s.Gid)
		}
	}
}

func TestWhatRootEditsBelongsToItsOwner(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("SKIPPED: only root can make files for others")
	}
	path := filepath.Join(t.TempDir(), "f")
	if err := errors.Join(os.WriteFile(path, nil, 0o600), os.Chown(path, 65533, 65532)); err != nil {
		t.Fatal(err)
	}
	if err := atomicfile.Write(path, 0o644, text("x")); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if s := info.Sys().(*syscall.Stat_t); s.Uid != 65533 || s.Gid != 65532 {
		t.Errorf("it belongs to %d:%d", s.Uid, s.Gid)
	}
}

func TestALinkStaysALink(t *testing.T) {
	dir := t.TempDir()
	path, link := filepath.Join(dir, "f"), filepath.Join(dir, "link")
	if err := errors.Join(os.WriteFile(path, []byte("old"), 0o600), os.Symlink("f", link)); err != nil {
		t.Fatal(err)
	}
	if err := atomicfile.Write(link, 0o600, text("new")); err != nil {
		t.Fatal(err)
	}
	holds(t, path, "new")
	if target, err := os.Readlink(link); err != nil || target != "f" {
		t.Errorf("the link leads to %q, %v", target, err)
	}
}

func TestWhatIsNoRegularFileStays(t *testing.T) {
	dir := t.TempDir()
	pipe, below := filepath.Join(dir, "pipe"), filepath.Join(dir, "file", "f")
	if err := errors.Join(syscall.Mkfifo(pipe, 0o600), os.WriteFile(filepath.Dir(below), nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{dir, pipe, below, filepath.Join(dir, "missing", "f")} {
		if err := atomicfile.Write(path, 0o600, text("x")); err == nil {
			t.Errorf("%s was written", path)
		}
		if err := atomicfile.Check(path); err == nil {
			t.Errorf("%s is said to be writable", path)
		}
	}
	if info, err := os.Stat(pipe); err != nil || info.Mode().Type() != os.ModeNamedPipe {
		t.Errorf("the pipe is %v, %v", info.Mode(), err)
	}
	only(t, dir, 2)
}

// What is no regular file, or too large, is an error at once.
func TestReadsRegularFilesOnly(t *testing.T) {
	dir := t.TempDir()
	pipe, large := filepath.Join(dir, "pipe"), filepath.Join(dir, "large")
	if err := errors.Join(syscall.Mkfifo(pipe, 0o600), os.WriteFile(large, []byte("12345"), 0o600)); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{pipe: "not a regular file", "/dev/zero": "not a regular file",
		dir: "it is a directory", large: "it is larger than 4 bytes"} {
		if _, err := atomicfile.Read(path, 4); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", path, err, want)
		}
	}
	if text, err := atomicfile.Read(large, 5); err != nil || string(text) != "12345" {
		t.Errorf("%q, %v", text, err)
	}
	binary := filepath.Join(dir, "binary")
	if err := os.WriteFile(binary, []byte("a\x00b"), 0o600); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{binary: "it is not UTF-8 text", large: "<nil>", dir: "it is a directory"} {
		if _, err := atomicfile.Text(path, 5); fmt.Sprint(err) != want {
			t.Errorf("%s: %v, want %s", path, err, want)
		}
	}
}
