package install

import (
	"context"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/thresh-dev/thresh/host/config"
	"github.com/thresh-dev/thresh/host/internal/plugins/discover"
	"github.com/thresh-dev/thresh/host/internal/plugins/trust"
	"github.com/thresh-dev/thresh/internal/testkit/binaries"
	"github.com/thresh-dev/thresh/internal/testkit/releases"
	"github.com/thresh-dev/thresh/internal/testkit/repo"
)

// trustedIn returns why a host with the settings would not start the plugin.
func trustedIn(set config.Plugins, name string) error {
	p := trust.New(trust.Locked, set.LockFile, nil)
	found := discover.Scan(set.Dirs, p.Guard())
	c, ok := found.Find(name)
	if !ok {
		return found.Unknown(name)
	}
	b, err := discover.Open(c, new(discover.Hashes))
	if err != nil {
		return err
	}
	defer b.Close()
	_, err = p.Judge(b)
	return err
}

func TestInstallUpgradeAndBack(t *testing.T) {
	t.Parallel()
	acme, s := releases.NewPublisher(t), newShop(t)
	h := newHome(t, s)
	archives := func(version, words string) map[string][]byte {
		return map[string][]byte{releases.Name("keep-last", version): releases.Archive(t, "keep-last", version, words),
			"thresh-strategy-keep-last_" + version + "_plan9_mips.tar.gz": []byte("plan 9"), "keep-last-src.tar.gz": nil}
	}
	one, two, next := archives("1.2.0", "network model"), archives("1.3.0", ""), archives("2.0.0", "")
	s.publish("v1.2.0", acme.Release(one))
	r := h.done("keep-last 1.2.0 installed", Wanted{Source: ofACME + "@^1.1"})
	if !r.NewKey || r.Key != acme.Key || !r.NeedsNetwork || !r.RequiresLLM || r.Trigger != "threshold" ||
		r.Description != "does nothing" || !slices.Contains(r.Platforms, "plan9/mips") || len(r.Platforms) != 2 {
		t.Errorf("%+v", r)
	}
	h.is("1.2.0")
	h.done("keep-last 1.2.0 unchanged", Wanted{Source: ofACME + "@^1.1"})

	s.publish("v1.3.0", acme.Release(two))
	s.publish("v2.0.0", acme.Release(next))
	in := h.installer()
	all, err := in.Installed()
	if err != nil {
		t.Fatal(err)
	}
	in.Newest(t.Context(), all)
	want := []Newer{{Name: "keep-last", Version: "1.2.0", Wanted: "^1.1", Newest: "1.3.0", Source: ofACME}}
	if diff := cmp.Diff(want, all); diff != "" || !all[0].Outdated() {
		t.Error(diff)
	}
	r = h.done("keep-last 1.3.0 upgraded", Wanted{Source: all[0].Source, Name: "keep-last", Version: all[0].Wanted})
	if r.Before != "1.2.0" || r.NewKey {
		t.Errorf("%+v", r)
	}
	h.done("keep-last 2.0.0 upgraded", Wanted{Source: ofACME})
	h.done("keep-last 1.2.0 downgraded", Wanted{Source: ofACME + "@1.2.0"})
	h.is("1.2.0")

	// A changed file is put back.
	if err := os.WriteFile(filepath.Join(h.set.Dirs[0], keep), []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	h.done("keep-last 1.2.0 replaced", Wanted{Source: ofACME + "@1.2.0"})
	h.is("1.2.0")

	if _, err := h.installer().Remove(t.Context(), "keep-last"); err != nil {
		t.Fatal(err)
	}
	if left := h.files(); len(left) > 0 || h.entry("keep-last").SHA256 != "" {
		t.Errorf("left: %v, %+v", left, h.entry("keep-last"))
	}
	if _, err := h.installer().Remove(t.Context(), "keep-last"); err == nil {
		t.Error("it was removed twice")
	}
}

// A directory of a web server, one of this machine, one archive and a program are read the same way.
func TestSources(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	one, two := releases.Name("keep-last", "1.2.0"), releases.Name("keep-more", "0.3.1")
	files := releases.Publisher{}.Release(map[string][]byte{one: releases.Archive(t, "keep-last", "1.2.0", ""), two: releases.Archive(t, "keep-more", "0.3.1", ""),
		releases.Name("keep-last", "1.1.0"): nil})
	files["SHA256SUMS"] = files["checksums.txt"]
	delete(files, "checksums.txt")
	s.put("/strategies/", files)
	dir := t.TempDir()
	files[keep] = releases.Program(t, "0.1.0")
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	const both = "keep-last 1.2.0 installed, keep-more 0.3.1 installed"
	for source, want := range map[string]string{
		s.URL + "/strategies/":       both,
		s.URL + "/strategies/@1.2.0": justOne,
		s.URL + "/strategies/" + one: justOne,
		dir:                          both,
		filepath.Join(dir, one):      justOne,
		filepath.Join(dir, keep):     "keep-last 0.1.0 installed",
	} {
		h := newHome(t, s)
		h.done(want, Wanted{Source: source})
		if err := h.trusted("keep-last"); err != nil {
			t.Errorf("%s: %v", source, err)
		}
	}
	lone := t.TempDir() // an archive that came by mail
	if err := os.WriteFile(filepath.Join(lone, one), files[one], 0o600); err != nil {
		t.Fatal(err)
	}
	newHome(t, nil).done(justOne, Wanted{Source: filepath.Join(lone, one)})
}

func TestSourcesThatAreNone(t *testing.T) {
	t.Parallel()
	h := newHome(t, newShop(t))
	for source, want := range map[string]string{
		"github.com/acme":               "is no repository: want github.com/OWNER/REPO",
		"github.com/acme/../etc":        "is no repository",
		"github.com/acme/keep-last@new": `"new" is no version`,
		"http://example.com/x/":         "want https://",
		"ftp://example.com/x/":          "want https://",
		"https://me:pw@example.com/x/":  "without credentials",
		"nowhere":                       "no such file",
		"..":                            "there is no checksums.txt",
	} {
		if _, err := h.install(Wanted{Source: source}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", source, err, want)
		} else if strings.Contains(err.Error(), "pw") {
			t.Errorf("a password is shown: %v", err)
		}
	}
}

// What a person put into the directory is theirs.
func TestFilesOfOthersAreLeft(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.publish("v1.2.0", releases.Publisher{}.Release(map[string][]byte{releases.Name("keep-last", "1.2.0"): releases.Archive(t, "keep-last", "1.2.0", "")}))
	h := newHome(t, s)
	if err := os.MkdirAll(h.set.Dirs[0], 0o755); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(h.set.Dirs[0], keep)
	if err := os.WriteFile(path, releases.Program(t, "0.9.0"), 0o755); err != nil {
		t.Fatal(err)
	}
	const want = "is there, and was not installed by thresh"
	if _, err := h.install(Wanted{Source: ofACME}); err == nil || !strings.Contains(err.Error(), want) {
		t.Error(err)
	}
	if _, err := h.installer().Remove(t.Context(), "keep-last"); err == nil || !strings.Contains(err.Error(), want) {
		t.Error(err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("elsewhere", path); err != nil {
		t.Fatal(err)
	}
	if _, err := h.install(Wanted{Source: ofACME}); err == nil || !strings.Contains(err.Error(), want) {
		t.Error(err)
	}
}

// The key in the settings counts before any other; a new one is accepted where a person names it.
func TestKeys(t *testing.T) {
	t.Parallel()
	acme, other, s := releases.NewPublisher(t), releases.NewPublisher(t), newShop(t)
	archive := map[string][]byte{releases.Name("keep-last", "1.2.0"): releases.Archive(t, "keep-last", "1.2.0", "")}
	s.publish("v1.2.0", acme.Release(archive))
	h := newHome(t, s)
	h.set.Required = map[string]config.Required{"keep-last": {Source: ofACME, Key: other.Key}}
	for _, key := range []string{"", acme.Key} {
		if _, err := h.install(Wanted{Source: ofACME, Key: key}); err == nil || !strings.Contains(err.Error(), "NOT signed with the key "+other.Key) {
			t.Error(err)
		}
	}
	h.set.Required = nil
	h.done("keep-last 1.2.0 installed", Wanted{Source: ofACME, Key: acme.Key})
	s.publish("v1.2.0", other.Release(archive))
	if _, err := h.install(Wanted{Source: ofACME}); err == nil || !strings.Contains(err.Error(), "NOT signed with the key "+acme.Key) {
		t.Error(err)
	}
	if r := h.done("keep-last 1.2.0 unchanged", Wanted{Source: ofACME, Key: other.Key}); !r.NewKey || h.entry("keep-last").Origin.Key != other.Key {
		t.Errorf("%+v", r)
	}
	// A program by itself cannot be signed.
	path := filepath.Join(t.TempDir(), keep)
	if err := os.WriteFile(path, releases.Program(t, "9.0.0"), 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := h.install(Wanted{Source: path}); err == nil || !strings.Contains(err.Error(), "is not signed, and must be with the key "+other.Key) {
		t.Error(err)
	}
}

// A header for the registry reaches the registry alone.
func TestAHeaderForTheRegistry(t *testing.T) {
	t.Parallel()
	s, elsewhere := newShop(t), newShop(t)
	name := releases.Name("keep-last", "1.2.0")
	files := releases.Publisher{}.Release(map[string][]byte{name: releases.Archive(t, "keep-last", "1.2.0", "")})
	s.publish("v1.2.0", files)
	elsewhere.put("/", files)
	s.faults["/acme/keep-last/releases/download/v1.2.0/"+name] = func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, elsewhere.URL+"/"+name, http.StatusFound)
	}
	h := newHome(t, s)
	h.set.RegistryHeader = "REGISTRY"
	o := h.set
	if _, err := New(Options{Plugins: o, LookupEnv: func(string) (string, bool) { return "", false }}); err == nil ||
		!strings.Contains(err.Error(), "the environment has no REGISTRY") {
		t.Error(err)
	}
	h.env["REGISTRY"] = "X-Key: secret"
	h.done(justOne, Wanted{Source: ofACME + "@^1.2"})
	for _, r := range s.asked {
		if r.Header.Get("X-Key") != "secret" {
			t.Errorf("%s came without it", r.URL)
		}
	}
	if len(elsewhere.asked) != 1 || elsewhere.asked[0].Header.Get("X-Key") != "" {
		t.Errorf("elsewhere: %+v", elsewhere.asked)
	}
	if len(s.asked) == 0 || s.asked[0].URL.Path != "/api/v3/repos/acme/keep-last/releases" {
		t.Errorf("asked: %+v", s.asked)
	}
}

// A machine without a network installs what another has bundled, and agrees with the same settings.
func TestBundle(t *testing.T) {
	t.Parallel()
	acme, s := releases.NewPublisher(t), newShop(t)
	name, foreign := releases.Name("keep-last", "1.2.0"), "thresh-strategy-keep-last_1.2.0_plan9_mips.tar.gz"
	s.publish("v1.2.0", acme.Release(map[string][]byte{name: releases.Archive(t, "keep-last", "1.2.0", ""), foreign: []byte("plan 9")}))
	s.put("/more/", releases.Publisher{}.Release(map[string][]byte{releases.Name("keep-more", "0.3.1"): releases.Archive(t, "keep-more", "0.3.1", ""),
		releases.Name("keep-less", "0.3.1"): nil}))
	with := newHome(t, s)
	with.set.Required = map[string]config.Required{"keep-last": {Source: ofACME, Version: "^1.2", Key: acme.Key},
		"keep-more": {Source: s.URL + "/more/"}}
	path := filepath.Join(with.dir, "plugins.tar")
	in := with.installer()
	names, err := in.Bundle(t.Context(), path, in.Needed())
	if diff := cmp.Diff([]string{name, foreign, releases.Name("keep-more", "0.3.1")}, names); diff != "" || err != nil {
		t.Fatal(err, diff)
	}
	without := newHome(t, nil)
	without.set.Required = with.set.Required
	without.done("keep-last 1.2.0 installed, keep-more 0.3.1 installed", Wanted{Source: path})
	if err := Lacking(without.set); err != nil {
		t.Error(err)
	}
	// What is in it is checked as from its source.
	changed := mustRead(t, path)
	changed[len(changed)/4] ^= 1 // in the first archive
	if err := os.WriteFile(path, changed, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := newHome(t, nil).install(Wanted{Source: path}); err == nil || !strings.Contains(err.Error(), "is wrong") {
		t.Error(err)
	}
}

func mustRead(t *testing.T, path string) []byte {
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

// Each way in which a directory does not agree with plugins.required has its line.
func TestLacking(t *testing.T) {
	t.Parallel()
	acme, s := releases.NewPublisher(t), newShop(t)
	archives := map[string][]byte{}
	for _, name := range []string{"fine", "moved", "old", "signed", "changed"} {
		archives[releases.Name(name, "1.2.0")] = releases.Archive(t, name, "1.2.0", "")
	}
	s.put("/all/", acme.Release(archives))
	h := newHome(t, s)
	if err := Lacking(h.set); err != nil {
		t.Error(err)
	}
	if _, err := h.install(Wanted{Source: s.URL + "/all/"}); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"changed", "own"} {
		if err := os.WriteFile(filepath.Join(h.set.Dirs[0], "thresh-strategy-"+name), releases.Program(t, "1.2.0 changed"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	from := s.URL + "/all/"
	h.set.Required = map[string]config.Required{
		"fine": {Source: from, Version: "^1.1", Key: acme.Key}, "moved": {Source: ofACME}, "old": {Source: from, Version: "^1.3"},
		"signed": {Source: from, Key: releases.NewPublisher(t).Key}, "changed": {Source: from}, "own": {Source: from},
		"missing": {Source: from}, "unclear": {Source: "keep-last"},
	}
	err := Lacking(h.set)
	if err == nil {
		t.Fatal("they agree")
	}
	got := strings.NewReplacer(s.URL, "https://SHOP", h.set.Dirs[0], "DIR", acme.Key, "KEY", h.set.Required["signed"].Key, "OTHER").Replace(err.Error())
	want := `plugins.required.changed: DIR/thresh-strategy-changed has changed since it was installed
plugins.required.missing: it is not installed
plugins.required.moved: it is from https://SHOP/all/, and is wanted from github.com/acme/keep-last
plugins.required.old: version 1.2.0 is installed, and ^1.3 is wanted
plugins.required.own: DIR/thresh-strategy-own was not installed by thresh
plugins.required.signed: it is signed with KEY, and is wanted with OTHER
plugins.required.unclear: it is not installed
'thresh plugins install' installs what plugins.required names`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if names := h.installer().Needed(); len(names) != len(h.set.Required) || names[1].Name != "fine" || names[1].Version != "^1.1" {
		t.Errorf("%+v", names)
	}
	if _, err := h.installer().Remove(context.Background(), "fine"); err == nil || !strings.Contains(err.Error(), "is in plugins.required") {
		t.Error(err)
	}
}

func TestVersions(t *testing.T) {
	t.Parallel()
	for wanted, versions := range map[string]map[string]bool{
		"":       {"0.1.0": true, "1.2.3": true, "2.0.0-rc.1": false},
		"1.2.3":  {"1.2.3": true, "1.2.4": false, "1.2.3-rc.1": false},
		"1.0-rc": {"1.0-rc": false},
		"^1.2":   {"1.2.0": true, "1.9.1": true, "1.1.9": false, "2.0.0": false, "1.3.0-rc.1": false},
		"^0.2":   {"0.2.0": true, "0.2.9": true, "0.3.0": false},
		"^0.0.3": {"0.0.3": true, "0.0.4": false},
	} {
		for v, want := range versions {
			if got := validVersion(v) && satisfies(v, wanted); got != want {
				t.Errorf("%s for %q: %v", v, wanted, got)
			}
		}
	}
}

// The index of the repository has the strategies that ship.
func TestTheIndex(t *testing.T) {
	t.Parallel()
	h := newHome(t, nil)
	h.set.Index = repo.Path(t, "packaging", "plugins.json")
	found, err := h.installer().Search(t.Context())
	var names []string
	for _, l := range found {
		names = append(names, l.Name)
	}
	slices.Sort(names)
	if diff := cmp.Diff(binaries.Shipped, names); diff != "" || err != nil {
		t.Error(err, diff)
	}
}
