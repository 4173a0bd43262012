package keep

import (
	"fmt"
	"strings"
	"testing"
)

func TestPatterns(t *testing.T) {
	for _, tt := range []struct{ pattern, names, not string }{
		{"CLAUDE.md", "/r/CLAUDE.md /r/a/CLAUDE.md", "/r/MY-CLAUDE.md /r/CLAUDE.md/x /r/claude.md"},
		{"path:CLAUDE.md", "/r/CLAUDE.md", "/r/README.md"},
		{"docs/schema.sql", "/r/docs/schema.sql", "/r/schema.sql /r/mydocs/schema.sql"},
		{"./docs/schema.sql", "/r/docs/schema.sql", "/r/schema.sql"},
		{"/r/plan.md", "/r/plan.md", "/x/r/plan.md"},
		{"**/schema.sql", "/schema.sql /r/a/b/schema.sql", "/r/my-schema.sql"},
		{"*.sql", "/r/a.sql /r/b/.sql", "/r/a.sql.bak"},
		{"docs/*.sql", "/r/docs/a.sql", "/r/docs/b/a.sql"},
		{"docs/**", "/r/docs/a.sql /r/docs/b/c.md", "/r/doc/a.sql"},
		{"/r/**/a.md", "/r/a.md /r/b/c/a.md", "/x/r/a.md"},
		{"a*b*.md", "/r/ab.md /r/a.md/axbx.md", "/r/a.md /r/ab.mdx"},
		{"plan?.md", "/r/plan?.md", "/r/plan1.md"},
		{"app/[id]/p*.tsx", "/r/app/[id]/page.tsx", "/r/app/i/page.tsx"},
		{`a\b*`, `/r/a\bc`, "/r/abc"},
	} {
		r, err := Compile([]string{tt.pattern})
		if err != nil {
			t.Error(err)
			continue
		}
		for p := range strings.FieldsSeq(tt.names) {
			if r.path(p) != tt.pattern {
				t.Errorf("%q does not name %s", tt.pattern, p)
			}
		}
		for p := range strings.FieldsSeq(tt.not) {
			if r.path(p) != "" {
				t.Errorf("%q names %s", tt.pattern, p)
			}
		}
	}
	r, err := Compile([]string{"tool:TodoWrite", "tool:mcp__db__*", "text:never push"})
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"TodoWrite": "tool:TodoWrite", "todowrite": "",
		"mcp__db__schema": "tool:mcp__db__*", "mcp__dbx": ""} {
		if got := r.tool(name); got != want {
			t.Errorf("tool %s: %q", name, got)
		}
	}
	if r, err = Compile([]string{"tool:**"}); err != nil || r.tool("a") == "" {
		t.Errorf("tool:** names no tool: %v", err)
	}
	if r, err = Compile([]string{"text:never push"}); err != nil {
		t.Fatal(err)
	}
	if r.words("please never push to main") == "" || r.words("Never push") != "" {
		t.Error("words are not found as they are written")
	}
}

func TestAWrongPatternIsNamedWithItsReason(t *testing.T) {
	for pattern, want := range map[string]string{
		"":                       "is empty",
		"tool:":                  "is empty",
		"text: ":                 "is empty",
		"docs/":                  "is a directory: docs/** names the files below it",
		"tols:Read":              "did you mean tool:Read?",
		"regexp:.*":              "write path:regexp:.*",
		"a\nb":                   "one line",
		"a\x00b":                 "one line",
		"\xff":                   "one line",
		"**/a*/**/b*/*.md":       "has more than 4 wildcards",
		strings.Repeat("a", 201): "has 201 bytes, more than 200",
	} {
		if err := Check(pattern); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", pattern, err)
		}
	}
	for _, pattern := range []string{"C:/a.md", "path:a:b.md", "text:a:b", "a, b", "*", "**"} {
		if err := Check(pattern); err != nil {
			t.Errorf("%q: %v", pattern, err)
		}
	}
}

func FuzzCompile(f *testing.F) {
	f.Add("docs/**/*.sql", "/docs/a.sql")
	f.Add("tool:a*b?[c", "abc")
	f.Fuzz(func(t *testing.T, pattern, p string) {
		r, err := Compile([]string{pattern})
		if err != nil {
			return
		}
		if name := r.path(p) + r.tool(p) + r.words(p); name != "" && name != pattern {
			t.Errorf("%q became %q", pattern, name)
		}
	})
}

// A path that is built against patterns takes time in proportion to its length.
func BenchmarkHostilePath(b *testing.B) {
	for name, tt := range map[string]struct{ pattern, part string }{
		"short parts": {"**/a*/**/a*b", "a"},
		"long parts":  {"*" + strings.Repeat("a", 190) + "b*", strings.Repeat("a", 255)},
	} {
		patterns := make([]string, MaxPatterns)
		for i := range patterns {
			patterns[i] = tt.pattern
		}
		r, err := Compile(patterns)
		if err != nil {
			b.Fatal(err)
		}
		for _, n := range []int{2000, 4000} {
			p := strings.Repeat("/"+tt.part, n/(len(tt.part)+1))
			b.Run(fmt.Sprint(name, "/", n), func(b *testing.B) {
				for b.Loop() {
					r.path(p)
				}
			})
		}
	}
}
