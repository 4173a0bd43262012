package trust

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What others can write to locks nothing; a sticky directory keeps them from replacing a file that is there.
func TestALockFileThatOthersCanWriteTo(t *testing.T) {
	for name, test := range map[string]struct {
		dir, file os.FileMode
		says      string
	}{
		"private":                   {0o700, 0o600, ""},
		"readable":                  {0o755, 0o644, ""},
		"directory of everybody":    {0o777, 0o600, "the directory of the lock file"},
		"directory like /tmp":       {0o777 | os.ModeSticky, 0o600, ""},
		"file of everybody":         {0o700, 0o666, "chmod o-w"},
		"file of everybody in /tmp": {0o777 | os.ModeSticky, 0o666, "chmod o-w"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "state")
			l := lockFile{path: filepath.Join(dir, "plugins.lock"), guard: newGuard()}
			if err := l.change(func(p map[string]Entry) { p["/p"] = Entry{SHA256: "x", Info: []byte("{}")} }); err != nil {
				t.Fatal(err)
			}
			for path, mode := range map[string]os.FileMode{dir: test.dir, l.path: test.file} {
				if err := os.Chmod(path, mode); err != nil {
					t.Fatal(err)
				}
			}
			entries, err := l.read()
			if test.says == "" && (err != nil || len(entries) != 1) {
				t.Errorf("got %v, %v", entries, err)
			}
			if test.says != "" && (err == nil || !strings.Contains(err.Error(), test.says)) {
				t.Errorf("got %v, want %q", err, test.says)
			}
			if err := l.change(func(map[string]Entry) {}); (err != nil) != (test.says != "") {
				t.Errorf("a change: %v", err)
			}
		})
	}
}

// A lock file that could not be read again is not written: the one that is there stays.
func TestALockFileIsNeverWrittenTooLarge(t *testing.T) {
	l := lockFile{path: filepath.Join(t.TempDir(), "plugins.lock")}
	if err := l.change(func(p map[string]Entry) { p["/p"] = Entry{SHA256: "x", Info: []byte("{}")} }); err != nil {
		t.Fatal(err)
	}
	huge := []byte(`"` + strings.Repeat("x", maxLockFile) + `"`)
	err := l.change(func(p map[string]Entry) { p["/q"] = Entry{SHA256: "y", Info: huge} })
	if err == nil || !strings.Contains(err.Error(), "at most 67108864 are read") {
		t.Errorf("got %v", err)
	}
	if entries, err := l.read(); err != nil || len(entries) != 1 {
		t.Errorf("then it holds %d entries, %v", len(entries), err)
	}
}

func TestALockFileOfAnotherUserIsNotRead(t *testing.T) {
	l := lockFile{path: filepath.Join(t.TempDir(), "plugins.lock"), guard: newGuard()}
	if err := l.change(func(p map[string]Entry) { p["/p"] = Entry{SHA256: "x", Info: []byte("{}")} }); err != nil {
		t.Fatal(err)
	}
	if os.Geteuid() != 0 {
		l.guard.user++
	} else if err := os.Chown(l.path, 4321, -1); err != nil { // root's files are anybody's
		t.Fatal(err)
	}
	if _, err := l.read(); err == nil || !strings.Contains(err.Error(), "belongs to user") {
		t.Errorf("got %v", err)
	}
}
