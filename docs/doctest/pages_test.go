package doctest

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/thresh-dev/thresh/internal/testkit/pages"
)

// TestCommands runs the commands of every page but those for authors, each page in a checkout of its own.
func TestCommands(t *testing.T) {
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skipf("SKIPPED: the commands of the documentation are not run: %v", err)
	}
	for _, page := range all(t) {
		if name := filepath.Base(page.Path); name == "writing-a-strategy.md" || name == "strategies-in-depth.md" {
			continue // in docs/guidetest
		}
		t.Run(strings.TrimPrefix(filepath.ToSlash(page.Path), root+"/"), func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
			defer cancel()
			result, err := page.Run(ctx, shell(t))
			if err != nil {
				t.Fatal(err)
			}
			if *update {
				if err := result.Update(); err != nil {
					t.Fatal(err)
				}
			}
			for _, problem := range result.Problems {
				t.Error(problem + "\n('make docs' writes what is printed into the page)")
			}
		})
	}
}

// shell is a shell in a checkout that was built: thresh is found by its name, and the home directory is empty.
func shell(t *testing.T) pages.Shell {
	t.Helper()
	dir, err := os.MkdirTemp("", "d") // short: sockets are made below it
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	home, checkout := filepath.Join(dir, "home"), filepath.Join(dir, "home", "thresh")
	for _, sub := range []string{checkout, filepath.Join(dir, "tmp")} {
		if err := os.MkdirAll(sub, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{
		"clients", "examples", "host", "internal", "plugins", "proto", "sdk", "go.mod", "go.sum",
	} {
		path, err := filepath.Abs(filepath.Join(root, name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(path, filepath.Join(checkout, name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(bin, filepath.Join(checkout, "bin")); err != nil {
		t.Fatal(err)
	}
	caches, err := exec.CommandContext(t.Context(), "go", "env", "GOCACHE", "GOMODCACHE").Output()
	if err != nil {
		t.Fatal(err)
	}
	cache, modules, _ := strings.Cut(strings.TrimSpace(string(caches)), "\n")
	return pages.Shell{
		Dir: checkout,
		Env: []string{
			"HOME=" + home, "TMPDIR=" + filepath.Join(dir, "tmp"), "PATH=" + bin + ":" + os.Getenv("PATH"),
			"LANG=C.UTF-8", "GOCACHE=" + cache, "GOMODCACHE=" + modules, "GOFLAGS=" + os.Getenv("GOFLAGS"),
		},
		Hide: [][2]string{{bin, "~/thresh/bin"}, {home, "~"}},
	}
}

// all are the pages of the repository, but those that no reader of thresh's documentation meets.
func all(t *testing.T) []*pages.Page {
	t.Helper()
	var found []*pages.Page
	for _, pattern := range []string{"*.md", "docs/*.md", "proto/*.md", "examples/*.md", "examples/*/*.md"} {
		paths, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range paths {
			page, err := pages.Read(path)
			if err != nil {
				t.Fatal(err)
			}
			found = append(found, page)
		}
	}
	if len(found) < 10 {
		t.Fatalf("only %d pages were found", len(found))
	}
	return found
}
