package doctest

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The reference pages name what the code has. Packages below host/internal cannot be imported here, so that their
// sources are read.

// metrics are the names of instruments in the sources.
var metrics = regexp.MustCompile(`"(thresh\.[a-z.]+)"`)

func TestEveryMetricIsDocumented(t *testing.T) {
	documented(t, "docs/production.md", "host/internal/metrics", metrics, 15)
}

// TestEveryMetricOfAnExpressionExists, under the name that Prometheus gives it.
func TestEveryMetricOfAnExpressionExists(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, "docs/production.md"))
	if err != nil {
		t.Fatal(err)
	}
	exists := map[string]bool{}
	for _, m := range metrics.FindAllStringSubmatch(sources(t, "host/internal/metrics"), -1) {
		exists[strings.ReplaceAll(m[1], ".", "_")] = true
	}
	suffix := regexp.MustCompile(`(_seconds)?(_bucket|_count|_sum|_total)?$`)
	for _, name := range regexp.MustCompile(`thresh_[a-z_]+`).FindAllString(string(text), -1) {
		if !exists[name] && !exists[suffix.ReplaceAllString(name, "")] {
			t.Errorf("docs/production.md: %s is no metric", name)
		}
	}
}

func TestEveryPluginStateIsDocumented(t *testing.T) {
	states := regexp.MustCompile(`State[A-Z]\w+ +State += +"([a-z-]+)"`)
	documented(t, "docs/production.md", "host/internal/plugins", states, 10)
}

func TestEveryKindOfErrorIsDocumented(t *testing.T) {
	documented(t, "docs/json-rpc.md", "host/errors.go", regexp.MustCompile(`Kind[A-Z]\w+ +Kind += +"([a-z]+)"`), 10)
}

func TestEveryFieldOfAnOutcomeIsDocumented(t *testing.T) {
	documented(t, "docs/json-rpc.md", "host/outcome", regexp.MustCompile("`json:\"(\\w+)"), 50)
}

// TestEveryMethodIsDocumented asks the host for its methods.
func TestEveryMethodIsDocumented(t *testing.T) {
	documented(t, "docs/json-rpc.md", "host/internal/service/methods.go",
		regexp.MustCompile(`Name: +"([a-zA-Z.]+)"`), 16)
}

// documented fails the test for each name in the sources of a directory, or in one file, that a page does not have in
// code style. least is how many names there must be: if there are fewer, the pattern does not fit the sources any more.
func documented(t *testing.T, page, dir string, pattern *regexp.Regexp, least int) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, page))
	if err != nil {
		t.Fatal(err)
	}
	var inCode strings.Builder
	for _, line := range strings.Split(string(text), "\n") {
		for _, m := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(line, -1) {
			inCode.WriteString(" " + m[1])
		}
		if heading, ok := strings.CutPrefix(line, "### "); ok {
			inCode.WriteString(" " + heading)
		}
	}
	inCode.WriteString(" ")
	names := map[string]bool{}
	for _, m := range pattern.FindAllStringSubmatch(sources(t, dir), -1) {
		names[m[1]] = true
	}
	if len(names) < least {
		t.Errorf("only %d names in %s match %s", len(names), dir, pattern)
	}
	for name := range names {
		if !regexp.MustCompile(`[ .]` + regexp.QuoteMeta(name) + `[ .]`).MatchString(inCode.String()) {
			t.Errorf("%s: no `%s` (%s)", page, name, dir)
		}
	}
}
