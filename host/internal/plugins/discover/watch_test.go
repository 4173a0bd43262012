package discover

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hashicorp/go-hclog"

	"github.com/thresh-dev/thresh/host/internal/plugins/plugintest"
)

func TestNothingElseIsWatched(t *testing.T) {
	home := t.TempDir()
	there := filepath.Join(home, "there")
	if err := os.Mkdir(there, 0o755); err != nil {
		t.Fatal(err)
	}
	w, err := newDirWatch(hclog.NewNullLogger(), []string{there, filepath.Join(home, "a", "b", "c")})
	if err != nil {
		t.Fatal(err)
	}
	defer w.close()
	watched := func(want ...string) {
		t.Helper()
		got := map[string]bool{}
		for _, dir := range w.WatchList() {
			got[dir] = true
		}
		for _, dir := range want {
			if !got[dir] {
				t.Errorf("%s is not watched", dir)
			}
		}
		if len(got) != len(want) {
			t.Errorf("watched: %v", got)
		}
	}
	watched(there, home)
	if err := os.MkdirAll(filepath.Join(home, "a", "b"), 0o755); err != nil {
		t.Fatal(err)
	}
	if !w.follow(<-w.Events) {
		t.Error("a directory on the way to one is not followed")
	}
	watched(there, home, filepath.Join(home, "a", "b"))
	if got := w.exchanged(); got {
		t.Error("nothing has happened, and something is another")
	}
}

func TestADirectoryThatCannotBeWatchedIsSaidOnce(t *testing.T) {
	if os.Geteuid() == 0 { // who may read everything
		if got := plugintest.AsNobody(t, t.Name(), nil); !strings.Contains(got, "--- PASS") {
			t.Errorf("as user nobody: %s", got)
		}
		return
	}
	closed := filepath.Join(t.TempDir(), "closed")
	if err := os.Mkdir(closed, 0); err != nil {
		t.Fatal(err)
	}
	var log plugintest.Buffer
	w, err := newDirWatch(hclog.New(&hclog.LoggerOptions{Level: hclog.Warn, Output: &log}),
		[]string{closed, filepath.Join(t.TempDir(), "open")})
	if err != nil {
		t.Fatal(err)
	}
	defer w.close()
	w.rearm()
	if n := strings.Count(log.String(), "is not watched"); n != 1 || !strings.Contains(log.String(), closed) {
		t.Errorf("said %d times: %s", n, log.String())
	}
}
