package rundir

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/thresh-dev/thresh/host/internal/plugins/plugintest"
)

func TestRunDirectoriesInUseAreLeftAlone(t *testing.T) {
	base := plugintest.ShortTemp(t)
	first, err := New(base)
	if err != nil {
		t.Fatal(err)
	}
	foreign := filepath.Join(base, prefix+"other")
	if err := os.Mkdir(foreign, 0o700); err != nil {
		t.Fatal(err)
	}
	second, err := New(base)
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{first.Path, second.Path, foreign} {
		if _, err := os.Stat(path); err != nil {
			t.Error(err)
		}
	}
	if err := errors.Join(first.Remove(), second.Remove()); err != nil {
		t.Error(err)
	}
	if left, _ := os.ReadDir(base); len(left) != 1 {
		t.Errorf("left: %v", left)
	}
}

// Hosts that are killed at the wrong moment leave directories without a lock.
func TestWhatKilledHostsDidNotFinishGoes(t *testing.T) {
	base := plugintest.ShortTemp(t)
	for name, hour := range map[string]int{"probe": 1, "locking": 1, "full": 1, "young": 0} {
		dir := filepath.Join(base, prefix+name)
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if file := map[string]string{"locking": inUse + ".new", "full": "a file of its own"}[name]; file != "" {
			plugintest.Write(t, dir, file, "", 0o600)
		}
		then := time.Now().Add(-time.Duration(hour) * time.Hour)
		if err := os.Chtimes(dir, then, then); err != nil {
			t.Fatal(err)
		}
	}
	sweep(base)
	left, err := filepath.Glob(filepath.Join(base, "*"))
	if err != nil {
		t.Fatal(err)
	}
	for i := range left {
		left[i] = strings.TrimPrefix(filepath.Base(left[i]), prefix)
	}
	if diff := cmp.Diff([]string{"full", "young"}, left); diff != "" {
		t.Error(diff)
	}
}
