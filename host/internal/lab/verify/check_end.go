package verify

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"time"
)

func checkSIGINT(ctx context.Context, s *suite) (string, error) {
	p, err := s.up(ctx)
	if err != nil {
		return "", err
	}
	defer p.end()
	if err := p.Signal(syscall.SIGINT); err != nil {
		return "", fmt.Errorf("sending SIGINT: %w", err)
	}
	if p.Gone(300 * time.Millisecond) {
		return "", fmt.Errorf("it ended (%s) upon SIGINT; the host decides when it is to end", p.ExitState())
	}
	if _, err := p.getInfo(ctx); err != nil {
		return "", fmt.Errorf("after SIGINT it does not answer any more: %w", err)
	}
	return "", nil
}

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
		return "", fmt.Errorf("it is still there %v after SIGTERM, and would get SIGKILL", s.bounds.stop)
	}
	if code := p.ExitCode(); code != 0 {
		return "", fmt.Errorf("upon SIGTERM it ended with %s; exit with 0", p.ExitState())
	}
	return fmt.Sprintf("gone after %d ms", time.Since(start).Milliseconds()), nil
}

func checkLifeline(ctx context.Context, s *suite) (string, error) {
	p, err := s.up(ctx)
	if err != nil {
		return "", err
	}
	defer p.end()
	start := time.Now()
	p.BreakLifeline() // as the system does for a host that was killed; the connection stays as it is
	if !p.Gone(s.bounds.react) {
		return "", errors.New("it outlives its host: " + fmt.Sprint(s.bounds.react) +
			" after the lifeline (descriptor THRESH_LIFELINE_FD) broke it is still there; read it in the background, and exit at end-of-file")
	}
	return fmt.Sprintf("gone after %d ms", time.Since(start).Milliseconds()), nil
}
