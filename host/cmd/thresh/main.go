package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/hashicorp/go-hclog"

	_ "github.com/thresh-dev/thresh/host/early" // lets a launcher skip the initialisation of this program
	"github.com/thresh-dev/thresh/host/internal/window"
)

// main runs one command and exits with its status. Signals cancel the command's context instead of ending the process,
// so deferred code stops plugins, removes sockets and flushes transcript logs.
func main() {
	// Must come first. With host/early imported, a launcher never gets here; this call is for builds that drop that
	// import, because isolation silently disappears without it.
	window.ReexecMain()
	// Libraries must not log by themselves: net/http prints the bytes that a provider sends behind the end of an
	// answer, which are a conversation's, and wrap's agent has the terminal.
	log.SetOutput(io.Discard)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// SIGTERM is what supervisors and containers send. SIGQUIT keeps its default effect, a stack dump, for debugging a
	// hang. The first signal ends the command in order. A moment later another one ends the process at once, even if it
	// is stuck; plugins notice that their host is gone and end too.
	context.AfterFunc(ctx, func() { time.AfterFunc(sameSignal, stop) })
	// With a handler, SIGPIPE becomes an error of the write instead of killing us: if the reader of our output exits,
	// plugins must still be stopped properly.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	a := newApp(place{env: os.Environ()}, os.Stdin, os.Stdout, os.Stderr)
	ctx = a.watchHangup(ctx)
	cmd := newRoot(a)
	cmd.SetArgs(os.Args[1:])
	err := cmd.ExecuteContext(ctx)
	// Read before stop(): stop cancels ctx itself, and every error would then look like an interruption. A command that
	// finished in spite of the signal has err == nil, and ends with 0.
	interrupted := ctx.Err() != nil
	stop()
	os.Exit(a.exit(err, interrupted))
}

// sameSignal is how long signals count as the first one: timeout(1), make and npm send each to the process and to its
// group, so it arrives twice.
const sameSignal = 100 * time.Millisecond

// exit reports err on standard error and returns the exit status: 0 for success, 2 for a usage error, 1 for everything
// else. An interruption is reported in one word instead of the chain of "context canceled" errors that it causes.
func (a *app) exit(err error, interrupted bool) int {
	var usage *usageError
	var agent exitStatus
	switch {
	case err == nil:
		return 0
	case errors.As(err, &agent):
		return int(agent)
	case errors.As(err, &usage):
		fmt.Fprintf(a.err, "thresh: %v\nRun '%s --help' for usage.\n", err, usage.command)
		return 2
	// EPIPE: the reader of our output has exited, as in 'thresh … | head'.
	case errors.Is(err, errReported), errors.Is(err, syscall.EPIPE):
		return 1
	case interrupted && errors.Is(err, context.Canceled):
		a.say(hclog.Error, "interrupted")
		return 1
	default:
		a.say(hclog.Error, strings.TrimSpace(err.Error()))
		return 1
	}
}

// errReported makes the exit status 1 without printing anything: the command has already printed what failed, or the
// result itself is the failure (a failed check, for example).
var errReported = errors.New("already reported")

// usageError marks an error as a mistake in the command line: exit status 2, with a pointer to --help of the command.
// An error in a settings file is not one.
type usageError struct {
	// command is the full path, such as "thresh plugins verify".
	command string
	err     error
}

func (e *usageError) Error() string { return e.err.Error() }
func (e *usageError) Unwrap() error { return e.err }
