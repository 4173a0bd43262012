package main_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/thresh-dev/thresh/internal/testkit/repo"
)

// TestTheClientsOfOtherLanguages runs the tests that they have, in their languages, with servers of this program.
func TestTheClientsOfOtherLanguages(t *testing.T) {
	t.Parallel()
	for program, args := range map[string][]string{
		"python3": {"-m", "unittest", "discover", "-s", repo.Path(t, "clients/python/tests")},
		"node":    {"--test", repo.Path(t, "clients/typescript/test")},
	} {
		t.Run(program, func(t *testing.T) {
			t.Parallel()
			if _, err := exec.LookPath(program); err != nil {
				t.Skipf("SKIPPED: %s is not installed, so its client is not tested", program)
			}
			cmd := exec.Command(program, args...)
			cmd.Env = append(os.Environ(), "PYTHONDONTWRITEBYTECODE=1", "THRESH="+filepath.Join(bin, "thresh"))
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}
