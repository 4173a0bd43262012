package conform

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/internal/check"
	"github.com/thresh-dev/thresh/internal/conform/samples"
	"github.com/thresh-dev/thresh/sdk"
)

// usingServices returns the strategy if it calls any host service, as seen in its first Compress. Otherwise the checks
// on services have nothing to look at and are skipped.
func (r *Runner) usingServices(ctx context.Context) (sdk.Strategy, error) {
	s, err := r.compressing(ctx)
	if err != nil {
		return nil, err
	}
	if r.asked.Requests.Load() == 0 {
		return nil, Skipped("it asks the host for nothing")
	}
	return s, nil
}

// checkSlow demands that a Compress survives slow services. Real models take seconds to answer; a strategy with a short
// timeout of its own would work in tests and fail with them.
func checkSlow(ctx context.Context, r *Runner) (string, error) {
	s, err := r.usingServices(ctx)
	if err != nil {
		return "", err
	}
	host := r.newHost()
	host.delay = r.Limits.Slow
	if _, err := r.compress(ctx, s, r.Plain(), host); err != nil {
		return "", fmt.Errorf("with %v for each answer of the host: %w", r.Limits.Slow, err)
	}
	return fmt.Sprintf("requests: %d, of which to the model: %d", host.Requests.Load(), host.Generations.Load()), nil
}

// checkFailing demands that a failing service fails at most the call, and that the error code is passed on. The host
// retries on UNAVAILABLE; a strategy that wraps it in another code makes a short outage of a provider look permanent.
// One that answers a no-op instead leaves a user without compression, and nobody says why; it may go on without the
// service. A panic counts as a failure even though it is caught: in another language it would have been a crash.
func checkFailing(ctx context.Context, r *Runner) (string, error) {
	// Each is something that a real host does: budgets run out, providers break off streams, and models answer off the
	// point. The descriptions complete "when …".
	ways := map[string]faults{
		"the prompt is not found": {promptErr: fmt.Errorf("%w: no such prompt", sdk.ErrNotFound)},
		"the model breaks off in mid-answer": {
			generateErr: fmt.Errorf("%w: connection lost", sdk.ErrUnavailable), breakOff: true,
		},
		"the model's budget is spent":                {generateErr: fmt.Errorf("%w: no tokens left", sdk.ErrBudgetSpent)},
		"the model is not granted":                   {generateErr: fmt.Errorf("%w: no profile", sdk.ErrNotGranted)},
		"the model fails":                            {generateErr: errors.New("the model is on fire")},
		"the model answers nothing but blanks":       {text: " \n"},
		"the model answers something else":           {text: "I'm sorry, I can't do that.\n"},
		"every count fails":                          {estimateErr: errors.New("no tokenizer")},
		"every count is unavailable, and may return": {estimateErr: fmt.Errorf("%w: busy", sdk.ErrUnavailable)},
		"the model is unavailable, and may return":   {generateErr: fmt.Errorf("%w: busy", sdk.ErrUnavailable)},
	}
	around := 0
	failed, err := r.provoke(ctx, ways, func(way string, host *Host, c compressed, err error) error {
		switch met := host.failures.Load() > 0; {
		case met && err == nil && c.NoOp != "" && r.idle == "":
			return &check.Error{Index: -1, Err: ErrSwallowed, Detail: "when " + way, Came: string(c.NoOp)}
		case met && err == nil:
			around++
		}
		for _, cause := range []error{host.estimateErr, host.generateErr} {
			if errors.Is(cause, sdk.ErrUnavailable) && err != nil && host.failures.Load() > 0 &&
				!errors.Is(err, sdk.ErrUnavailable) {
				return fmt.Errorf("the error's code is not passed on as UNAVAILABLE, "+
					"so the host does not know that a retry can help: %w", err)
			}
		}
		return nil
	})
	if err != nil {
		return "", err
	}
	if failed == 0 && r.idle != "" {
		return "", Unseen(fmt.Sprintf("it answers %s for the history %q, also while no service fails", r.idle, samples.Plain))
	}
	return fmt.Sprintf("%d ways to fail, of which %d made the call fail, and %d did not as it went on without; the plugin lives",
		len(ways), failed, around), nil
}

// checkHuge demands that enormous answers of services fail at most the call. Models get stuck in repetitions, and users
// put whole documents in a prompt file. Counts near 2^40 tokens overflow sums in 32-bit integers.
func checkHuge(ctx context.Context, r *Runner) (string, error) {
	// Lines, as text with line breaks and text without them take different paths in most programs.
	line := strings.Repeat("all of it ", 10_000) + "\n"
	ways := map[string]faults{
		"the prompt has 2 MB":    {prompt: strings.Repeat(line, 20)},
		"the model answers 8 MB": {text: "<state_snapshot>\n" + strings.Repeat(line, 80) + "</state_snapshot>"},
		// Added to every count alike, so comparisons between counts still come out right.
		"counts are near the limit":    {extra: 1 << 40},
		"the model answers one letter": {text: strings.Repeat("z", 4<<20)},
	}
	refused, err := r.provoke(ctx, ways, func(string, *Host, compressed, error) error { return nil })
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%d enormous answers, of which %d made the call fail; the plugin lives", len(ways), refused), nil
}

// provoke compresses while host services fail or answer something enormous, one way at a time: combinations would
// multiply the run and have found nothing more. judge looks at the outcome of each call. made is how many calls failed.
func (r *Runner) provoke(
	ctx context.Context, ways map[string]faults, judge func(way string, host *Host, c compressed, err error) error,
) (made int, err error) {
	s, err := r.usingServices(ctx)
	if err != nil {
		return 0, err
	}
	for _, way := range slices.Sorted(maps.Keys(ways)) { // the same order in every run
		host := r.newHost()
		host.faults = ways[way]
		c, err := r.compress(ctx, s, r.Plain(), host)
		if err != nil {
			made++
		}
		wrong := r.survives(ctx, s, err)
		if wrong == nil {
			wrong = judge(way, host, c, err)
		}
		if wrong != nil {
			return 0, fmt.Errorf("when %s: %w", way, wrong)
		}
	}
	return made, nil
}

// survives judges the error of a Compress during which a host service failed. The strategy may fail, but it may not
// crash, hang, panic or answer what the host refuses, and the next call must work: one failed model call must not leave
// the plugin in a bad state for all other sessions of the host.
func (r *Runner) survives(ctx context.Context, s sdk.Strategy, err error) error {
	if err != nil && (lost(err) || wrong(err)) {
		return err
	}
	if _, err := r.compress(ctx, s, r.Plain(), r.newHost()); err != nil {
		return fmt.Errorf("the next call fails: %w", err)
	}
	return nil
}
