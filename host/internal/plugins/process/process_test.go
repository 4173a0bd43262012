package process

import (
	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/go-hclog"

	"github.com/thresh-dev/thresh/host/internal/plugins/discover"
	"github.com/thresh-dev/thresh/host/internal/plugins/plugintest"

	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// What is run is what was opened and hashed, though another file has its name by now.
func TestTheOpenedFileIsRun(t *testing.T) {
	for kind, text := range map[string]string{"script": "#!/bin/sh\necho original\n", "program": ""} {
		t.Run(kind, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, discover.FilePrefix+"swapped")
			if kind == "script" {
				plugintest.Write(t, dir, discover.FilePrefix+"swapped", text, 0o755)
			} else {
				plugintest.Install(t, "/bin/echo", path)
			}
			spawner, err := NewSpawner(plugintest.ShortTemp(t))
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = spawner.Close() })
			b, err := discover.Open(discover.Candidate{Name: "swapped", Path: path}, &discover.Hashes{}, nil)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(b.Close)
			impostor := plugintest.Write(t, t.TempDir(), "impostor", "#!/bin/sh\necho impostor; exit 9\n", 0o755)
			if err := os.Rename(impostor, path); err != nil {
				t.Fatal(err)
			}
			c := newChild(b, Sandbox{}, hclog.NewNullLogger(), spawner)
			c.prepare(nil, dir)
			if err := c.Start(t.Context()); err != nil {
				t.Fatal(err)
			}
			<-c.exit.done
			if c.exit.state != "exit status 0" {
				t.Errorf("it ended with %s%s", c.exit.state, c.handshake.printed())
			}
		})
	}
}

func TestRunDirectoriesInUseAreLeftAlone(t *testing.T) {
	base := plugintest.ShortTemp(t)
	first, err := newRunDir(base)
	if err != nil {
		t.Fatal(err)
	}
	foreign := filepath.Join(base, runDirPrefix+"other")
	if err := os.Mkdir(foreign, 0o700); err != nil {
		t.Fatal(err)
	}
	second, err := newRunDir(base)
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{first.path, second.path, foreign} {
		if _, err := os.Stat(path); err != nil {
			t.Error(err)
		}
	}
	if err := errors.Join(first.remove(), second.remove()); err != nil {
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
		dir := filepath.Join(base, runDirPrefix+name)
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if file := map[string]string{"locking": hostLock + ".new", "full": "a file of its own"}[name]; file != "" {
			plugintest.Write(t, dir, file, "", 0o600)
		}
		then := time.Now().Add(-time.Duration(hour) * time.Hour)
		if err := os.Chtimes(dir, then, then); err != nil {
			t.Fatal(err)
		}
	}
	sweepRunDirs(base)
	left, err := filepath.Glob(filepath.Join(base, "*"))
	if err != nil {
		t.Fatal(err)
	}
	for i := range left {
		left[i] = strings.TrimPrefix(filepath.Base(left[i]), runDirPrefix)
	}
	if diff := cmp.Diff([]string{"full", "young"}, left); diff != "" {
		t.Error(diff)
	}
}
