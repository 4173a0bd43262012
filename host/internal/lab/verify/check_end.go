package verify

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"time"
)

// checkSIGINT demands that a plugin ignores SIGINT. Ctrl-C in a terminal reaches the whole foreground process group.
// If plugins died from it, the host could not complete the turn in progress or end its sessions in order.
func checkSIGINT(ctx context.Context, s *suite) (string, error) {
	p, err := s.up(ctx)
	if err != nil {
		return "", err
	}
	defer p.end()
	// To the process itself and not to its group, since the plugin leads a group of its own.
	if err := p.Signal(syscall.SIGINT); err != nil {
		return "", fmt.Errorf("sending SIGINT: %w", err)
	}
	// A process without a handler is gone at once. The GetInfo below catches one that is merely slow to die.
	if p.Gone(300 * time.Millisecond) {
		return "", fmt.Errorf("it exited (%s) on SIGINT; only the host decides when a plugin exits", p.ExitState())
	}
	if _, err := p.getInfo(ctx); err != nil {
		return "", fmt.Errorf("after SIGINT it no longer answers: %w", err)
	}
	return "", nil
}

// checkSIGTERM demands a clean exit within the host's stop timeout. Otherwise the host sends SIGKILL, and every
// shutdown of every host takes that much longer. Exit code 0 lets the host tell a requested exit from a crash.
func checkSIGTERM(ctx context.Context, s *suite) (string, error) {
	p, err := s.up(ctx)
	if err != nil {
		return "", err
	}
	defer p.end()
	start := time.Now()
	if err := p.Signal(syscall.SIGTERM); err != nil {
		return "", fmt.Errorf("sending SIGTERM: %w", err)
	}
	if !p.Gone(s.bounds.stop) {
		return "", fmt.Errorf("it is still running %v after SIGTERM, and would get SIGKILL", s.bounds.stop)
	}
	if code := p.ExitCode(); code != 0 {
		return "", fmt.Errorf("on SIGTERM it exited with %s; exit with 0", p.ExitState())
	}
	return fmt.Sprintf("gone after %d ms", time.Since(start).Milliseconds()), nil
}

// checkLifeline demands that a plugin exits when its host is gone. A host killed with SIGKILL cannot stop its
// plugins, which would then stay as orphans. The lifeline is a pipe that the host holds open: it reads as end-of-file
// as soon as the kernel closes the host's descriptors.
func checkLifeline(ctx context.Context, s *suite) (string, error) {
	p, err := s.up(ctx)
	if err != nil {
		return "", err
	}
	defer p.end()
	start := time.Now()
	p.BreakLifeline() // only the pipe: a broken gRPC connection would make some plugins exit and hide the fault
	if !p.Gone(s.bounds.react) {
		return "", errors.New("it outlives its host: " + fmt.Sprint(s.bounds.react) +
			" after the lifeline (descriptor THRESH_LIFELINE_FD) broke it is still running; " +
			"read the descriptor in the background, and exit at end-of-file")
	}
	return fmt.Sprintf("gone after %d ms", time.Since(start).Milliseconds()), nil
}
