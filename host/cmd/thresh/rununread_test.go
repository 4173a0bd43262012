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
func unread(t *testing.T) (cmd *exec.Cmd, stdin io.WriteCloser, stderr *strings.Builder) {
	t.Helper()
	cmd, stderr = newPlace(t).command("run"), &strings.Builder{}
	cmd.Stderr = stderr
	stdin, in := cmd.StdinPipe()
	stdout, out := cmd.StdoutPipe()
	if in != nil || out != nil || cmd.Start() != nil {
		t.Fatal(in, out)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	fmt.Fprintln(stdin, `{"jsonrpc":"2.0","id":1,"method":"session.open","params":{"id":"s"}}`)
	fmt.Fprintf(stdin, `{"jsonrpc":"2.0","id":2,"method":"history.add","params":{"session":"s","entries":`+
		`[{"speaker":"human","blocks":[{"type":"text","text":%q}]}]}}`+"\n", strings.Repeat("word ", 40_000))
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

func TestASignalEndsItThoughNoOneReads(t *testing.T) {
	t.Parallel()
	for sig, endOfInput := range map[syscall.Signal]bool{syscall.SIGINT: true, syscall.SIGTERM: false} {
		t.Run(sig.String(), func(t *testing.T) {
			t.Parallel()
			cmd, stdin, stderr := unread(t)
			if endOfInput {
				_ = stdin.Close()
			}
			if err := cmd.Process.Signal(sig); err != nil {
				t.Fatal(err)
			}
			stop := time.AfterFunc(patience, func() { _ = cmd.Process.Kill() })
			_, _ = cmd.Process.Wait() // not cmd.Wait, which would read what is left
			stop.Stop()
			_ = cmd.Wait() // collects standard error
			if !strings.Contains(stderr.String(), "not read") {
				t.Errorf("on standard error: %q", stderr)
			}
		})
	}
}

// TestASecondSignalEndsItAtOnce, before the time is over that the first one leaves.
func TestASecondSignalEndsItAtOnce(t *testing.T) {
	t.Parallel()
	cmd, _, _ := unread(t)
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
