package verify

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/thresh-dev/thresh/host/internal/plugins"
)

// errNotMeasured says that this system does not tell what a process uses.
var errNotMeasured = errors.New("this system does not tell what another process uses")

func checkMemory(ctx context.Context, s *suite) (string, error) {
	p, err := s.up(ctx)
	if err != nil {
		return "", err
	}
	defer p.end()
	for _, op := range operations(p.info.Info) { // what the calls come to is for others to judge
		err := p.callIn(ctx, s, bareCall{op: op, sample: s.large(), info: p.info.Info, settings: defaultsOf(p.info.Info)})
		if p.gone(0) {
			return "", fmt.Errorf("it ended (%v) in %s of the history %q: %w", p.cmd.ProcessState, op, s.large().name, err)
		}
		s.noticeHang(err)
	}
	peak, err := peakMemory(p.cmd.Process.Pid)
	if errors.Is(err, errNotMeasured) {
		return "", skipped(err.Error())
	}
	if err != nil {
		return "", err
	}
	if peak > s.bounds.memory {
		return "", fmt.Errorf("it took %d MiB for the history %q, at most %d MiB are allowed", peak>>20, s.large().name, s.bounds.memory>>20)
	}
	return fmt.Sprintf("%d MiB at most", peak>>20), nil
}

// restTime is for how long a plugin is watched after the time it has to stop working.
const restTime = 300 * time.Millisecond

func checkCancellation(ctx context.Context, s *suite) (string, error) {
	p, err := s.up(ctx)
	if err != nil {
		return "", err
	}
	p.end()
	var details []string
	try := func(op plugins.Op, sm sample, work time.Duration) error {
		p, err := s.upWith(ctx, hangs)
		if err != nil {
			return err
		}
		defer p.end()
		d, err := s.cancelOne(ctx, p, op, sm, work)
		if err != nil {
			return fmt.Errorf("%s: %w", op, on(&sm, err))
		}
		details = append(details, fmt.Sprintf("%s %s", op, d))
		return nil
	}
	const begin = 50 * time.Millisecond
	for _, op := range operations(p.info.Info) {
		if err := try(op, s.large(), begin); err != nil {
			return "", err
		}
	}
	if p.info.RequiresLLM {
		if err := try(plugins.OpCompress, s.plain(), s.bounds.call); err != nil {
			return "", err
		}
	}
	return strings.Join(details, "; "), nil
}

// cancelOne cancels a call that has worked for a while, or waits for the model, and watches what the plugin goes on doing:
// waiting for the model, asking the host for something, or computing.
func (s *suite) cancelOne(ctx context.Context, p ready, op plugins.Op, sm sample, work time.Duration) (string, error) {
	call, cancel := context.WithTimeout(ctx, s.bounds.call)
	defer cancel()
	sent, ended := make(chan struct{}, 1), make(chan error, 1)
	go func() {
		ended <- p.call(call, bareCall{op: op, sample: sm, info: p.info.Info, settings: defaultsOf(p.info.Info), sent: func() { note(sent) }})
	}()
	select {
	case <-sent:
	case err := <-ended:
		return "", fmt.Errorf("the call ended before the request was complete: %w", err)
	}
	timer := time.NewTimer(work)
	defer timer.Stop()
	where := "cancelled at work"
	select {
	case err := <-ended:
		if status.Code(err) == codes.DeadlineExceeded {
			return "", fmt.Errorf("it did not take the request: %w", err)
		}
		return "answered before it could be cancelled", nil
	case <-p.host.generating:
		where = "cancelled while it waited for the model"
	case <-timer.C:
	}
	cancel()
	<-ended
	if p.gone(s.bounds.react) {
		return "", fmt.Errorf("its process ended (%v)", p.cmd.ProcessState)
	}
	return where, p.rests()
}

// rests returns an error if the plugin works or waits for something, though it has no call to do that for.
func (p ready) rests() error {
	if p.host.open.Load() > 0 {
		return errors.New("the call was cancelled a while ago, and it still waits for the model")
	}
	pid := p.cmd.Process.Pid
	asked := p.host.requests.Load()
	before, err := cpuTime(pid)
	measured := err == nil
	if p.gone(restTime) {
		return fmt.Errorf("its process ended (%v)", p.cmd.ProcessState)
	}
	if n := p.host.requests.Load() - asked; n > 0 {
		return fmt.Errorf("it still asks the host for services, %d times", n)
	}
	if !measured {
		return nil
	}
	after, err := cpuTime(pid)
	if err != nil {
		return err
	}
	if used := after - before; used > restTime/6 {
		return fmt.Errorf("the call was cancelled a while ago, and it still computes (%v of %v)", used, restTime)
	}
	return nil
}
