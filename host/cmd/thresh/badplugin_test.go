package main_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestAnUnknownStrategyIsToldWhatThereIs(t *testing.T) {
	t.Parallel()
	p := newPlaceHere(t)
	p.file("s.json", pruning)
	for _, command := range []string{"plugins try --step=optimize", "plugins try", "compare"} {
		p.run(append(strings.Fields(command), "--strategy", "nosuch", "s.json")...).failed(t, 1, `"nosuch"`,
			"high-density, middle-out", p.plugins)
	}
}

func TestAPluginDirectoryWithoutPlugins(t *testing.T) {
	t.Parallel()
	p := newPlaceHere(t)
	p.file("s.json", pruning)
	p.file("file", "")
	if err := os.Mkdir(p.path("work", "none"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(p.path("work", "closed"), 0); err != nil {
		t.Fatal(err)
	}
	dirs := map[string]string{"missing": "no such file", "none": "", "file": "not a directory"}
	if _, err := os.ReadDir(p.path("work", "closed")); err != nil { // root may
		dirs["closed"] = "permission denied"
	}
	for dir, want := range dirs {
		p.run("plugins", "try", "--step=optimize", "--strategy", "mine", "--plugin-dir", dir, "s.json").failed(t, 1,
			`"mine"`, "built in are distill, high-density", p.path("work", dir), want)
		r := p.run("plugins", "list", "--plugin-dir", dir)
		if !strings.Contains(r.stderr, want) || (r.code == 0) != (dir == "none") {
			t.Errorf("plugins list of %s: exit status %d\n%s", dir, r.code, r.stderr)
		}
	}
}

// TestWhenEveryPluginIsBrokenTheListFails and shows what each wrote last, without what a terminal would act on.
func TestWhenEveryPluginIsBrokenTheListFails(t *testing.T) {
	t.Parallel()
	p := newPlaceHere(t)
	dir := p.path("work", "broken")
	script := "#!/bin/sh\necho 'no table for \033[31mNarnia' >&2\nexit 1\n"
	if err := errors.Join(
		os.Mkdir(dir, 0o755), os.Link(filepath.Join(bin, "faulty"),
			filepath.Join(dir, "thresh-strategy-exits-at-start")),
		os.WriteFile(filepath.Join(dir, "thresh-strategy-script"), []byte(script), 0o755),
	); err != nil {
		t.Fatal(err)
	}
	r := p.run("plugins", "list", "--plugin-dir", dir)
	if r.code != 1 || !strings.Contains(r.stderr, "no plugin file can be used: 2 found, all broken") {
		t.Errorf("exit status %d\n%s", r.code, r.stderr)
	}
	for _, want := range []string{"last lines of its standard error:\n  cannot find my licence\n",
		"  no table for \ufffd[31mNarnia\n"} {
		if !strings.Contains(r.stdout, want) {
			t.Errorf("no %q in\n%s", want, r.stdout)
		}
	}
	if r := p.run("plugins", "list", "--plugin-dir", dir, "-o", "json"); r.code != 1 ||
		strings.Count(r.stdout, `"broken"`) != 2 {
		t.Errorf("exit status %d, printed %s", r.code, r.stdout)
	}
}

// TestListingTrustsNothing: only use writes to the lock file.
func TestListingTrustsNothing(t *testing.T) {
	t.Parallel()
	p := newPlaceHere(t)
	p.file("s.json", pruning)
	p.install("high-density")
	lock := p.path("work", "plugins.lock")
	setting := "plugins.lockFile=" + lock
	p.run("plugins", "list", "--set", setting).done(t)
	if _, err := os.Stat(lock); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("after listing: %v", err)
	}
	p.run("plugins", "try", "--step=optimize", "--strategy", "high-density", "--set", setting, "s.json").done(t)
	locked, err := os.ReadFile(lock)
	if text := string(locked); err != nil || !strings.Contains(text, "high-density") ||
		strings.Contains(text, "top-down") {
		t.Errorf("after use: %v\n%s", err, locked)
	}
}

// TestWhatIsNoPluginIsListedWithItsReason and hurts no other.
func TestWhatIsNoPluginIsListedWithItsReason(t *testing.T) {
	t.Parallel()
	p := newPlaceHere(t, "other-version", "other-cookie", "exits-at-start", "panics-at-start", "lies-about-its-name")
	p.install("high-density")
	p.file("s.json", pruning)
	write := func(name, text string, mode os.FileMode) {
		if err := os.WriteFile(filepath.Join(p.plugins, name), []byte(text), mode); err != nil {
			t.Fatal(err)
		}
	}
	write("README.txt", "not mine", 0o644)
	write("thresh-strategy-text", "some text", 0o755)
	write("thresh-strategy-asleep", "#!/bin/sh\n", 0o644)
	write("thresh-strategy-script", "#!/bin/sh\necho 'hello there'\n", 0o755)
	write("thresh-strategy-Bad_Name", "#!/bin/sh\n", 0o755)
	if err := os.Mkdir(filepath.Join(p.plugins, "thresh-strategy-folder"), 0o755); err != nil {
		t.Fatal(err)
	}
	p.link("thresh", "thresh")
	program, err := os.ReadFile("/bin/true")
	if err == nil {
		err = os.WriteFile(filepath.Join(p.plugins, "thresh-strategy-true"), program, 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
	reasons := map[string]string{
		"other-version":       "version 2",
		"other-cookie":        "handshake",
		"exits-at-start":      "exit status 3",
		"panics-at-start":     "exit status 2",
		"lies-about-its-name": "somebody-else",
		"text":                "neither a program nor a script",
		"asleep":              "not executable",
		"script":              "hello there",
		"Bad_Name":            "no valid strategy name",
		"folder":              "is a directory",
		"thresh":              "handshake",
		"true":                "handshake",
	}
	found := decode[[]object](t, p.run("plugins", "list", "-o", "json")) // exit status 0: some work
	states := map[string]any{}
	for _, l := range found {
		if l["builtIn"] == true {
			continue
		}
		name := l["name"].(string)
		states[name] = l["state"]
		if want, bad := reasons[name]; bad && !strings.Contains(l["reason"].(string), want) {
			t.Errorf("%s: no %q in %v", name, want, l["reason"])
		}
	}
	want := map[string]any{"high-density": "ready"}
	for name := range reasons {
		want[name] = "broken"
	}
	if diff := cmp.Diff(want, states); diff != "" {
		t.Error(diff)
	}
	p.run("plugins", "try", "--step=optimize", "s.json").done(t)
	for _, name := range []string{"other-version", "exits-at-start", "script", "folder", "thresh", "true"} {
		r := p.run("plugins", "try", "--step=optimize", "--strategy", name, "s.json")
		if r.code != 1 || r.stdout != "" || !strings.Contains(r.stderr, reasons[name]) {
			t.Errorf("%s: exit status %d, printed %q and\n%s", name, r.code, r.stdout, r.stderr)
		}
	}
}

// bad are faults of a plugin in its answer, with what is said about them and the kind that an agent gets.
var bad = map[string]struct{ want, kind string }{
	"panics-in-optimize":   {"no idea what to do", "plugin"},
	"exits-in-optimize":    {"exit status 5", "plugin"},
	"hangs-in-optimize":    {"deadline exceeded", "plugin"},
	"fails-in-optimize":    {"the moon is in the wrong phase", "plugin"},
	"out-of-bounds":        {"out of bounds", "answer"},
	"twice":                {"named twice", "answer"},
	"in-both-sets":         {"both removed and replaced", "answer"},
	"answers-garbage":      {"answer", "plugin"},
	"for-another-revision": {"revision", "plugin"},
}

func TestABadAnswerIsAnErrorAndNothingElse(t *testing.T) {
	t.Parallel()
	for name, c := range bad {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t, name)
			p.file("s.json", pruning)
			timeout := "1m" // a busy machine may take its time
			if name == "hangs-in-optimize" {
				timeout = "500ms"
			}
			args := []string{"--strategy", name, "--set", "plugins.optimizeTimeout=" + timeout, "s.json"}
			// Not p.run: a plugin that panics has its trace in the message, for it is all that its author has.
			cmd := p.command(append([]string{"plugins", "try", "--step=optimize"}, args...)...)
			var stdout, stderr strings.Builder
			cmd.Stdout, cmd.Stderr = &stdout, &stderr
			_ = cmd.Run()
			if cmd.ProcessState.ExitCode() != 1 || stdout.String() != "" ||
				!strings.Contains(stderr.String(), c.want) || !strings.Contains(stderr.String(), name) {
				t.Errorf("exit status %d, printed %q and\n%s", cmd.ProcessState.ExitCode(),
					stdout.String(), stderr.String())
			}
			p.alone()
		})
	}
}

