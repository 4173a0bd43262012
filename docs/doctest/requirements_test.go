package doctest

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestTheRequirementsAreWhole holds docs/requirements.md: every requirement has its row, the code and the test of a row
// exist, and so does the row that a comment names.
func TestTheRequirementsAreWhole(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, "docs/requirements.md"))
	if err != nil {
		t.Fatal(err)
	}
	row := regexp.MustCompile("(?m)^\\| (\\d{3})\\.(\\d+) \\| [^|]+ \\| `([^`]+)` \\| `([^`]+)` \\|$")
	rows := map[string]int{} // by group
	for _, m := range row.FindAllStringSubmatch(string(text), -1) {
		group, id := m[1], m[1]+"."+m[2]
		if rows[group]++; m[2] != strconv.Itoa(rows[group]) {
			t.Errorf("%s follows %s.%d", id, group, rows[group]-1)
		}
		if !exists(t, m[3], false) {
			t.Errorf("%s: there is no %s", id, m[3])
		}
		if !exists(t, m[4], true) {
			t.Errorf("%s: there is no test %s", id, m[4])
		}
	}
	if diff := cmp.Diff(map[string]int{"001": 10, "002": 10, "003": 6, "004": 4, "005": 11, "006": 5, "007": 6, "008": 6,
		"009": 6, "010": 5, "011": 4, "012": 3, "013": 7}, rows); diff != "" {
		t.Errorf("rows of each group (-want +got):\n%s", diff)
	}
	cited := regexp.MustCompile(`REQ-HD-(\d{3}\.\d+)`)
	for _, dir := range goDirectories(t) {
		for _, file := range goFiles(t, dir) {
			source, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range cited.FindAllStringSubmatch(string(source), -1) {
				if !strings.Contains(string(text), "\n| "+m[1]+" |") {
					t.Errorf("%s: there is no %s", file, m[0])
				}
			}
		}
	}
	if lines := strings.Count(string(text), "\n| 0"); lines != 83 {
		t.Errorf("%d rows, of which some are not as the others are", lines)
	}
}

// exists reports whether a package, given by its directory, declares a name: a function, method, type, constant or
// variable, or a test. A name without a package is a file.
func exists(t *testing.T, name string, test bool) bool {
	t.Helper()
	dir, base := path.Split(name)
	pkg, symbol, _ := strings.Cut(base, ".")
	files := goFiles(t, path.Join(dir, pkg))
	if len(files) == 0 {
		_, err := os.Stat(filepath.Join(root, name))
		return err == nil && !test
	}
	declared := regexp.MustCompile(`(?m)^(func (\([^)]*\) )?|type |var |const |\t)` + symbol + `\b`)
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") != test {
			continue
		}
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if declared.Match(source) {
			return true
		}
	}
	return false
}

func goFiles(t *testing.T, dir string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(root, dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	return files
}
