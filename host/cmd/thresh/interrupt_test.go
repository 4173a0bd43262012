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
	for _, command := range []string{"compare", "sessions convert --to native"} {
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

// TestCtrlCInTheMiddleOfAComparison comes while the second of four replays is under way.
func TestCtrlCInTheMiddleOfAComparison(t *testing.T) {
	t.Parallel()
	p := newPlace(t, "gate")
	p.file("a.json", pruning)
	p.file("b.json", pruning)
	p.file("out.html", "an earlier one")
	if err := syscall.Mkfifo(p.path("work", "gate"), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := p.command(
		"compare", "--strategy", "high-density,gate", "--set", "compression.density.cadence=every-turn", "--parallel", "1",
		"--report", "out.html", "a.json", "b.json",
	)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	gate, err := os.OpenFile(p.path("work", "gate"), os.O_WRONLY, 0) // waits until the strategy is at work
	if err != nil {
		t.Fatal(err)
	}
	defer gate.Close()
	p.interrupt(cmd.Process.Pid)
	_ = cmd.Wait()
	if got := cmd.ProcessState.ExitCode(); got != 1 ||
		!strings.Contains(stderr.String(), "interrupted after 1 of 4 replays") ||
		strings.Count(stderr.String(), "\n") != 2 {
		t.Errorf("exit status %d:\n%s", got, stderr.String())
	}
	for _, want := range []string{"high-density (1 of 2)", "stopped before its end"} {
		if !strings.Contains(stdout.String(), want) {
			t.Errorf("no %q in\n%s", want, stdout.String())
		}
	}
	if page, err := os.ReadFile(p.path("work", "out.html")); err != nil || string(page) != "an earlier one" ||
		!strings.Contains(stderr.String(), "no report is written") {
		t.Errorf("an earlier page is %q, %v", page, err)
	}
	p.calm(stderr.String())
	p.alone()
}

func TestAReaderThatGoesEndsACommandQuietly(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	_ = read.Close()
	cmd := p.command("explain", p.file("a.json", pruning))
	var stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = write, &stderr
	if err := cmd.Run(); cmd.ProcessState.ExitCode() != 1 || stderr.Len() > 0 {
		t.Errorf("%v, on standard error: %s", err, stderr.String())
	}
	_ = write.Close()
}
