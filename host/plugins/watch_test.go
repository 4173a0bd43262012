package plugins

import (
	"os"
	"path/filepath"
	"testing"
)

// runs reports whether the process that takes the strategy's calls was started from the directory.
func runs(t *testing.T, s *Strategy, dir string) func() bool {
	t.Helper()
	return func() bool {
		p, err := s.acquire(t.Context())
		if err != nil {
			return false // the file is about to be replaced
		}
		defer p.release()
		return filepath.Dir(p.path) == dir
	}
}

func TestADirectoryThatComesLaterIsWatchedFromThenOn(t *testing.T) {
	home, shipped := t.TempDir(), pluginDir(t, "steady")
	later := filepath.Join(home, "share", "thresh", "plugins")
	o := reloading(later)
	o.Dirs = append(o.Dirs, shipped)
	s := strategy(t, open(t, o), "steady")
	if !runs(t, s, shipped)() {
		t.Fatal("it does not run from the directory that is there")
	}

	if err := os.MkdirAll(later, 0o755); err != nil {
		t.Fatal(err)
	}
	installOther(t, filepath.Join(later, FilePrefix+"steady"))
	eventually(t, "the one in the new directory runs", runs(t, s, later))

	first := pid(t, s)
	variant(t, filepath.Join(later, FilePrefix+"steady"))
	eventually(t, "a new version of it runs", func() bool { return pid(t, s) != first })

	if err := os.RemoveAll(filepath.Join(home, "share")); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the one that was there before runs", runs(t, s, shipped))

	if err := os.Rename(filled(t, later), filepath.Join(home, "share")); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the one in the directory that came back runs", runs(t, s, later))
}

// filled makes a directory beside later's grandparent that holds what is to come under it, to be put there in one step.
func filled(t *testing.T, later string) string {
	t.Helper()
	coming := filepath.Join(filepath.Dir(filepath.Dir(filepath.Dir(later))), "coming")
	dir := filepath.Join(coming, "thresh", "plugins")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	installOther(t, filepath.Join(dir, FilePrefix+"steady"))
	return coming
}

// installOther installs a plugin that is not the one in pluginDir, byte for byte: the same would not be started for its place.
func installOther(t *testing.T, path string) {
	t.Helper()
	install(t, faulty, path)
	variant(t, path)
}

func TestNothingElseIsWatched(t *testing.T) {
	home := t.TempDir()
	there := filepath.Join(home, "there")
	if err := os.Mkdir(there, 0o755); err != nil {
		t.Fatal(err)
	}
	w, err := newDirWatch(New(Options{}).opts.Logger, []string{there, filepath.Join(home, "a", "b", "c")})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
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
	watched(there, filepath.Join(home, "a", "b"))
}
