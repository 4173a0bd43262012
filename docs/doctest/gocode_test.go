package doctest

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// packages are those that a fragment may use, by the name under which it does.
var packages = map[string]string{
	"context": "context", "errors": "errors", "log": "log", "os": "os", "slog": "log/slog",
	"host":   "github.com/thresh-dev/thresh/host",
	"config": "github.com/thresh-dev/thresh/host/config",
	"sdk":    "github.com/thresh-dev/thresh/sdk", "content": "github.com/thresh-dev/thresh/sdk/content",
}

// TestGoCompiles vets the Go code of all pages. A block that is no whole program is the inside of a function that
// returns an error, with the parameters of [wholeProgram].
func TestGoCompiles(t *testing.T) {
	for _, page := range all(t) {
		for _, b := range page.Blocks {
			if b.Language != "go" || b.NotRun != "" {
				continue
			}
			t.Run(filepath.Base(page.Path), func(t *testing.T) {
				t.Parallel()
				file := filepath.Join(t.TempDir(), "main.go")
				if err := os.WriteFile(file, []byte(wholeProgram(b.Text)), 0o644); err != nil {
					t.Fatal(err)
				}
				ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
				defer cancel()
				vet := exec.CommandContext(ctx, "go", "vet", file)
				vet.Dir = root
				if out, err := vet.CombinedOutput(); err != nil {
					t.Errorf("%s:%d: %v\n%s", page.Path, b.From+1, err, out)
				}
			})
		}
	}
}

// wholeProgram completes a fragment.
func wholeProgram(code string) string {
	if strings.Contains(code, "package ") {
		return code
	}
	last := "nil"
	if strings.Contains(code, "err") {
		last = "err"
	}
	var b strings.Builder
	b.WriteString("package main\n\nimport (\n")
	for name, path := range packages {
		if name == "context" || name == "host" || name != "content" && strings.Contains(code, name+".") {
			b.WriteString("\t\"" + path + "\"\n")
		}
	}
	b.WriteString(")\n\nfunc main() { _ = example }\n\n")
	b.WriteString("func send([]content.Content) {}\n\n")
	b.WriteString("func example(ctx context.Context, entry content.Content) error {\n")
	b.WriteString(code + "\nreturn " + last + "\n}\n")
	return strings.Replace(b.String(), "import (\n", "import (\n\t\"github.com/thresh-dev/thresh/sdk/content\"\n", 1)
}
