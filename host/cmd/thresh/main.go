// Command thresh runs the host on recorded sessions, serves it to agents in any language, and shows what it would do.
//
// One file holds one command; root.go holds what they share. Results go to standard output, everything else to
// standard error. The exit status is 0 when done, 1 when something failed, 2 when the command was called wrongly.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"

	_ "github.com/thresh-dev/thresh/host/early" // lets a launcher skip the initialisation of this program
	"github.com/thresh-dev/thresh/host/internal/engine"
)

func main() {
	engine.ReexecMain()
	ctx, stop := signal.NotifyContext(context.Background(), endSignals()...)
	// The first signal ends the command in order. From then on signals have their default effect again, so that a second
	// one ends the process at once, whatever it is stuck in; plugins notice that their host is gone and end too.
	context.AfterFunc(ctx, stop)
	// With a handler, SIGPIPE becomes an error of the write instead of killing us: if the reader of our output exits,
	// plugins must still be stopped properly.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	a := &app{in: os.Stdin, out: os.Stdout, err: os.Stderr}
	cmd := newRoot(a)
	cmd.SetArgs(os.Args[1:])
	err := cmd.ExecuteContext(ctx)
	interrupted := ctx.Err() != nil
	stop()
	os.Exit(a.exit(err, interrupted))
}

// endSignals are the signals that end a command. nohup ignores SIGHUP, and that must stay so.
func endSignals() []os.Signal {
	signals := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		signals = append(signals, syscall.SIGHUP)
	}
	return signals
}

// exit reports err and returns the exit status.
func (a *app) exit(err error, interrupted bool) int {
	var usage *usageError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &usage):
		fmt.Fprintf(a.err, "thresh: %v\nRun '%s --help' for how it is used.\n", err, usage.command)
		return 2
	case errors.Is(err, errReported), errors.Is(err, syscall.EPIPE): // the reader of our output has exited
		return 1
	case interrupted && errors.Is(err, context.Canceled):
		fmt.Fprintln(a.err, "thresh: interrupted")
		return 1
	default:
		fmt.Fprintln(a.err, "thresh: "+strings.TrimSpace(err.Error()))
		return 1
	}
}

// errReported says that everything there is to say has been printed.
var errReported = errors.New("already reported")

// usageError says that the command was called wrongly.
type usageError struct {
	command string
	err     error
}

func (e *usageError) Error() string { return e.err.Error() }
func (e *usageError) Unwrap() error { return e.err }
