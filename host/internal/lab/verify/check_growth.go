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
	"github.com/thresh-dev/thresh/internal/check"
	"github.com/thresh-dev/thresh/internal/conform"
	"github.com/thresh-dev/thresh/internal/conform/samples"
)

// checkGrowth bounds how the processor time of a call grows with the history. Processor time does not depend on the load
// of the machine.
func checkGrowth(ctx context.Context, s *suite) (string, error) {
	p, err := s.up(ctx)
	if err != nil {
		return "", err
	}
	defer p.end()
	if _, err := cpuTime(p.PID()); errors.Is(err, errNotMeasured) {
		return "", skipped(err.Error())
	}
	many := newSample(samples.Many(s.bounds.many))
	few := sample{name: many.name, entries: many.entries[:s.bounds.many/conform.Growth]}
	var found findings
	var details []string
	for _, op := range operations(p.info.Info) {
		var took [2]time.Duration
		for i, sm := range []sample{few, many} {
			took[i], err = s.took(ctx, p, op, sm)
			if err != nil {
				return "", err
			}
		}
		if e := conform.Grows(string(op), len(few.entries), len(many.entries), took[0], took[1]); e != nil {
			found.judged(many.name, e)
		}
		details = append(details, fmt.Sprintf("%s %v, then %v", op, took[0], took[1]))
	}
	if err := found.err(); err != nil {
		return "", err
	}
	return fmt.Sprintf("%d and %d entries: %s", len(few.entries), len(many.entries), strings.Join(details, "; ")), nil
}

// took returns the processor time of a call. A call that fails other than by its time limit is for other checks to find.
func (s *suite) took(ctx context.Context, p ready, op plugins.Op, sm sample) (time.Duration, error) {
	before, err := cpuTime(p.PID())
	if err != nil {
		return 0, err
	}
	err = p.callIn(ctx, s, rawCall{op: op, sample: sm, info: p.info.Info, settings: defaultsOf(p.info.Info)})
	if status.Code(err) == codes.DeadlineExceeded {
		var found findings
		found.judged(sm.name, &check.Error{Index: -1, Err: conform.ErrSlow,
			Detail: fmt.Sprintf("%s of %d entries gave no answer for %v", op, len(sm.entries), s.bounds.call)})
		return 0, found.err()
	}
	after, err := cpuTime(p.PID())
	return after - before, err
}
