package doctest

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/internal/testkit/pages"
)

// TestTheArchitectureIsCurrent holds ARCHITECTURE.md to the tree: every room that it lists exists, every package is in
// a room that it lists, and so is every function of a turn.
func TestTheArchitectureIsCurrent(t *testing.T) {
	page, err := pages.Read(filepath.Join(root, "ARCHITECTURE.md"))
	if err != nil {
		t.Fatal(err)
	}
	rooms := map[string]bool{}
	roomLine := regexp.MustCompile(`^ {0,4}([a-z0-9/]+)  `) // lines that are indented further are headings
	for line := range strings.SplitSeq(page.Blocks[0].Text, "\n") {
		if room := roomLine.FindStringSubmatch(line); room != nil {
			rooms[room[1]] = true
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
	if len(rooms) < 25 || functions < 15 {
		t.Errorf("only %d rooms and %d functions were found in %s", len(rooms), functions, page.Path)
	}
	for _, dir := range goDirectories(t) {
		if !inRoom(rooms, dir) {
			t.Errorf("%s: the package %s is in none of the rooms", page.Path, dir)
		}
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

// inRoom reports whether a package is a room or below one. Being below host or sdk is not enough: both are rooms
// themselves.
func inRoom(rooms map[string]bool, dir string) bool {
	for ; dir != "." && dir != "host" && dir != "sdk"; dir = filepath.ToSlash(filepath.Dir(dir)) {
		if rooms[dir] {
			return true
		}
	}
	return rooms[dir]
}

// goDirectories are the directories of the checkout with Go sources, without those that hold material for tests.
func goDirectories(t *testing.T) []string {
	t.Helper()
	found := map[string]bool{}
	err := filepath.WalkDir(root, func(path string, entry os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := entry.Name()
		hidden := strings.HasPrefix(name, ".") && path != root
		if entry.IsDir() && (hidden || name == "testdata" || name == "node_modules") {
			return filepath.SkipDir
		}
		if dir, err := filepath.Rel(root, filepath.Dir(path)); err == nil && strings.HasSuffix(path, ".go") {
			found[filepath.ToSlash(dir)] = true
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return slices.Sorted(maps.Keys(found))
}
