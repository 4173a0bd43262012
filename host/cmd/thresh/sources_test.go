package main_test

import (
	"os"
	"strings"
	"testing"
)

func TestCompareAdvisesAndWritesTheSettings(t *testing.T) {
	t.Parallel()
	p := newPlaceHere(t)
	args := append([]string{"compare", "--strategy", "high-density,top-down-truncation", "--prices", "no-cache",
		"--set", "model.contextLimit=30000", "--min-recall", "60"}, samples(t)...)
	r := p.run(append(args, "--write")...).done(t)
	want := "compression.density.cadence: priced\ncompression.strategy: high-density\nmodel.priceList: no-cache\n"
	if !strings.Contains(r.stdout, "Of those that keep at least 60.0 % of the lines that later turns used and of the "+
		"agent's own words and edits, high-density priced is the cheapest at no-cache's prices: -29 % against doing nothing, "+
		"-19 % in the worst session (") {
		t.Errorf("no advice in\n%s", r.stdout)
	}
	if got, err := os.ReadFile(p.path("work", "thresh.yaml")); err != nil || string(got) != want {
		t.Errorf("written %q, %v", got, err)
	}
	// What is there already is kept.
	p.file("thresh.yaml", "compression.strategy: top-down-truncation # mine\n")
	if r := p.run(append(args, "--write")...); r.code != 1 || !strings.Contains(r.stderr, "compression.strategy is set in") {
		t.Errorf("exit status %d: %s", r.code, r.stderr)
	}
	p.file("thresh.yaml", "{log: {level: warn}}\n") // no line can follow it
	if r := p.run(append(args, "--write")...); r.code != 1 || !strings.Contains(r.stderr, "add them yourself: compression.") {
		t.Errorf("exit status %d: %s", r.code, r.stderr)
	}
	if r := p.run(append(args, "--min-recall", "100")...).done(t); !strings.Contains(r.stdout, "at least 100.0 % of the lines") {
		t.Errorf("got %s", r.stdout)
	}
}
