package full_test

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/internal/testkit/repo"
)

// Of each package whose tests have more cases in a full run, 'make test-slow' names a test.
func TestFullRunsAreRun(t *testing.T) {
	makefile, err := os.ReadFile(repo.Path(t, "Makefile"))
	if err != nil {
		t.Fatal(err)
	}
	_, names, _ := strings.Cut(string(makefile), "\nTHOROUGH :=")
	names, _, _ = strings.Cut(names, "\nspace")
	named := regexp.MustCompile(`func Test(` + strings.Join(strings.Fields(strings.ReplaceAll(names, "\\", "")), "|") + `)`)
	tests := map[string][]byte{} // of each directory
	if err := filepath.WalkDir(repo.Path(t), func(path string, _ os.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		tests[filepath.Dir(path)] = append(tests[filepath.Dir(path)], text...)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	delete(tests, repo.Path(t, "internal", "testkit", "full"))
	packages := 0
	for dir, text := range tests {
		if bytes.Contains(text, []byte("full.Run()")) || bytes.Contains(text, []byte("full.Or(")) {
			if packages++; !named.Match(text) {
				t.Errorf("'make test-slow' runs no test of %s: name one under THOROUGH in Makefile", dir)
			}
		}
	}
	if packages == 0 {
		t.Error("no test has more cases in a full run")
	}
}
