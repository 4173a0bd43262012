package main_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

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
