package verify

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/host/internal/plugins"
	"github.com/thresh-dev/thresh/internal/check"
	"github.com/thresh-dev/thresh/internal/conform"
	"github.com/thresh-dev/thresh/internal/conform/samples"
	"github.com/thresh-dev/thresh/sdk"
)

// failing returns the ways in which host services fail, by a description that completes "when …". Each is something
// that a real host does: budgets run out, providers break off streams, and models answer off the point. Each run of the
// check makes new ones, as they count requests.
func failing() map[string]*services {
	return map[string]*services{
		"the prompt is not found": {promptErr: fmt.Errorf("%w: no such prompt", sdk.ErrNotFound)},
		"the model breaks off in mid-answer": {
			generateErr: fmt.Errorf("%w: connection lost", sdk.ErrUnavailable), breakOff: true,
		},
		"the model's budget is spent": {generateErr: fmt.Errorf("%w: no tokens left",
			sdk.ErrBudgetSpent)},
		"the model is not granted":                   {generateErr: fmt.Errorf("%w: no profile", sdk.ErrNotGranted)},
		"the model fails":                            {generateErr: errors.New("the model is on fire")},
		"the model answers nothing but blanks":       {text: " \n"},
		"the model answers something else":           {text: "I'm sorry, I can't do that.\n"},
		"every count fails":                          {estimateErr: errors.New("no tokenizer")},
		"every count is unavailable, and may return": {estimateErr: fmt.Errorf("%w: busy", sdk.ErrUnavailable)},
		"the model is unavailable, and may return":   {generateErr: fmt.Errorf("%w: busy", sdk.ErrUnavailable)},
	}
}

// provoke compresses while host services fail or answer something enormous, one way at a time: combinations would
// multiply the run and have found nothing more. judge looks at the outcome of each call. made is
// how many calls failed.
func (s *suite) provoke(
	ctx context.Context, ways map[string]*services, judge func(way string, c compressed, err error) error,
) (made int, err error) {
	st, err := s.usingServices(ctx)
	if err != nil {
		return 0, err
	}
	for _, way := range slices.Sorted(maps.Keys(ways)) { // the same order in every run
		c, err := compress(ctx, st, s.plain(), ways[way])
		if err != nil {
			made++
		}
		wrong := s.survives(ctx, st, err)
		if wrong == nil && err != nil && panicked(err) {
			wrong = err
		}
		if wrong == nil {
			wrong = judge(way, c, err)
		}
		if wrong != nil {
			return 0, fmt.Errorf("when %s: %w", way, wrong)
		}
	}
	return made, nil
}

// checkServicesFailing demands that a failing service fails at most the call, and that the error code is passed on.
// The host retries on UNAVAILABLE; a strategy that wraps it in another code makes a short outage of a provider look
// permanent. One that answers a no-op instead leaves a user without compression, and nobody says why; it may go on without
// the service. A panic counts as a failure even though the SDK catches it: in another language it would have been a
// crash.
func checkServicesFailing(ctx context.Context, s *suite) (string, error) {
	ways := failing()
	around := 0
	failed, err := s.provoke(ctx, ways, func(way string, c compressed, err error) error {
		host := ways[way]
		switch met := host.tally.failures.Load() > 0; {
		case met && err == nil && c.noOp != "" && s.idle == "":
			return &check.Error{Index: -1, Err: conform.ErrSwallowed, Detail: "when " + way, Came: string(c.noOp)}
		case met && err == nil:
			around++
		}
		failure, ok := errors.AsType[*plugins.Error](err)
		for _, cause := range []error{host.estimateErr, host.generateErr} {
			if errors.Is(cause, sdk.ErrUnavailable) && ok && !failure.Retryable {
				return fmt.Errorf("the error's code is not passed on as UNAVAILABLE, "+
					"so the host does not know that a retry can help: %w", err)
			}
		}
		return nil
	})
	if err != nil {
		return "", err
	}
	if failed == 0 && s.idle != "" {
		return "", nothing(fmt.Sprintf("it answers %s for the history %q, also while no service fails", s.idle, samples.Plain))
	}
	return fmt.Sprintf("%d ways to fail, of which %d made the call fail, and %d did not as it went on without; the plugin lives",
		len(ways), failed, around), nil
}

// panicked reports whether a strategy's error is a panic that the SDK recovered from. It matches the SDK's text, as
// the protocol has no code for it; plugins without the SDK simply crash.
func panicked(err error) bool { return strings.Contains(err.Error(), "panic in ") }

// checkServicesHuge demands that enormous answers of services fail at most the call. Models get stuck in repetitions,
// and users put whole documents in a prompt file. Counts near 2^40 tokens overflow sums in 32-bit integers.
func checkServicesHuge(ctx context.Context, s *suite) (string, error) {
	// Lines, as text with line breaks and text without them take different paths in most programs.
	line := strings.Repeat("all of it ", 10_000) + "\n"
	ways := map[string]*services{
		"the prompt has 2 MB":    {prompt: strings.Repeat(line, 20)},
		"the model answers 8 MB": {text: "<state_snapshot>\n" + strings.Repeat(line, 80) + "</state_snapshot>"},
		// Added to every count alike, so comparisons between counts still come out right.
		"counts are near the limit":    {extra: 1 << 40},
		"the model answers one letter": {text: strings.Repeat("z", 4<<20)},
	}
	refused, err := s.provoke(ctx, ways, func(string, compressed, error) error { return nil })
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%d enormous answers, of which %d made the call fail; the plugin lives", len(ways), refused), nil
}
