package main_test

import (
	"bufio"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"testing"
)

func TestAtTheEndOfInputWhatWasReadIsAnswered(t *testing.T) {
	t.Parallel()
	a := newPlace(t).serve()
	a.send("session.open", object{"id": "s"})
	last := 0
	for i := range 50 {
		a.send("history.add", object{"session": "s", "entries": []object{says("human", fmt.Sprint(i))}})
		last = a.send("window.prepare", object{"session": "s"})
	}
	a.end()
	for id := 1; id <= last; id++ {
		if r := a.wait(id); r.Error != nil {
			t.Errorf("request %d: %+v", id, r.Error)
		}
	}
}

func TestALastLineWithoutALineEndCounts(t *testing.T) {
	t.Parallel()
	a := newPlace(t).serve()
	a.raw(`{"jsonrpc":"2.0","id":1,"method":"session.open"}`)
	a.end()
	a.wait(1)
}

func TestNoInputAtAll(t *testing.T) {
	t.Parallel()
	if r := newPlace(t).run("run").done(t); r.stdout != "" || r.stderr != "" {
		t.Errorf("printed %q and %q", r.stdout, r.stderr)
	}
}

// TestASignalEndsIt while a plugin is at work that does not mind being asked to stop.
func TestASignalEndsIt(t *testing.T) {
	t.Parallel()
	// Programs inherit it if signals are ignored, as nohup and shells arrange it; a program keeps to that. It does not
	// inherit that they are handled.
	handled := make(chan os.Signal, 1)
	signal.Notify(handled, os.Interrupt, syscall.SIGHUP)
	t.Cleanup(func() { signal.Stop(handled) })
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} {
		t.Run(sig.String(), func(t *testing.T) {
			t.Parallel()
			a := newPlace(t, "gate").serve("--strategy", "gate")
			a.open("s", nil)
			a.call("history.add", object{"session": "s", "entries": []object{says("human", "x")}}, nil)
			id, _ := slowPrepare(a, "s")
			if len(a.processes()) != 1 {
				t.Errorf("processes: %v", a.processes())
			}
			a.signal(sig)
			a.signal(sig) // timeout(1) sends it to the process and to its group
			a.exits(0)
			if e := a.refusal(a.wait(id), -32000); e.Data.Kind != "canceled" {
				t.Errorf("the prepare under way: %+v", e)
			}
		})
	}
}

func TestKillingTheHostEndsThePlugins(t *testing.T) {
	t.Parallel()
	p := newPlace(t, "gate")
	a := p.serve("--strategy", "gate")
	a.open("s", nil)
	a.call("history.add", object{"session": "s", "entries": []object{says("human", "x")}}, nil)
	slowPrepare(a, "s")
	if err := a.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	a.exits(-1)
	p.run("plugins", "list").done(t) // the next host tidies up what a killed one left
}

func TestWhenNobodyReadsItEnds(t *testing.T) {
	t.Parallel()
	p := newPlace(t, "gate")
	cmd := p.command("run", "--strategy", "gate")
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	var stderr strings.Builder
	cmd.Stdout, cmd.Stderr = write, &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	_ = write.Close()
	fmt.Fprintln(stdin, `{"jsonrpc":"2.0","id":1,"method":"session.open","params":{"id":"s"}}`)
	fmt.Fprintln(stdin, `{"jsonrpc":"2.0","id":2,"method":"window.prepare","params":{"session":"s"}}`)
	lines := bufio.NewReader(read)
	for range 2 {
		if _, err := lines.ReadString('\n'); err != nil {
			t.Fatal(err)
		}
	}
	_ = read.Close()
	fmt.Fprintln(stdin, `{"jsonrpc":"2.0","id":3,"method":"history.get","params":{"session":"s"}}`)
	_ = cmd.Wait() // the input is still open
	if got := cmd.ProcessState.ExitCode(); got != 1 {
		t.Errorf("exit status %d:\n%s", got, stderr.String())
	}
	p.calm(stderr.String())
	p.alone()
}

// TestAClosedStandardOutputIsSaid: an agent that ended left replies unread, and whoever looks at the log must know why.
func TestAClosedStandardOutputIsSaid(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	cmd := p.command("run")
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	read.Close() // before it starts: the first reply cannot be written
	var stderr strings.Builder
	cmd.Stdin = strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"initialize"}` + "\n")
	cmd.Stdout, cmd.Stderr = write, &stderr
	err = cmd.Run()
	write.Close()
	if code := cmd.ProcessState.ExitCode(); code != 1 ||
		stderr.String() != "thresh: standard output was closed: the program that reads the replies has ended\n" {
		t.Errorf("exit status %d, %v, printed %q", code, err, stderr.String())
	}
}
