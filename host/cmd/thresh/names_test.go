package main_test

import (
	"testing"
)

// TestNamesAreCheckedWhenTheyAreSet, not when a strategy is first needed.
func TestNamesAreCheckedWhenTheyAreSet(t *testing.T) {
	t.Parallel()
	p := newPlace(t, "gate")
	a := p.serve()
	wrong := object{"compression.strategy": "high-densty"}
	want := []string{`"high-densty"`, `did you mean "high-density"?`, "gate"}
	e := a.refused(-32000, "session.open", object{"id": "s", "settings": wrong}, want...)
	if e.Data.Kind != "strategy" {
		t.Errorf("kind %q", e.Data.Kind)
	}
	a.open("s", object{"compression.strategy": "gate"})
	set := object{"session": "s", "key": "compression.strategy", "value": "high-densty"}
	a.refused(-32000, "session.set", set, append(want, "compression.strategy")...)
	if p := a.prepare("s"); p.Outcome["strategy"] != "gate" {
		t.Errorf("the strategy is %v", p.Outcome["strategy"])
	}
	a.call("session.set", with(set, object{"value": nil}), nil)
	a.end()
}
