package plugins

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/thresh-dev/thresh/host/internal/plugins/plugintest"
	"github.com/thresh-dev/thresh/internal/testkit/race"
)

// runs reports whether the process that takes the strategy's calls was started from the directory.
func runs(t *testing.T, s *Strategy, dir string) func() bool {
	t.Helper()
	return func() bool {
		p, err := s.Acquire(t.Context())
		if err != nil {
			return false // the file is about to be replaced
		}
		defer p.Release()
		return filepath.Dir(p.Plugin().Binary().Path) == dir
	}
}

func TestADirectoryThatComesLaterIsWatchedFromThenOn(t *testing.T) {
	t.Parallel()
	home, shipped := t.TempDir(), pluginDir(t, "steady")
	later := filepath.Join(home, "share", "thresh", "plugins")
	o := reloading(later)
	o.Dirs = append(o.Dirs, shipped)
	s := strategy(t, open(t, o), "steady")
	if !runs(t, s, shipped)() {
		t.Fatal("it does not run from the directory that exists")
	}

	if err := os.MkdirAll(later, 0o755); err != nil {
		t.Fatal(err)
	}
	installOther(t, filepath.Join(later, FilePrefix+"steady"))
	plugintest.Eventually(t, "the one in the new directory runs", runs(t, s, later))

	first := pid(t, s)
	plugintest.Variant(t, filepath.Join(later, FilePrefix+"steady"))
	plugintest.Eventually(t, "a new version of it runs", func() bool { return pid(t, s) != first })

	if err := os.RemoveAll(filepath.Join(home, "share")); err != nil {
		t.Fatal(err)
	}
	plugintest.Eventually(t, "the one that was there before runs", runs(t, s, shipped))

	if err := os.Rename(filled(t, later), filepath.Join(home, "share")); err != nil {
		t.Fatal(err)
	}
	plugintest.Eventually(t, "the one in the directory that came back runs", runs(t, s, later))
}

// filled makes a directory next to later's grandparent that holds what is to come under it, to be put there in one
// step.
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

// installOther installs a plugin that is not the one in pluginDir, byte for byte: the same would not be started for
// its place.
func installOther(t *testing.T, path string) {
	t.Helper()
	plugintest.InstallVariant(t, faulty, path, "other")
}

// tree makes a directory "plugins" in dir, with a plugin that differs from other trees'.
func tree(t *testing.T, dir string) {
	t.Helper()
	plugins := filepath.Join(dir, "plugins")
	if err := os.MkdirAll(plugins, 0o755); err != nil {
		t.Fatal(err)
	}
	plugintest.InstallVariant(t, faulty, filepath.Join(plugins, FilePrefix+"steady"), dir)
}

// rename puts what is at one path at another.
func rename(t *testing.T, from, to string) {
	t.Helper()
	if err := os.Rename(from, to); err != nil {
		t.Fatal(err)
	}
}

// relink puts a symbolic link in the place of what is at path, in one step.
func relink(t *testing.T, path, to string) {
	t.Helper()
	if err := os.Symlink(to, path+".new"); err != nil {
		t.Fatal(err)
	}
	rename(t, path+".new", path)
}

// A deployment does not change files: it puts another directory in the place of one.
func TestADirectoryThatIsExchangedIsNoticed(t *testing.T) {
	t.Parallel()
	trees := [2]string{"v1", "v2"}
	for name, test := range map[string]struct {
		dir      string // below the root
		trees    [2]string
		exchange func(t *testing.T, root string)
		late     bool // it is only noticed when it is looked for
	}{
		"a link to it": {"current", trees, func(t *testing.T,
			root string) {
			relink(t, filepath.Join(root, "current"), "v2/plugins")
		}, false},
		"a link on the way": {"way/plugins", trees, func(t *testing.T,
			root string) {
			relink(t, filepath.Join(root, "way"), "v2")
		}, false},
		"the one above": {"v1/plugins", trees, func(t *testing.T, root string) {
			rename(t, filepath.Join(root, "v1"), filepath.Join(root, "old"))
			rename(t, filepath.Join(root, "v2"), filepath.Join(root, "v1"))
		}, false},
		"one further up": {"up/v1/plugins", [2]string{"up/v1", "next/v1"}, func(t *testing.T, root string) {
			rename(t, filepath.Join(root, "up"), filepath.Join(root, "old"))
			rename(t, filepath.Join(root, "next"), filepath.Join(root, "up"))
		}, true},
	} {
		t.Run(name, func(t *testing.T) {
			if name == "a link to it" || name == "one further up" { // the others show what is concurrent
				race.Skip(t)
			}
			root := t.TempDir()
			for _, dir := range test.trees {
				tree(t, filepath.Join(root, dir))
			}
			relink(t, filepath.Join(root, "current"), "v1/plugins")
			relink(t, filepath.Join(root, "way"), "v1")

			m := open(t, reloading(filepath.Join(root, test.dir)))
			tick := make(chan time.Time)
			m.ticks = func(time.Duration) (<-chan time.Time, func()) { return tick, func() {} }
			s := strategy(t, m, "steady")
			first := pid(t, s)
			test.exchange(t, root)
			if test.late {
				tick <- time.Now()
			}
			plugintest.Eventually(t, "the present one runs", func() bool { return pid(t, s) != first })
		})
	}
}