func TestAfterABadAnswerTheHostServesOn(t *testing.T) {
	t.Parallel()
	var names []string
	for name := range bad {
		names = append(names, name)
	}
	p := newPlace(t, names...)
	a := p.serve("--set", "plugins.optimizeTimeout=5s", "--log-level", "error")
	for name, c := range bad {
		in := object{"session": a.open(name, object{"compression.strategy": name, "workspace.root": "/w"})}
		a.call("history.add", with(in, object{"entries": parseJSON[any](t, pruning)}), nil)
		var before, after prepared
		a.call("history.get", in, &before)
		e := a.refused(-32000, "window.prepare", in, c.want)
		if e.Data.Kind != c.kind || e.Data.Prepared == nil {
			t.Errorf("%s: data %+v", name, e.Data)
		} else if diff := cmp.Diff(before.History, e.Data.Prepared.History); diff != "" {
			t.Errorf("%s: prepared:\n%s", name, diff)
		}
		if a.call("history.get", in, &after); cmp.Diff(before, after) != "" {
			t.Errorf("%s: the history changed:\n%s", name, cmp.Diff(before, after))
		}
		a.call("session.set", with(in, object{"key": "compression.strategy", "value": "high-density"}), nil)
		if got := a.prepare(name); len(got.History) != 5 {
			t.Errorf("%s: with another strategy: %d entries", name, len(got.History))
		}
	}
	_ = a.stdin.Close()
	_ = a.cmd.Wait()
	if got := a.cmd.ProcessState.ExitCode(); got != 0 {
		t.Errorf("exit status %d", got)
	}
}

func TestAPanicInAStrategyOfTheSDKIsAnErrorOfThatCall(t *testing.T) {
	t.Parallel()
	a := newPlace(t, "gate").serve("--strategy", "gate")
	a.open("s", nil)
	a.open("t", nil)
	a.call("history.add", object{"session": "s", "entries": []object{says("human", "panic")}}, nil)
	a.call("history.add", object{"session": "t", "entries": []object{says("human", "x")}}, nil)
	e := a.refused(-32000, "window.prepare", object{"session": "s"}, "panic", "an entry said so")
	if e.Data.Kind != "plugin" || e.Data.Plugin != "gate" {
		t.Errorf("data: %+v", e.Data)
	}
	before := a.processes()
	a.prepare("t")
	if diff := cmp.Diff(before, a.processes()); diff != "" {
		t.Errorf("the process was replaced:\n%s", diff)
	}
	a.end()
}
