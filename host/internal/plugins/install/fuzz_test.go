package install

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/internal/testkit/releases"
)

// Whatever a file of checksums has in it, what is read of it are archives with plugins, each once.
func FuzzSums(f *testing.F) {
	f.Add(strings.Repeat("a", 64) + "  " + releases.Name("keep-last", "1.2.0") + "\n")
	f.Add(strings.Repeat("0", 64) + " *x\r\n\n")
	f.Fuzz(func(t *testing.T, text string) {
		assets, err := parseSums(text)
		seen := map[string]bool{}
		for _, a := range assets {
			if err != nil || seen[a.file] || len(a.sum) != 64 || filepath.Base(a.file) != a.file || !validVersion(a.version) {
				t.Errorf("%+v, %v", a, err)
			}
			seen[a.file] = true
		}
	})
}

// Whatever an archive or a bundle has in it, nothing is written but the program, or files within the directory.
func FuzzArchives(f *testing.F) {
	f.Add(releases.TarGz(f, releases.Entry{Name: "../" + keep, Content: "x"}))
	f.Add(releases.TarGz(f, releases.Entry{Name: keep, Content: "x"}))
	f.Fuzz(func(t *testing.T, content []byte) {
		dir := t.TempDir()
		inner := filepath.Join(dir, "a", "b")
		if err := os.MkdirAll(inner, 0o700); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"x.tar.gz", "x.zip", "x.tar"} {
			if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		for _, name := range []string{"x.tar.gz", "x.zip"} {
			target := filepath.Join(inner, name)
			if err := unpack(filepath.Join(dir, name), "keep-last", target, 1<<20); err == nil && os.Remove(target) != nil {
				t.Errorf("%s: nothing was written", name)
			}
			_ = os.Remove(target)
		}
		if left, err := os.ReadDir(inner); err != nil || len(left) > 0 {
			t.Errorf("written: %v, %v", left, err)
		}
		_, _ = readBundle(t.Context(), filepath.Join(dir, "x.tar"), inner, 1<<20)
		for _, dir := range []string{dir, filepath.Dir(inner)} {
			if all, _ := os.ReadDir(dir); len(all) != 4 && len(all) != 1 {
				t.Errorf("written: %v", all)
			}
		}
	})
}
