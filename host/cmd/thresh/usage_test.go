package main_test

import (
	"strings"
	"testing"
)

func TestEveryCommandExplainsItself(t *testing.T) {
	t.Parallel()
	p := newPlaceHere(t)
	for _, command := range []string{
		"compare", "run", "plugins try", "sessions convert", "tokens", "explain", "restore", "plugins list",
		"config explain", "probe",
	} {
		r := p.run(append(strings.Fields(command), "--help")...).done(t)
		for _, want := range []string{"Usage:\n  thresh " + command, "Examples:\n  ", "--set KEY=VALUE"} {
			if !strings.Contains(r.stdout, want) {
				t.Errorf("thresh %s --help: no %q in\n%s", command, want, r.stdout)
			}
		}
	}
	for _, args := range [][]string{{}, {"--help"}, {"plugins"}, {"config"}, {"help", "plugins", "try"}} {
		if r := p.run(args...).done(t); !strings.Contains(r.stdout, "Usage:") {
			t.Errorf("thresh %v printed\n%s", args, r.stdout)
		}
	}
}

func TestShellCompletion(t *testing.T) {
	t.Parallel()
	p := newPlaceHere(t)
	for _, shell := range []string{"bash", "zsh", "fish"} {
		if r := p.run("completion", shell).done(t); !strings.Contains(r.stdout, "thresh") {
			t.Errorf("%s: %.200s", shell, r.stdout)
		}
	}
	r := p.run("__complete", "plugins", "try", "--strategy", "").done(t)
	for _, want := range []string{"high-density\n", "top-down-truncation\n"} {
		if !strings.Contains(r.stdout, want) {
			t.Errorf("no %q among\n%s", want, r.stdout)
		}
	}
	if r := p.run("__complete", "plugins", "try", "--set", "").done(t); !strings.Contains(r.stdout,
		"compression.threshold=\n") {
		t.Errorf("--set completes to\n%s", r.stdout)
	}
}

func TestAWrongCallIsStatus2AndNamesWhatHelps(t *testing.T) {
	t.Parallel()
	p := newPlaceHere(t)
	for _, c := range []struct {
		args string
		want []string
	}{
		{"nosuch", []string{`unknown command "nosuch"`, "thresh --help"}},
		{"comprae", []string{`did you mean "compare"`}},
		{"plugins lst", []string{`unknown command "lst"`, `did you mean "list"`, "thresh plugins --help"}},
		{"plugins try", []string{"FILE", "thresh plugins try --help"}},
		{"plugins try a.json b.json", []string{"FILE", "got 2"}},
		{"plugins try --step=prune a.json", []string{"compress or optimize", "prune"}},
		{"tokens a b", []string{"FILE"}},
		{"compare --agent x y", []string{"FILE"}},
		{"sessions convert a.json", []string{"--to", "native"}},
		{"sessions convert --to yaml a.json", []string{"yaml", "native"}},
		{"sessions convert --to codex a.json", []string{"codex", "cannot be written", "native, openai, responses or anthropic"}},
		{"run now", []string{"now"}},
		{"compare -o yaml a.json", []string{"yaml", "json"}},
		{"probe --write d a.json", []string{"--strategy"}},
		{"probe --write d --grade d", []string{"--write", "--grade"}},
		{"probe --write= --strategy distill a.json", []string{"--write"}},
		{"probe --grade d a.json", []string{"--grade", "FILE"}},
		{"probe --grade d --yes", []string{"--yes"}},
		{"probe --moments=-1 --strategy distill a.json", []string{"--moments", "-1"}},
		{"probe --usd=NaN --strategy distill a.json", []string{"--usd", "NaN"}},
		{"probe --strategy distill - -", []string{"standard input"}},
		{"plugins try --nosuch a.json", []string{"--nosuch"}},
		{"plugins try --set nothing a.json", []string{"--set", "nothing"}},
	} {
		t.Run(c.args, func(t *testing.T) {
			p.run(strings.Fields(c.args)...).failed(t, 2, c.want...)
		})
	}
}
