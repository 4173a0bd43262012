package doctest

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestTheScoresOfTheFrontPageAreThoseOfTheirTable: an experiment has one table, and what is said of it elsewhere is in
// that.
func TestTheScoresOfTheFrontPageAreThoseOfTheirTable(t *testing.T) {
	found := func(page, pattern string) string {
		text, err := os.ReadFile(filepath.Join(root, page))
		if err != nil {
			t.Fatal(err)
		}
		m := regexp.MustCompile(pattern).FindStringSubmatch(strings.Join(strings.Fields(string(text)), " "))
		if m == nil {
			t.Fatalf("%s does not say %s", page, pattern)
		}
		return strings.Join(m[1:], ", ")
	}
	const page = "docs/economics.md"
	said := found("README.md", `on (\d+) questions about deep cuts it scored ([\d.]+), and ([\d.]+) without`)
	measured := found(page, `(\d+) questions right after the deepest compressions`) + ", " +
		found(page, `\| distill \| ([\d.]+) \|`) + ", " + found(page, `\| distill, without the tool \| ([\d.]+) \|`)
	if said != measured {
		t.Errorf("README.md says %s, and the table of %s %s", said, page, measured)
	}
}
