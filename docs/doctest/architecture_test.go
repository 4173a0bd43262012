package doctest

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/internal/testkit/pages"
)

// TestTheArchitectureIsCurrent holds ARCHITECTURE.md to the tree: every room is there, and every function of a turn.
func TestTheArchitectureIsCurrent(t *testing.T) {
	page, err := pages.Read(filepath.Join(root, "ARCHITECTURE.md"))
	if err != nil {
		t.Fatal(err)
	}
	rooms := 0
	roomLine := regexp.MustCompile(`^ {0,4}([a-z0-9/]+)  `) // lines that are indented further are headings
	for line := range strings.SplitSeq(page.Blocks[0].Text, "\n") {
		if room := roomLine.FindStringSubmatch(line); room != nil {
			rooms++
			if info, err := os.Stat(filepath.Join(root, room[1])); err != nil || !info.IsDir() {
				t.Errorf("%s: there is no room %s", page.Path, room[1])
			}
		}
	}
	functions := 0
	step := regexp.MustCompile("^\\|[^|]*\\| `([a-z/]+)` \\| (`.*`) \\|$")
	for _, line := range page.Lines {
		m := step.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		source := sources(t, m[1])
		for _, name := range strings.Split(m[2], ", ") {
			functions++
			if !regexp.MustCompile(`(?m)^func (\([^)]*\) )?` + strings.Trim(name, "`") + `[(\[]`).MatchString(source) {
				t.Errorf("%s: %s has no function %s", page.Path, m[1], name)
			}
		}
	}
	if rooms < 25 || functions < 15 {
		t.Errorf("only %d rooms and %d functions were found in %s", rooms, functions, page.Path)
	}
}

// sources are the sources below a directory of the checkout, without tests.
func sources(t *testing.T, dir string) string {
	t.Helper()
	var all strings.Builder
	err := filepath.WalkDir(filepath.Join(root, dir), func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		all.Write(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all.String()
}
