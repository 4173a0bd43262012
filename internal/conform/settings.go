package conform

import (
	"context"
	"errors"
	"fmt"

	"github.com/thresh-dev/thresh/internal/conform/samples"
	"github.com/thresh-dev/thresh/internal/text"
	"github.com/thresh-dev/thresh/sdk"
)

// checkSettings demands that a call follows its own settings: sessions of one process can have different ones. An answer
// of a process that had calls with others is compared with one of a process that had none.
func checkSettings(ctx context.Context, r *Runner) (string, error) {
	s, err := r.shared(ctx)
	if err != nil {
		return "", err
	}
	if len(r.info.Config) == 0 {
		return "", Skipped("it declares no settings")
	}
	_, err = r.compressing(ctx)
	if unusable := errors.As(err, new(Skipped)); err != nil && (!unusable || r.info.Trigger.Mode != sdk.ModeContinuous) {
		return "", err
	}
	sm := samples.Mixed(samples.Matters(), 1)
	defaults, err := r.both(ctx, s, r.around, sm)
	if err != nil {
		return "", err
	}
	alone := func(a *Around) (answers, error) {
		other, _, end, err := r.fresh(ctx)
		if err != nil {
			return answers{}, err
		}
		defer end()
		return r.both(ctx, other, a, sm)
	}
	var found Findings
	tried, followed := 0, 0
	for _, f := range r.info.Config {
		for _, value := range Edges(f) {
			if tried == r.Limits.Settings && tried > 0 {
				break
			}
			tried++
			a, err := r.around.with(f.Key, value)
			if err != nil {
				return "", err
			}
			among, err := r.both(ctx, s, &a, sm)
			if err != nil {
				return "", err
			}
			first, err := alone(&a)
			if err != nil {
				return "", err
			}
			how := fmt.Sprintf("%s = %s, the first call of a process and one after calls with other settings", f.Key,
				text.OneLine(string(value), 100))
			// A value that is right by itself may not go with the others: other checks complain of what fails.
			if first.pruning.failed == "" && among.pruning.failed == "" {
				if e := first.pruning.different(ErrSettings, among.pruning, "Optimize: "+how); e != nil {
					found.Judged(sm.Name, e)
				}
			}
			if first.squeezed != among.squeezed && !first.squeezed.failed && !among.squeezed.failed {
				// A Compress may answer at random: another process has to agree with the first one.
				if again, err := alone(&a); err == nil && again.squeezed == first.squeezed {
					found.Judged(sm.Name, first.squeezed.different(ErrSettings, among.squeezed, "Compress: "+how))
				}
			}
			if first.squeezed != defaults.squeezed || first.pruning.different(ErrSettings, defaults.pruning, "") != nil {
				followed++
			}
		}
	}
	if err := found.Err(); err != nil {
		return "", err
	}
	if followed == 0 {
		return "", Unseen(fmt.Sprintf("%d values of settings change nothing in the history %q", tried, sm.Name))
	}
	return fmt.Sprintf("%d values, of which %d change the answer", tried, followed), nil
}

// answers are what a strategy makes of a history with some settings.
type answers struct {
	pruning  pruning
	squeezed squeezed
}

// both asks for all that the strategy can do. The error says that it is lost.
func (r *Runner) both(ctx context.Context, s sdk.Strategy, a *Around, sm samples.Sample) (out answers, err error) {
	if o, err := r.optimizer(s); err == nil {
		got, err := o.Optimize(ctx, a.OptimizeInput("settings", sm.History))
		if out.pruning, err = prunes(ctx, got, err); err != nil {
			return out, on(sm.Name, err)
		}
	}
	if r.unusable == nil {
		out.squeezed, err = r.comes(ctx, s, "settings", a, sm)
	}
	return out, err
}
