package guidetest

import (
	"context"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/thresh-dev/thresh/internal/testkit/pages"
)

var update = flag.Bool("update", false, "write what is printed into the page, where it differs")

// unreachableProxy are signs that the go tool could not get at its module proxy.
var unreachableProxy = regexp.MustCompile(`dial tcp|no such host|connection refused|i/o timeout`)

// TestTheGuideForAuthors runs every command of docs/writing-a-strategy.md in an empty directory, then those of
// docs/strategies-in-depth.md in the module that it made.
func TestTheGuideForAuthors(t *testing.T) {
	t.Parallel()
	for _, tool := range []string{"bash", "sha256sum"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("SKIPPED: the guide's commands are not run: %v", err)
		}
	}
	const targets = "linux/amd64 linux/arm64 darwin/arm64"
	changed := false
	here := func(command string) string {
		// Building for other systems means compiling everything for them, which takes minutes and shows nothing.
		changed = changed || strings.Contains(command, targets)
		return strings.Replace(command, targets, runtime.GOOS+"/"+runtime.GOARCH, 1)
	}
	p := newPlace(t)
	goEnv, err := exec.Command("go", "env", "GOPATH", "GOCACHE").Output()
	if err != nil {
		t.Fatal(err)
	}
	caches := strings.Fields(string(goEnv))
	checkout, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	for _, page := range []struct{ name, dir string }{
		{"writing-a-strategy.md", ""}, {"strategies-in-depth.md", "keep-last"},
	} {
		guide, err := pages.Read(filepath.Join(root, "docs", page.name))
		if err != nil {
			t.Fatal(err)
		}
		result, err := guide.Run(ctx, pages.Shell{
			Dir: filepath.Join(p.path("work"), page.dir),
			Env: append(os.Environ(), "THRESH="+checkout, "PATH="+bin+":"+os.Getenv("PATH"), "HOME="+p.path("home"),
				"XDG_DATA_HOME=", "XDG_CONFIG_HOME=", "XDG_STATE_HOME=", "TMPDIR="+p.path("tmp"),
				"GOPATH="+caches[0], "GOCACHE="+caches[1], "GOWORK=off"),
			Hide:   [][2]string{{p.path("work"), "~"}},
			Change: here,
		})
		if err != nil {
			t.Fatal(err)
		}
		if len(result.Problems) > 0 && unreachableProxy.MatchString(result.Output) {
			t.Skipf("SKIPPED: the guide's commands need a module proxy:\n%.2000s", result.Output)
		}
		if *update {
			if err := result.Update(); err != nil {
				t.Fatal(err)
			}
		}
		for _, problem := range result.Problems {
			t.Error(problem)
		}
	}
	if !changed {
		t.Errorf("the guide does not build for %q any more", targets)
	}
}
