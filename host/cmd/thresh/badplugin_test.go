package main_test

import (
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
