package main_test

import (
	"bytes"
	"os"
	"strings"
	"syscall"
	"testing"
)

// interrupt is Ctrl-C: a terminal signals the whole process group.
func (p *place) interrupt(group int) {
	p.t.Helper()
	if err := syscall.Kill(-group, syscall.SIGINT); err != nil {
		p.t.Fatal(err)
	}
}

func TestCtrlCWhileInputIsAwaited(t *testing.T) {
	t.Parallel()
	for _, command := range []string{"compare", "tokens", "plugins try --step=optimize", "sessions convert --to native"} {
		t.Run(command, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			if err := syscall.Mkfifo(p.path("work", "in"), 0o600); err != nil {
				t.Fatal(err)
			}
			cmd := p.command(append(strings.Fields(command), "in")...)
			var stdout, stderr bytes.Buffer
			cmd.Stdout, cmd.Stderr = &stdout, &stderr
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = cmd.Process.Kill() })
			in, err := os.OpenFile(p.path("work", "in"), os.O_WRONLY, 0) // waits for its reader
			if err != nil {
				t.Fatal(err)
			}
			defer in.Close()
			p.interrupt(cmd.Process.Pid)
			_ = cmd.Wait()
			result{stdout.String(), stderr.String(), cmd.ProcessState.ExitCode()}.failed(t, 1, "interrupted")
		})
	}
}

func TestKillingAComparisonEndsThePlugins(t *testing.T) {
	t.Parallel()
	p := newPlace(t, "gate")
	p.file("a.json", pruning)
	if err := syscall.Mkfifo(p.path("work", "gate"), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := p.command("compare", "--strategy", "gate", "a.json")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	gate, err := os.OpenFile(p.path("work", "gate"), os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer gate.Close()
	if len(p.processes()) != 1 {
		t.Errorf("processes: %v", p.processes())
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	p.alone()
	p.run("plugins", "list").done(t) // the next host tidies up what a killed one left
}

func TestAReaderThatGoesEndsAComparisonQuietly(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.file("a.json", pruning)
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	_ = read.Close()
	cmd := p.command("compare", "--strategy", "distill", "a.json")
	var stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = write, &stderr
	if err := cmd.Run(); cmd.ProcessState.ExitCode() != 1 {
		t.Errorf("%v", err)
	}
	_ = write.Close()
	if stderr.Len() > 0 {
		t.Errorf("on standard error: %s", stderr.String())
	}
	p.alone()
}
