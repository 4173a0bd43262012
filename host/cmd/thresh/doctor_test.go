package main_test

import (
	"os"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// diagnosis is what 'thresh doctor -o json' prints.
type diagnosis struct {
	System, Isolation, Integrity, LockFile string
	Checks                                 []struct {
		Measure, How string
		Works        bool
	}
}

func TestDoctorSaysWhatTheMachineCanEnforce(t *testing.T) {
	t.Parallel()
	p := newPlaceHere(t)
	got := decode[diagnosis](t, p.run("doctor", "-o", "json", "--set", "plugins.integrity=locked"))
	var measures []string
	for _, c := range got.Checks {
		measures = append(measures, c.Measure)
		if c.How == "" {
			t.Errorf("%s: nothing says how, or why not", c.Measure)
		}
		if c.Measure == "memory" && runtime.GOOS == "linux" && !c.Works {
			t.Errorf("thresh cannot be its own launcher: %s", c.How)
		}
	}
	want := []string{"privileges", "files", "paths", "network", "sockets", "processes", "calls", "signals", "ending",
		"descriptors", "memory", "disk", "threads", "limits"}
	if diff := cmp.Diff(want, measures); diff != "" {
		t.Error(diff)
	}
	got.Checks = nil
	if diff := cmp.Diff(diagnosis{System: runtime.GOOS + "/" + runtime.GOARCH, Isolation: "best-effort",
		Integrity: "locked",
		LockFile:  p.path("home", ".local", "state", "thresh", "plugins.lock")}, got); diff != "" {
		t.Error(diff)
	}
}

func TestDoctorIsReadable(t *testing.T) {
	t.Parallel()
	p := newPlaceHere(t)
	r := p.run("doctor", "--set", "plugins.isolation=strict", "--set", "plugins.lockFile=").done(t)
	lines := strings.Split(strings.TrimSpace(r.stdout), "\n")
	for i, want := range []string{"system  ", "plugins.isolation  strict", "plugins.integrity  tofu",
		"plugins.lockFile   -", "", "MEASURE  ", "privileges  ", "files  "} {
		if i >= len(lines) || !strings.HasPrefix(lines[i], want) {
			t.Errorf("line %d does not begin with %q:\n%s", i+1, want, r.stdout)
			break
		}
	}
	for _, line := range lines[6:] {
		if !strings.Contains(line, "  yes  ") && !strings.Contains(line, "  no   ") {
			t.Errorf("it is not said whether this works: %s", line)
		}
	}
	if r.stderr != "" {
		t.Errorf("on standard error: %s", r.stderr)
	}
	p.run("doctor", "now").failed(t, 2, "doctor")
}

// A stranger's checkout, in which a user runs thresh.
func TestAProjectFileCannotSwitchProtectionOff(t *testing.T) {
	t.Parallel()
	p := newPlaceHere(t)
	const text = "compression:\n  threshold: 0.5\nplugins:\n  integrity: off\n"
	p.file("thresh.yaml", text)
	p.run("plugins", "list").failed(t, 1, "thresh.yaml:4: plugins.integrity", "stranger", "THRESH_PLUGINS_INTEGRITY",
		"--config")
	p.run("config", "explain").failed(t, 1, "thresh.yaml:4: plugins.integrity")
	p.run("plugins", "list", "--config", "thresh.yaml").done(t) // who names it means it
	p.file("thresh.yaml", "")
	if r := p.run("config", "explain", "plugins.integrity").done(t); !strings.Contains(r.stdout,
		"not by:   ./thresh.yaml") {
		t.Errorf("it is not explained:\n%s", r.stdout)
	}
	if r := p.run("config", "explain", "compression.threshold").done(t); strings.Contains(r.stdout, "./thresh.yaml") {
		t.Errorf("it is explained of a setting that a project may make:\n%s", r.stdout)
	}
}

func TestDoctorKnowsWhatABaseURLCostsAnAgent(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	if err := os.WriteFile(p.path("work", "claude"), []byte("#!/bin/sh\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	cmd := p.command("doctor")
	cmd.Env = append(cmd.Env, "PATH="+p.path("work"), "ANTHROPIC_BASE_URL=http://127.0.0.1:1/t/secret")
	want := "claude             ANTHROPIC_BASE_URL is set, ENABLE_TOOL_SEARCH is not set\n" +
		"                   with a base URL: tool search is off"
	if r := p.finish(cmd); !strings.Contains(r.stdout, want) || strings.Contains(r.stdout, "secret") {
		t.Errorf("%s%s", r.stdout, r.stderr)
	}
}
