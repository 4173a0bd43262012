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
	"github.com/thresh-dev/thresh/internal/conform"
	"github.com/thresh-dev/thresh/internal/conform/samples"
)

// errNotMeasured makes a check skip: this system offers no way to read the memory or CPU time of another process.
var errNotMeasured = errors.New("this system does not report the resource usage of other processes")

// checkMemory bounds the peak memory of a plugin while it handles the largest history. Hosts limit the memory of
// isolated plugins, and sessions share a process, so a strategy that copies the history several times gets killed in
// production. Errors of the calls themselves do not count here; a crash or OOM does.
func checkMemory(ctx context.Context, s *suite) (string, error) {
	p, err := s.up(ctx)
	if err != nil {
		return "", err
	}
	defer p.end()
	for _, op := range operations(p.info.Info) { // other checks judge the answers
		// The same process for both operations: what the first one keeps counts towards the second.
		err := p.callIn(ctx, s, rawCall{
			op: op, sample: s.strategies.Largest(), info: p.info.Info, settings: conform.Settings(p.info.Info, "", nil),
		})
		// An OOM kill shows up as a process that ended, since memory is limited for the process as a whole.
		if p.Gone(0) {
			return "", fmt.Errorf("it ended (%s) in %s of the history %q: %w", p.ExitState(), op,
				s.strategies.Largest().Name, err)
		}
		s.noticeHang(err)
	}
	// Of all processes in the plugin's group: a wrapper script and its interpreter are one plugin.
	peak, err := peakMemory(p.PID())
	if errors.Is(err, errNotMeasured) {
		return "", conform.Skipped(err.Error())
	}
	if err != nil {
		return "", err
	}
	if peak > s.bounds.memory {
		return "", fmt.Errorf("it took %d MiB for the history %q, at most %d MiB are allowed",
			peak>>20, s.strategies.Largest().Name, s.bounds.memory>>20)
	}
	return fmt.Sprintf("%d MiB at most", peak>>20), nil
}

// restTime is the length of one observation: a plugin that uses at most restCPU of CPU time in it counts as idle.
const restTime = 300 * time.Millisecond

// restCPU is the CPU time that an idle plugin may use within restTime. Language runtimes do some work in the
// background (garbage collection, timers), and CPU time comes in ticks of 10 ms.
const restCPU = 10 * time.Millisecond

// checkCancellation demands that work for a cancelled call stops. The host cancels a call when its deadline passes or
// the user interrupts the turn; a plugin that goes on burns CPU, or tokens of the model, for an answer that no one
// will read. Each operation is cancelled at work on the large sample, and a Compress also while it waits for the
// model.
func checkCancellation(ctx context.Context, s *suite) (string, error) {
	p, err := s.up(ctx)
	if err != nil {
		return "", err
	}
	// This process only tells which operations there are. Each attempt gets a fresh one, so leftovers of one do
	// not count against the next.
	p.end()
	var details []string
	try := func(op plugins.Op, sm samples.Sample, work time.Duration) error {
		p, err := s.upHolding(ctx, make(chan struct{}))
		if err != nil {
			return err
		}
		defer p.end()
		d, err := s.cancelOne(ctx, p, op, sm, work)
		if err != nil {
			return fmt.Errorf("%s: %w", op, fmt.Errorf("history %q: %w", sm.Name, err))
		}
		details = append(details, fmt.Sprintf("%s %s", op, d))
		return nil
	}
	// Of CPU time: enough for a plugin to have received the large sample. One that is done by then is fast enough.
	const begin = 500 * time.Millisecond
	for _, op := range operations(p.info.Info) {
		if err := try(op, s.strategies.Largest(), begin); err != nil {
			return "", err
		}
	}
	// With a model that never answers, the call reaches the model long before s.bounds.call has passed.
	if p.info.RequiresLLM {
		if err := try(plugins.OpCompress, s.strategies.Plain(), s.bounds.call); err != nil {
			return "", err
		}
	}
	return strings.Join(details, "; "), nil
}

