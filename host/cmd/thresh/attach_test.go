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

// byHand starts a plugin as its author does who wants to attach a host to it, and returns the flag that it prints.
func (p *place) byHand(name string) (flag string, ended <-chan error) {
	p.t.Helper()
	if name == "high-density" {
		p.install("high-density")
	}
	cmd := exec.Command(p.pluginFile(name), "--attach")
	cmd.Env = []string{"TMPDIR=" + p.path("tmp")}
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		p.t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	end := make(chan error, 1)
	go func() { end <- cmd.Wait() }()
	p.t.Cleanup(func() { _ = cmd.Process.Kill() })
	if err != nil {
		p.t.Fatal(err)
	}
	return strings.TrimSpace(line), end
}

// within waits for a plugin that was started by hand to end well.
func within(t *testing.T, ended <-chan error, limit time.Duration) {
	t.Helper()
	select {
	case err := <-ended:
		if err != nil {
			t.Errorf("the plugin ended with %v", err)
		}
	case <-time.After(limit):
		t.Error("the plugin does not end")
	}
}

func TestAHostIsAttachedToAPluginThatWasStartedByHand(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.file("s.json", pruning)
	flag, ended := p.byHand("high-density")
	cmd := p.command("plugins", "try", "--step=optimize", "--strategy", "high-density", "--set", "workspace.root=/w", flag, "s.json")
	r := p.finish(cmd)
	if !strings.Contains(r.stdout, `"removals":[2]`) || r.code != 0 {
		t.Errorf("exit status %d: %s", r.code, r.stdout)
	}
	if !strings.Contains(r.stderr, "using an attached plugin: it is not verified, isolated or supervised") {
		t.Errorf("it does not say so: %s", r.stderr)
	}
	within(t, ended, patience)
}

func TestAPluginThatWasStartedByHandGoesWithTheHost(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	flag, ended := p.byHand("high-density")
	a := p.serve("--strategy", "high-density", flag)
	a.open("s", nil)
	a.call("history.add", object{"session": "s", "entries": []object{says("human", "x")}}, nil)
	a.prepare("s")
	if err := a.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	within(t, ended, patience)
	a.exits(-1)
	p.run("plugins", "list").done(t) // the next host tidies up what a killed one left
	// But for a socket: of an attached plugin, go-plugin makes it elsewhere.
	sockets, err := filepath.Glob(p.path("tmp", "plugin*"))
	if err != nil || len(sockets) > 1 {
		t.Errorf("left: %v, %v", sockets, err)
	}
	for _, s := range sockets {
		if err := os.Remove(s); err != nil {
			t.Error(err)
		}
	}
}
