package main_test

import (
	"encoding/json"
	"os"
	"strings"
	"syscall"
	"testing"
)

// TestWhatTheMachineLacksIsNotThePluginsFault: with the temporary directory gone, no plugin can be started. It is
// said as what it is, the plugin is not put into quarantine for it, and all is well when the directory is back.
func TestWhatTheMachineLacksIsNotThePluginsFault(t *testing.T) {
	t.Parallel()
	a := newPlace(t).serve("--strategy", "high-density")
	a.open("s", nil)
	add := func() { a.call("history.add", object{"session": "s", "entries": []object{says("human", "x")}}, nil) }
	add()
	a.prepare("s")
	if err := os.RemoveAll(a.path("tmp")); err != nil {
		t.Fatal(err)
	}
	for _, pid := range a.pids() {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
	if !eventually(patience, func() bool { return len(a.processes()) == 0 }) {
		t.Fatal("the plugin is still there")
	}
	const moreThanAllowed = 7
	for range moreThanAllowed {
		add()
		e := a.refused(-32000, "window.prepare", object{"session": "s"}, "host environment fault", a.path("tmp"))
		if e.Data.Kind != "host" || !e.Data.Retryable || e.Data.Plugin != "high-density" || e.Data.Prepared == nil {
			t.Fatalf("got %+v", e)
		}
	}
	var list struct {
		Plugins []struct{ Name, State string }
	}
	a.call("plugins.list", object{}, &list)
	if text, _ := json.Marshal(list); strings.Count(string(text), `"host-fault"`) != 5 {
		t.Errorf("listed as %s", text)
	}
	if err := os.Mkdir(a.path("tmp"), 0o755); err != nil {
		t.Fatal(err)
	}
	add()
	a.prepare("s")
	a.end()
	if log := a.stderr.String(); !strings.Contains(log, "to=host-fault") || strings.Contains(log, "quarantine") {
		t.Errorf("the log:\n%s", log)
	}
}
