package doctest

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/thresh-dev/thresh/host/config"
	"github.com/thresh-dev/thresh/internal/testkit/pages"
)

func TestTheREADMEIsShort(t *testing.T) {
	for _, page := range all(t) {
		if page.Path == filepath.Join(root, "README.md") && len(page.Lines) > 180 {
			t.Errorf("%d lines, at most 180: move something to docs/", len(page.Lines))
		}
	}
}

// TestThePagesAreShort holds all pages together to what a person reads in an afternoon. Code, the bars of tables, the
// growing changelog and the index of requirements do not count.
func TestThePagesAreShort(t *testing.T) {
	words := 0
	for _, page := range all(t) {
		for i, line := range page.Lines {
			if !inBlock(page, i) && !slices.Contains([]string{"CHANGELOG.md", "requirements.md"}, filepath.Base(page.Path)) {
				words += len(strings.Fields(strings.ReplaceAll(line, "|", " ")))
			}
		}
	}
	if words > 24_500 {
		t.Errorf("%d words, at most 24,500: say each thing on one page, and in fewer words", words)
	}
}

// Lines of tables and of blocks cannot be broken, so that only the rest is held to the limit.
func TestLinesFitThePage(t *testing.T) {
	for _, page := range all(t) {
		for i, line := range page.Lines {
			if n := utf8.RuneCountInString(line); n > 120 && !inBlock(page, i) && !strings.HasPrefix(line, "|") {
				t.Errorf("%s:%d: %d columns, at most 120", page.Path, i+1, n)
			}
		}
	}
}

// inBlock reports whether a line, counted from 0, is in a fenced block.
func inBlock(page *pages.Page, line int) bool {
	return slices.ContainsFunc(page.Blocks, func(b pages.Block) bool { return line >= b.From && line < b.To })
}

// TestOutputFitsATerminal holds what the README shows to 80 columns, the width of a terminal and of a table that is
// piped.
func TestOutputFitsATerminal(t *testing.T) {
	for _, page := range all(t) {
		for _, b := range page.Blocks {
			if page.Path != filepath.Join(root, "README.md") || b.Language != "console" {
				continue
			}
			for i := b.From; i < b.To; i++ {
				if n := utf8.RuneCountInString(page.Lines[i]); n > 80 {
					t.Errorf("%s:%d: %d columns, at most 80", page.Path, i+1, n)
				}
			}
		}
	}
}

// TestJSONAndYAML loads what people copy: JSON must be valid, and settings must be settings.
func TestJSONAndYAML(t *testing.T) {
	for _, page := range all(t) {
		for _, b := range page.Blocks {
			switch {
			case b.NotRun != "":
			case b.Language == "json" && !json.Valid([]byte(b.Text)):
				t.Errorf("%s:%d: not JSON", page.Path, b.From+1)
			case b.Language == "yaml":
				file := filepath.Join(t.TempDir(), "thresh.yaml")
				if err := os.WriteFile(file, []byte(b.Text), 0o644); err != nil {
					t.Fatal(err)
				}
				o := config.Options{WorkDir: t.TempDir(), Env: []string{}, ConfigFile: file}
				if _, err := config.Load(o); err != nil {
					t.Errorf("%s:%d: %v", page.Path, b.From+1, err)
				}
			}
		}
	}
}

var (
	link    = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	heading = regexp.MustCompile("^#+ (.*)$")
	notSlug = regexp.MustCompile(`[^\p{L}\p{N} _-]`)
)

// TestLinksLeadSomewhere follows the links within the repository, anchors included.
func TestLinksLeadSomewhere(t *testing.T) {
	anchors := map[string]map[string]bool{}
	for _, page := range all(t) {
		anchors[page.Path] = map[string]bool{}
		for _, line := range page.Lines {
			if m := heading.FindStringSubmatch(line); m != nil {
				slug := strings.ReplaceAll(notSlug.ReplaceAllString(strings.ToLower(m[1]), ""), " ", "-")
				anchors[page.Path][slug] = true
			}
		}
	}
	for _, page := range all(t) {
		for i, line := range page.Lines {
			if inBlock(page, i) {
				continue
			}
			for _, m := range link.FindAllStringSubmatch(line, -1) {
				target, anchor, _ := strings.Cut(m[1], "#")
				if strings.Contains(target, "://") {
					continue
				}
				path := page.Path
				if target != "" {
					path = filepath.Join(filepath.Dir(page.Path), filepath.FromSlash(target))
				}
				if _, err := os.Stat(path); err != nil {
					t.Errorf("%s:%d: %s leads nowhere", page.Path, i+1, m[1])
				} else if anchor != "" && !anchors[path][anchor] {
					t.Errorf("%s:%d: %s: no such heading", page.Path, i+1, m[1])
				}
			}
		}
	}
}
