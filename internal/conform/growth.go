package conform

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/thresh-dev/thresh/internal/check"
	"github.com/thresh-dev/thresh/internal/conform/samples"
)

// growth is how many times as long the longer of two histories is that show how time grows.
const growth = 4

// grows judges the times that a call took for two histories, of which the second is [growth] times as long. What is
// done in a second is fast enough, and a run that is twice as slow as it should be is no proof: squares make it 16
// times.
func grows(op string, few, many int, short, long time.Duration) *check.Error {
	if long < time.Second || long < 9*max(short, 10*time.Millisecond) {
		return nil
	}
	return whole(ErrSlow, "%s took %v for %d entries and %v for %d", op, short, few, long, many)
}

// checkGrowth bounds how the processor time of a call grows with the history. Processor time does not depend on the
// load of the machine.
func checkGrowth(ctx context.Context, r *Runner) (string, error) {
	s, _, end, err := r.fresh(ctx)
	if err != nil {
		return "", err
	}
	defer end()
	many := samples.Many(r.Limits.Many)
	few := samples.Sample{Name: many.Name, History: many.History[:r.Limits.Many/growth]}
	o, _ := r.optimizer(s)
	var found Findings
	var details []string
	for _, op := range []string{"Optimize", "Compress"} {
		if op == "Optimize" && o == nil {
			continue
		}
		var took [2]time.Duration
		for i, sm := range []samples.Sample{few, many} {
			in, compress, host := r.around.OptimizeInput("g", sm.History), r.around.CompressInput("g", sm.History), r.newHost()
			call := func() error { _, err := s.Compress(ctx, host, compress); return err }
			if op == "Optimize" {
				call = func() error { _, err := o.Optimize(ctx, in); return err }
			}
			took[i], err = r.Subject.Timed(ctx, s, call)
			slow, isLost := errors.AsType[*Lost](err)
			switch {
			case isLost && slow.Late:
				found.Judged(sm.Name, whole(ErrSlow, "%s of %d entries gave no answer in time", op, len(sm.History)))
				return "", found.Err()
			case isLost || errors.As(err, new(Skipped)):
				return "", err
			}
			// Another error is for other checks to find.
		}
		if e := grows(op, len(few.History), len(many.History), took[0], took[1]); e != nil {
			found.Judged(many.Name, e)
		}
		details = append(details, fmt.Sprintf("%s %v, then %v", op, took[0], took[1]))
	}
	return fmt.Sprintf("%d and %d entries: %s", len(few.History), len(many.History), strings.Join(details, "; ")),
		found.Err()
}
