package rundir

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/host/internal/plugins/plugintest"
)

// A plugin that takes the rights away from its directories leaves nothing behind, and what its links lead to stays.
func TestADirectoryIsRemovedWhateverItsModes(t *testing.T) {
	if os.Geteuid() == 0 { // modes do not hold root back
		out := plugintest.AsNobody(t, t.Name(), nil)
		if strings.Contains(out, "--- FAIL") {
			t.Error(out)
		}
	}
	outside := filepath.Join(t.TempDir(), "outside")
	if err := os.Mkdir(outside, 0o500); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "plugin-dir")
	if err := os.MkdirAll(filepath.Join(dir, "a", "b", "c"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "a", "b", "c", "file"), nil, 0); err != nil {
		t.Fatal(err)
	}
	for _, link := range []string{"link", "a/link", "a/b/link"} {
		if err := os.Symlink(outside, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	for _, closed := range []string{"a/b/c", "a/b", "a", "."} {
		if err := os.Chmod(filepath.Join(dir, closed), 0); err != nil {
			t.Fatal(err)
		}
	}
	if err := RemoveAll(dir); err != nil {
		t.Error(err)
	}
	if _, err := os.Lstat(dir); !os.IsNotExist(err) {
		t.Errorf("it is still there: %v", err)
	}
	if info, err := os.Stat(outside); err != nil || info.Mode().Perm() != 0o500 {
		t.Errorf("what a link leads to was changed: %v, %v", info, err)
	}
}
