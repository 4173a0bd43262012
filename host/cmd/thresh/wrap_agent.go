package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"sync"
	"syscall"

	"golang.org/x/term"
)

// The agent as a child of this process, which has its terminal.

// exitStatus is the status with which the agent ended; thresh ends with the same. Nothing is printed for it.
type exitStatus int

func (e exitStatus) Error() string { return fmt.Sprintf("the agent ended with status %d", int(e)) }

// runWrapped runs the agent with this process's terminal, and waits for it. It returns an [exitStatus], or the error
// for which the agent could not be started.
func runWrapped(w wrapping, command []string, at proxyAt, a *app) error {
	agent, end, err := w.start(command, at, a.place)
	if err != nil {
		return err
	}
	defer end()
	agent.Stdin, agent.Stdout, agent.Stderr = a.in, a.out, a.err
	if err, ok := a.err.(safeStderr); ok {
		agent.Stderr = err.Writer // the file itself: a pipe would hide the terminal from the agent
	}
	// A terminal sends its interrupts to the agent as well, which decides what they mean. Signals that only this
	// process gets are passed on. Registered before the start: none ends this process and leaves the agent.
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT)
	defer signal.Stop(signals)
	runtime.LockOSThread() // it is the agent's parent
	defer runtime.UnlockOSThread()
	endWithThis(agent)
	if err := agent.Start(); err != nil {
		return err
	}
	endStarted(agent)
	in, ok := a.in.(*os.File)
	terminal := ok && term.IsTerminal(int(in.Fd()))
	ended := make(chan error, 1)
	go func() { ended <- agent.Wait() }()
	for {
		select {
		case s := <-signals:
			// An interrupt from a terminal was delivered to the whole process group: passed on, the agent would get it
			// twice, which many take as the wish to end instead of to stop the current step.
			if !terminal || s == syscall.SIGTERM || s == syscall.SIGHUP {
				_ = agent.Process.Signal(s)
			}
		case err := <-ended:
			return statusOf(err)
		}
	}
}

// statusOf returns the exit status of a process as a shell does: 128 and the signal for one that was killed.
func statusOf(err error) error {
	exit, ok := errors.AsType[*exec.ExitError](err)
	if !ok {
		return err
	}
	if w, ok := exit.Sys().(syscall.WaitStatus); ok && w.Signaled() {
		return exitStatus(128 + int(w.Signal()))
	}
	return exitStatus(exit.ExitCode())
}

// heldLog keeps the first log lines, which say best what went wrong, until the terminal is free. The host's goroutines
// write to it. The zero value holds nothing.
type heldLog struct {
	mu    sync.Mutex
	lines []byte
	more  int // dropped bytes
}

// maxHeld is how much is kept, in bytes: some fifty lines. More would scroll the agent's last words off the screen.
const maxHeld = 8 << 10

// Write keeps a line whole or not at all. It never fails: a log that does not fit must not disturb the host.
func (h *heldLog) Write(p []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.lines)+len(p) > maxHeld {
		h.more += len(p)
	} else {
		h.lines = append(h.lines, p...)
	}
	return len(p), nil
}

func (h *heldLog) print(to io.Writer) {
	h.mu.Lock()
	defer h.mu.Unlock()
	_, _ = to.Write(h.lines)
	if h.more > 0 {
		fmt.Fprintf(to, "thresh: %d more bytes of log were dropped\n", h.more)
	}
}