// cancelOne starts a call, cancels it after work has passed or as soon as it waits for the model, and then watches
// the plugin with [ready.rests]. A plugin that answers before the cancellation passes: it is fast enough. The request
// must be complete first (sent), or only gRPC would have work to cancel.
func (s *suite) cancelOne(ctx context.Context, p ready, op plugins.Op, sm samples.Sample, work time.Duration) (
	string, error,
) {
	call, cancel := context.WithTimeout(ctx, s.bounds.call)
	defer cancel()
	sent, ended := make(chan struct{}), make(chan error, 1)
	go func() {
		ended <- p.call(call, rawCall{
			op: op, sample: sm, info: p.info.Info, settings: conform.Settings(p.info.Info, "", nil),
			sent: func() { close(sent) },
		})
	}()
	select {
	case <-sent:
	case err := <-ended:
		return "", fmt.Errorf("the call ended before the request was complete: %w", err)
	}
	where := "cancelled at work"
	select {
	case err := <-ended:
		if status.Code(err) == codes.DeadlineExceeded {
			return "", fmt.Errorf("it did not take the request: %w", err)
		}
		return "answered before it could be cancelled", nil
	case <-p.host.Reached:
		where = "cancelled while it waited for the model"
	case <-p.worked(call, work):
	}
	cancel()
	<-ended
	return where, p.rests(s.bounds.react)
}

// worked is closed when the plugin has had work of CPU time, or when that time has passed and it rests: on a machine
// under load, a process may not even have begun by then.
func (p ready) worked(ctx context.Context, work time.Duration) <-chan struct{} {
	done := make(chan struct{})
	go func() {
		defer close(done)
		start := time.Now()
		before, err := cpuTime(p.PID())
		tick := time.NewTicker(work / 10)
		defer tick.Stop()
		for used := time.Duration(0); err == nil && used < work; {
			if time.Since(start) > work && !runnable(p.PID()) {
				return
			}
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			var now time.Duration
			now, err = cpuTime(p.PID())
			used = now - before
		}
		if left := work - time.Since(start); err != nil && left > 0 {
			select {
			case <-ctx.Done():
			case <-time.After(left):
			}
		}
	}()
	return done
}

// rests returns an error if the plugin goes on working or waiting after its call was cancelled. For the time react it
// may still ask the host for services, and it may use react of CPU time in all. CPU time, unlike elapsed time, does
// not depend on the load of the machine, so a busy CI runner fails no healthy plugin. Where it cannot be measured
// (systems other than Linux), only requests to the host are judged.
func (p ready) rests(react time.Duration) error {
	// used adds up CPU time since the cancellation; elapsed time decides only when to stop looking.
	start, used := time.Now(), time.Duration(0)
	for {
		asked := p.host.Requests.Load()
		before, err := cpuTime(p.PID())
		measured := err == nil
		if p.Gone(restTime) {
			return fmt.Errorf("its process ended (%s)", p.ExitState())
		}
		late := time.Since(start) > react
		if n := p.host.Requests.Load() - asked; n > 0 && late {
			return fmt.Errorf("it still asks the host for services, %d times", n)
		}
		if !measured {
			if late {
				return p.stillWaits()
			}
			continue
		}
		// Fails if the process has ended between the two looks; the next round would say so, but the error is as good.
		after, err := cpuTime(p.PID())
		if err != nil {
			return err
		}
		used += after - before
		switch {
		case used > react:
			return fmt.Errorf("the call was cancelled %v ago, and it still computes (%v of CPU time since)",
				time.Since(start).Round(time.Millisecond), used)
		case late && after-before <= restCPU && !runnable(p.PID()):
			return p.stillWaits()
		}
	}
}

// stillWaits returns an error if the plugin still has a model call open. Such a wait uses no CPU time, so rests would
// not see it. The services here do not end with the call (see the package documentation), so only the plugin itself
// can have ended the request.
func (p ready) stillWaits() error {
	if p.host.Open.Load() > 0 {
		return errors.New("the call was cancelled a while ago, and it still waits for the model")
	}
	return nil
}
