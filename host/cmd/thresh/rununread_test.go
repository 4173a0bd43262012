package main_test

import (
	"bufio"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

// unread starts 'thresh run' with a reply of 200 kB that no one reads.
func unread(t *testing.T, p *place) (cmd *exec.Cmd, stdin io.WriteCloser, stderr *strings.Builder) {
	t.Helper()
	cmd = p.command("run")
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	stderr = &strings.Builder{}
	cmd.Stderr = stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	long := strings.Repeat("word ", 40_000)
	fmt.Fprintln(stdin, `{"jsonrpc":"2.0","id":1,"method":"session.open","params":{"id":"s"}}`)
	fmt.Fprintf(stdin, `{"jsonrpc":"2.0","id":2,"method":"history.add","params":{"session":"s",`+
		`"entries":[{"speaker":"human",`+
		`"blocks":[{"type":"text","text":%q}]}]}}`+"\n", long)
	lines := bufio.NewReaderSize(stdout, 16)
	for range 2 {
		if _, err := lines.ReadString('\n'); err != nil {
			t.Fatal(err)
		}
	}
	fmt.Fprintln(stdin, `{"jsonrpc":"2.0","id":3,"method":"history.get","params":{"session":"s"}}`)
	fmt.Fprintln(stdin, `no JSON`) // an error that cannot be written either
	if _, err := lines.ReadByte(); err != nil {
		t.Fatal(err)
	}
	return cmd, stdin, stderr
}

// ended returns how long the command takes to end.
func ended(t *testing.T, cmd *exec.Cmd) time.Duration {
	t.Helper()
	start, done := time.Now(), make(chan struct{})
	go func() { _, _ = cmd.Process.Wait(); close(done) }() // not cmd.Wait, which would read what is left
	select {
	case <-done:
		return time.Since(start)
	case <-time.After(patience):
		t.Fatal("it does not end")
		return 0
	}
}

func TestASignalEndsItThoughNoOneReads(t *testing.T) {
	t.Parallel()
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		for _, end := range []bool{false, true} {
			t.Run(fmt.Sprint(sig, ", end of input ", end), func(t *testing.T) {
				t.Parallel()
				cmd, stdin, stderr := unread(t, newPlace(t))
				if end {
					_ = stdin.Close()
					time.Sleep(100 * time.Millisecond)
				}
				if err := cmd.Process.Signal(sig); err != nil {
					t.Fatal(err)
				}
				if took := ended(t, cmd); took > 10*time.Second {
					t.Errorf("it took %v", took)
				}
				_ = cmd.Wait() // collects standard error
				if !strings.Contains(stderr.String(), "not read") {
					t.Errorf("on standard error: %q", stderr)
				}
			})
		}
	}
}

// TestASecondSignalEndsItAtOnce, before the time is over that the first one leaves.
func TestASecondSignalEndsItAtOnce(t *testing.T) {
	t.Parallel()
	cmd, _, _ := unread(t, newPlace(t))
	// Those that come right after the first one count as the first.
	go func() {
		for cmd.Process.Signal(syscall.SIGTERM) == nil {
			time.Sleep(50 * time.Millisecond)
		}
	}()
	state, err := cmd.Process.Wait()
	if err != nil {
		t.Fatal(err)
	}
	if status := state.Sys().(syscall.WaitStatus); !status.Signaled() || status.Signal() != syscall.SIGTERM {
		t.Errorf("it ended by itself: %v", state)
	}
}
