package doctest

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// The reference pages name what the code has. Packages below host/internal cannot be imported here, so that their
// sources are read.

// metrics are the names of instruments in the sources.
var metrics = regexp.MustCompile(`"(thresh\.[a-z.]+)"`)

func TestEveryMetricIsDocumented(t *testing.T) {
	documented(t, "docs/production.md", "host/internal/metrics", metrics, 15)
}

// TestEveryMetricOfAnExpressionExists, under the name that Prometheus gives it, with labels that it may have.
func TestEveryMetricOfAnExpressionExists(t *testing.T) {
	exists := map[string]bool{}
	for _, m := range metrics.FindAllStringSubmatch(sources(t, "host/internal/metrics"), -1) {
		exists[strings.ReplaceAll(m[1], ".", "_")] = true
	}
	labels := map[string]bool{"le": true, "job": true, "instance": true}
	attributes, _ := os.ReadFile(filepath.Join(root, "host/internal/metrics/attributes.go"))
	_, list, _ := strings.Cut(string(attributes), "attribute.Key{")
	list, _, _ = strings.Cut(list, "}")
	for _, m := range regexp.MustCompile(`"(\w+)"`).FindAllStringSubmatch(list, -1) {
		labels[m[1]] = true
	}
	suffix := regexp.MustCompile(`(_seconds)?(_bucket|_count|_sum|_total)?$`)
	for _, file := range []string{"docs/production.md", "packaging/monitoring/alerts.yaml", "packaging/monitoring/dashboard.json"} {
		text, err := os.ReadFile(filepath.Join(root, file))
		if err != nil {
			t.Fatal(err)
		}
		names := regexp.MustCompile(`thresh_[a-z_]+`).FindAllString(string(text), -1)
		for _, name := range names {
			if !exists[name] && !exists[suffix.ReplaceAllString(name, "")] {
				t.Errorf("%s: %s is no metric", file, name)
			}
		}
		for _, m := range regexp.MustCompile(`\bby \(([a-z, ]+)\)|[{,](\w+)\\*[=!]~?\\*"`).FindAllStringSubmatch(string(text), -1) {
			for label := range strings.SplitSeq(m[1]+m[2], ", ") {
				if !labels[label] {
					t.Errorf("%s: no metric has the label %q (%s)", file, label, m[0])
				}
			}
		}
		if len(names) < 4 {
			t.Errorf("%s: only %d metrics", file, len(names))
		}
	}
}

func TestEachAlertSaysWhatToDo(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, "packaging/monitoring/alerts.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Groups []struct {
			Name  string
			Rules []struct {
				Alert, Expr, For    string
				Labels, Annotations map[string]string
			}
		}
	}
	rules := yaml.NewDecoder(bytes.NewReader(text))
	rules.KnownFields(true)
	if err := rules.Decode(&file); err != nil {
		t.Fatal(err)
	}
	for _, group := range file.Groups {
		for _, r := range group.Rules {
			summary, action := r.Annotations["summary"], r.Annotations["description"]
			if r.Expr == "" || summary == "" || action == "" || r.Labels["severity"] == "" {
				t.Errorf("%s: it needs expr, severity, summary and description", r.Alert)
			}
		}
	}
}

func TestEveryPluginStateIsDocumented(t *testing.T) {
	states := regexp.MustCompile(`State[A-Z]\w+ +PluginState += +"([a-z-]+)"`)
	documented(t, "docs/production.md", "host/outcome", states, 10)
}

func TestEveryKindOfErrorIsDocumented(t *testing.T) {
	documented(t, "docs/api.md", "internal/failure", regexp.MustCompile(`[A-Z]\w+ +Kind += +"([a-z]+)"`), 10)
}

func TestEveryFieldOfAnOutcomeIsDocumented(t *testing.T) {
	documented(t, "docs/api.md", "host/outcome", regexp.MustCompile("`json:\"(\\w+)"), 50)
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
