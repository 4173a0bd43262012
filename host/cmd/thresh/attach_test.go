package main_test

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// startByHand starts a plugin that waits for a host, and returns the flag for that host.
func startByHand(t *testing.T, p *place, name string) (plugin *exec.Cmd, flag string) {
	plugin = exec.Command(p.pluginFile(name), "--attach")
	plugin.Env = []string{"TMPDIR=" + p.path("tmp")}
	out, err := plugin.StdoutPipe()
	if err == nil {
		err = plugin.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = plugin.Process.Kill() })
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return plugin, strings.TrimSpace(line)
}

// What is attached is what is tried: if another strategy were asked, it would wait for ever.
func TestWhatIsAttachedIsTried(t *testing.T) {
	t.Parallel()
	p := newPlace(t, "high-density")
	plugin, flag := startByHand(t, p, "high-density")
	r := p.run("plugins", "try", flag, p.file("s.json", pruning))
	if r.done(t); !strings.Contains(r.stdout, `"strategyUsed":"high-density"`) {
		t.Errorf("got %s", r.stdout)
	}
	if err := plugin.Wait(); err != nil {
		t.Errorf("the plugin ended with %v", err)
	}
}

// A host is attached to a plugin that its author started by hand, which goes with the host, even if that is killed.
func TestAHostIsAttachedToAPluginThatWasStartedByHand(t *testing.T) {
	t.Parallel()
	p := newPlace(t, "high-density")
	plugin, flag := startByHand(t, p, "high-density")
	a := p.serve("--strategy", "high-density", flag)
	a.open("s", object{"workspace.root": "/w"})
	a.call("history.add", object{"session": "s", "entries": parseJSON[any](t, pruning)}, nil)
	if got := a.prepare("s"); len(got.History) != 5 {
		t.Errorf("%d entries are left", len(got.History))
	}
	_ = a.cmd.Process.Kill()
	stop := time.AfterFunc(patience, func() { _ = plugin.Process.Kill() })
	defer stop.Stop()
	if err := plugin.Wait(); err != nil {
		t.Errorf("the plugin ended with %v", err)
	}
	a.exits(-1)
	if log := a.stderr.String(); !strings.Contains(log,
		"using an attached plugin: it is not verified, isolated or supervised") {
		t.Errorf("it does not say so: %s", log)
	}
	p.run("plugins", "list").done(t) // the next host tidies up what a killed one left
	// But for a socket: of an attached plugin, go-plugin makes it elsewhere.
	sockets, err := filepath.Glob(p.path("tmp", "plugin*"))
	if err != nil || len(sockets) > 1 {
		t.Errorf("left: %v, %v", sockets, err)
	}
	for _, s := range sockets {
		_ = os.Remove(s)
	}
}
