package conform

import (
	"context"
	"errors"
	"fmt"

	"github.com/thresh-dev/thresh/internal/conform/samples"
	"github.com/thresh-dev/thresh/internal/text"
	"github.com/thresh-dev/thresh/sdk"
)

// checkSettings demands that a call follows its own settings: sessions of one process can have different ones. An
// answer of a process that had calls with others is compared with one of a process that had none.
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
	alone := func(a *Around) ([]reply, error) {
		other, _, end, err := r.fresh(ctx)
		if err != nil {
			return nil, err
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
			follows := false
			for k := range first {
				follows = follows || first[k].different(ErrSettings, defaults[k], "") != nil
				e := first[k].different(ErrSettings, among[k], how)
				// A value that is right by itself may not go with the others: other checks complain of what fails.
				if e == nil || first[k].failed || among[k].failed {
					continue
				}
				// A Compress may answer at random: another process has to agree with the first one.
				if again, err := alone(&a); err == nil && first[k].different(ErrSettings, again[k], "") == nil {
					found.Judged(sm.Name, e)
				}
			}
			if follows {
				followed++
			}
		}
	}
	if err := found.Err(); err == nil && followed == 0 {
		return "", Unseen(fmt.Sprintf("%d values of settings change nothing in the history %q", tried, sm.Name))
	}
	return fmt.Sprintf("%d values, of which %d change the answer", tried, followed), found.Err()
}

// both asks for all that the strategy can do.
func (r *Runner) both(ctx context.Context, s sdk.Strategy, a *Around, sm samples.Sample) (out []reply, _ error) {
	if o, err := r.optimizer(s); err == nil {
		got, err := o.Optimize(ctx, a.OptimizeInput("settings", sm.History))
		p, err := replied(ctx, sm.Name, pruned(got), err)
		if err != nil {
			return nil, err
		}
		out = append(out, p)
	}
	if r.unusable == nil {
		c, err := r.squeezing(ctx, s, "settings", a, sm)
		return append(out, c), err
	}
	return out, nil
}
