package binaries_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/internal/testkit/binaries"
)

func TestStrategies(t *testing.T) {
	dir := t.TempDir()
	if err := binaries.Strategies(dir, "top-down-truncation"); err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(dir, "thresh-strategy-top-down-truncation")
	out, err := exec.Command(program, "--describe").CombinedOutput()
	if err != nil || !strings.Contains(string(out), `"top-down-truncation"`) {
		t.Errorf("%v: %s", err, out)
	}
	before, err := binaries.Build("plugins/cmd/thresh-strategy-top-down-truncation")
	if err != nil {
		t.Fatal(err)
	}
	first, _ := os.Stat(before[0])
	if _, err := binaries.Build("plugins/cmd/thresh-strategy-top-down-truncation"); err != nil {
		t.Fatal(err)
	}
	if second, err := os.Stat(before[0]); err != nil || !os.SameFile(first, second) {
		t.Error("a program that is up to date was linked again")
	}
	if err := binaries.Strategies(dir, "no-such"); err == nil {
		t.Error("an unknown strategy was built")
	}
}
