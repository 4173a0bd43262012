package doctest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// written holds a part of a page to what it is made from, or writes it. Comments in the page mark the part by its name.
func written(t *testing.T, page, part, source, current string) {
	t.Helper()
	begin := "<!-- " + part + ": written by 'make docs' from " + source + " -->\n"
	end := "<!-- end of " + part + " -->"
	path := filepath.Join(root, page)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(text), begin)
	old, after, closed := strings.Cut(rest, end)
	if !ok || !closed {
		t.Fatalf("%s: no %s … %s", page, begin, end)
	}
	if *update {
		if err := os.WriteFile(path, []byte(before+begin+current+end+after), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(strings.Split(current, "\n"), strings.Split(old, "\n")); diff != "" {
		t.Errorf("%s: not what %s says ('make docs' writes it):\n%s", page, source, diff)
	}
}
