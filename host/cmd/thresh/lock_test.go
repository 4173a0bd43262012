package main_test

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// pluginFile is the path of a plugin of the place.
func (p *place) pluginFile(name string) string {
	return filepath.Join(p.plugins, "thresh-strategy-"+name)
}

// sum is the SHA-256 of a file.
func sum(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	s := sha256.Sum256(text)
	return hex.EncodeToString(s[:])
}

// change makes a plugin's file another that does the same, put into its place as people do it.
func (p *place) change(name string) {
	p.t.Helper()
	path := p.pluginFile(name)
	text, err := os.ReadFile(path)
	if err != nil {
		p.t.Fatal(err)
	}
	coming := p.path("coming")
	if err := os.WriteFile(coming, append(text, "another version"...), 0o755); err != nil {
		p.t.Fatal(err)
	}
	if err := os.Rename(coming, path); err != nil {
		p.t.Fatal(err)
	}
}

func TestLockPrintsWhatItLocked(t *testing.T) {
	t.Parallel()
	p := newPlaceHere(t, "steady")
	if r := p.run("plugins", "lock", "--plugin-dir", t.TempDir()).done(t); !strings.Contains(r.stderr, "nothing to lock") {
		t.Errorf("without a plugin: %s", r.stderr)
	}
	p.install("high-density")
	line := func(name string) string {
		return sum(t, p.pluginFile(name)) + "  " + name + "  " + p.pluginFile(name) + "\n"
	}
	where := "thresh: written to " + p.path("home", ".local", "state", "thresh", "plugins.lock") + "\n"
	r := p.run("plugins", "lock").done(t)
	if diff := cmp.Diff(line("high-density")+line("steady"), r.stdout); diff != "" || r.stderr != where {
		t.Errorf("%s%s", diff, r.stderr)
	}
	if r := p.run("plugins", "lock", "high-density").done(t); r.stdout != line("high-density") {
		t.Errorf("one: %s", r.stdout)
	}

	type locked struct {
		SHA256, Path string
		Info         struct{ Version, Trigger string }
	}
	got := decode[map[string]locked](t, p.run("plugins", "lock", "-o", "json", "high-density"))
	want := map[string]locked{"high-density": {SHA256: sum(t, p.pluginFile("high-density")),
		Path: p.pluginFile("high-density")}}
	info := got["high-density"].Info
	if info.Trigger != "continuous" || info.Version == "" {
		t.Errorf("it says of itself: %+v", info)
	}
	entry := want["high-density"]
	entry.Info = info
	want["high-density"] = entry
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestAChangedPluginIsRefusedUntilItIsLocked(t *testing.T) {
	t.Parallel()
	p := newPlaceHere(t)
	p.install("high-density")
	p.file("s.json", pruning)
	optimize := []string{"plugins", "try", "--step=optimize", "--strategy", "high-density", "s.json"}
	p.run(optimize...).done(t)
	p.change("high-density")
	refused := p.run(append(optimize, "--log-level", "error")...)
	refused.failed(t, 1, "not trusted", "the file has changed", sum(t, p.pluginFile("high-density")),
		"thresh plugins lock high-density")
	p.run("plugins", "lock", "high-density").done(t)
	p.run(optimize...).done(t)
}

func TestLockSaysWhatItCouldNotLock(t *testing.T) {
	t.Parallel()
	p := newPlaceHere(t, "exits-at-start")
	p.install("high-density")
	for _, output := range []string{"text", "json"} {
		r := p.run("plugins", "lock", "-o", output)
		if r.code != 1 || !strings.Contains(r.stdout, sum(t, p.pluginFile("high-density"))) ||
			strings.Contains(r.stdout, "exits-at-start") ||
			!strings.Contains(r.stderr, "exits-at-start") || !strings.Contains(r.stderr, "cannot find my licence") {
			t.Errorf("%s: exit status %d:\n%s%s", output, r.code, r.stdout, r.stderr)
		}
	}
	p.run("plugins", "lock", "nobody", "--log-level", "error").failed(t, 1, `unknown strategy "nobody"`, "high-density")
	p.run("plugins", "lock", "high-density", "--set", "plugins.lockFile=").failed(t, 1, "plugins.lockFile")
	p.run("plugins", "lock", "distill").failed(t, 1, "distill is built in")
}
