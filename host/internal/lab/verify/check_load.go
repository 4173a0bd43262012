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
		err := p.callIn(ctx, s, rawCall{op: op, sample: s.large(), info: p.info.Info, settings: defaultsOf(p.info.Info)})
		if p.Gone(0) {
			return "", fmt.Errorf("it ended (%s) in %s of the history %q: %w", p.ExitState(), op, s.large().name, err)
		}
		s.noticeHang(err)
	}
	peak, err := peakMemory(p.PID())
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

// restTime is how long a plugin must not compute to count as resting.
const restTime = 300 * time.Millisecond

// restCPU is the processor time that a plugin may use within restTime and still count as resting: what the runtime of
// a language uses in the background.
const restCPU = 10 * time.Millisecond

func checkCancellation(ctx context.Context, s *suite) (string, error) {
	p, err := s.up(ctx)
	if err != nil {
		return "", err
	}
	p.end()
	var details []string
	try := func(op plugins.Op, sm sample, work time.Duration) error {
		p, err := s.upWith(ctx, &services{hold: make(chan struct{}), reached: make(chan struct{}, 1)})
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

// cancelOne cancels a call that has worked for a while, or waits for the model, and watches what the plugin goes on
// doing: waiting for the model, asking the host for something, or computing.
func (s *suite) cancelOne(ctx context.Context, p ready, op plugins.Op, sm sample, work time.Duration) (string, error) {
	call, cancel := context.WithTimeout(ctx, s.bounds.call)
	defer cancel()
	sent, ended := make(chan struct{}, 1), make(chan error, 1)
	go func() {
		ended <- p.call(call, rawCall{op: op, sample: sm, info: p.info.Info, settings: defaultsOf(p.info.Info), sent: func() { note(sent) }})
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
	case <-p.host.reached:
		where = "cancelled while it waited for the model"
	case <-timer.C:
	}
	cancel()
	<-ended
	return where, p.rests(s.bounds.react)
}

// rests returns an error if the plugin goes on working or waiting for something, though its call was cancelled. It
// may still use react of processor time, and ask the host for services for as long. Processor time does not depend on
// what else the machine is doing.
func (p ready) rests(react time.Duration) error {
	start, used := time.Now(), time.Duration(0)
	for {
		asked := p.host.tally.total()
		before, err := cpuTime(p.PID())
		measured := err == nil
		if p.Gone(restTime) {
			return fmt.Errorf("its process ended (%s)", p.ExitState())
		}
		late := time.Since(start) > react
		if n := p.host.tally.total() - asked; n > 0 && late {
			return fmt.Errorf("it still asks the host for services, %d times", n)
		}
		if !measured {
			if late {
				return p.stillWaits()
			}
			continue
		}
		after, err := cpuTime(p.PID())
		if err != nil {
			return err
		}
		used += after - before
		switch {
		case used > react:
			return fmt.Errorf("the call was cancelled %v ago, and it still computes (%v of processor time since)", time.Since(start).Round(time.Millisecond), used)
		case late && after-before <= restCPU:
			return p.stillWaits()
		}
	}
}

// stillWaits returns an error if the plugin waits for an answer of the model.
func (p ready) stillWaits() error {
	if p.host.tally.open.Load() > 0 {
		return errors.New("the call was cancelled a while ago, and it still waits for the model")
	}
	return nil
}
