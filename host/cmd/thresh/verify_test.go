package main_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestPluginsVerifyPassesAShippedPlugin(t *testing.T) {
	t.Parallel()
	p := newPlaceHere(t)
	r := p.run("plugins", "verify", "high-density", "--only", "lifeline,optimize-idempotent").done(t)
	for _, want := range []string{"optimize-idempotent  pass", "lifeline             pass",
		"high-density 1.0.0: 2 passed, 0 failed"} {
		if !strings.Contains(r.stdout, want) {
			t.Errorf("%q is not in\n%s", want, r.stdout)
		}
	}
}

func TestPluginsVerifyFailsWithTheReasonInItsReport(t *testing.T) {
	t.Parallel()
	p := newPlaceHere(t)
	binary := p.path("work", "thresh-strategy-fails-in-optimize")
	if err := os.Link(filepath.Join(bin, "faulty"), binary); err != nil {
		t.Fatal(err)
	}
	r := p.run("plugins", "verify", "-o", "json", "--only", "getinfo,optimize-valid", binary)
	if r.code != 1 || r.stderr != "" {
		t.Errorf("exit status %d, on standard error %q", r.code, r.stderr)
	}
	var report struct {
		Failed  int
		Results []struct{ Check, Outcome, Detail string }
	}
	if err := json.Unmarshal([]byte(r.stdout), &report); err != nil {
		t.Fatalf("%v in %q", err, r.stdout)
	}
	if len(report.Results) != 2 || report.Failed != 1 ||
		!strings.Contains(report.Results[1].Detail, "the moon is in the wrong phase") {
		t.Errorf("got %+v", report)
	}
}

func TestPluginsVerifyRefusesWhatItCannotCheck(t *testing.T) {
	t.Parallel()
	p := newPlaceHere(t)
	binary := filepath.Join(bin, "plugins", "thresh-strategy-high-density")
	p.run("plugins", "verify").failed(t, 2, "needs one BINARY")
	p.run("plugins", "verify", "--only", "lifelines", binary).failed(t, 2, `"lifelines"`, "lifeline")
	p.run("plugins", "verify", "--log-level", "loud", binary).failed(t, 2, `"loud"`)
	p.run("plugins", "verify", "nosuch").failed(t, 1, "no such file")
	p.run("plugins", "verify", filepath.Join(bin, "thresh")).failed(t, 1, "must be named thresh-strategy-<name>")
}

func TestPluginsVerifyIsolatesAsTheSettingsSay(t *testing.T) {
	t.Parallel()
	p := newPlaceHere(t)
	binary := p.path("work", "thresh-strategy-needs-network")
	if err := os.Link(filepath.Join(bin, "faulty"), binary); err != nil {
		t.Fatal(err)
	}
	verify := []string{"plugins", "verify", "-o", "json", "--only", "getinfo", binary}
	if r := p.run(verify...); r.code != 1 || !strings.Contains(r.stdout, "plugins.grants.needs-network.network: true") {
		t.Errorf("without a grant: exit status %d\n%s", r.code, r.stdout)
	}
	p.run(append(verify, "--set", "plugins.isolation=off")...).done(t)
	p.file("thresh.yaml", "plugins:\n  grants:\n    needs-network:\n      network: true\n")
	p.run(append(verify, "--config", "thresh.yaml")...).done(t)
}
