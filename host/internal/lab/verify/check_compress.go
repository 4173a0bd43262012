package verify

import (
	"context"
	"errors"
	"fmt"

	"github.com/thresh-dev/thresh/host/internal/plugins"
)

// eachCompressed compresses all samples and passes each result to judge. It stops at the first error: the report has
// room for one detail, and the first finding is the one to fix. withLarge adds the large sample, which takes about as
// long as all others together. n is the number of samples.
func (s *suite) eachCompressed(ctx context.Context, withLarge bool, judge func(compressed) error) (n int, err error) {
	st, err := s.compressing(ctx)
	if err != nil {
		return 0, err
	}
	all := s.small()
	if withLarge {
		all = s.all()
	}
	for _, sm := range all {
		// Services of its own for each call, so that the counts of one sample do not mix with those of another.
		c, err := compress(ctx, st, sm, &services{})
		if err == nil {
			err = judge(c)
		}
		if err != nil {
			return 0, err
		}
	}
	return len(all), nil
}

// checkCompressValid demands that the host's validator accepts every answer, also when the strategy gets its own
// result back as input: in a long session a history is compressed many times, and a strategy that cannot handle its
// own summaries fails there only, hours in.
func checkCompressValid(ctx context.Context, s *suite) (string, error) {
	// How many samples were compressed. A strategy that answers each with a no-op passes, and the report shows the 0.
	made := 0
	n, err := s.eachCompressed(ctx, true, func(c compressed) error {
		// Nothing was made that could be compressed again.
		if c.noOp != "" {
			return nil
		}
		made++
		// Asked for again, because a call that hung replaces the plugin's process in between.
		st, err := s.strategy(ctx)
		if err != nil {
			return err
		}
		if _, err := compress(ctx, st, c.after, &services{}); err != nil {
			return fmt.Errorf("run on its own result: %w", err)
		}
		return nil
	})
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%d histories, %d of them compressed, those twice", n, made), nil
}

// checkCompressHuman demands that entries of people do not disappear silently. A strategy may drop or merge them, but
// must then say so in its metadata: that is how a user learns that an instruction is no longer in the history. The
// large sample is left out; searching its text for quotes would dominate the run.
func checkCompressHuman(ctx context.Context, s *suite) (string, error) {
	// Over all samples, for the report. Each sample is judged by itself: a strategy may not make up in one for another.
	lostAll, ofAll := 0, 0
	_, err := s.eachCompressed(ctx, false, func(c compressed) error {
		lost, of := gone(c)
		lostAll, ofAll = lostAll+lost, ofAll+of
		if said := announced(c); lost > said {
			return on(&c.given, fmt.Errorf("%d of %d entries of people are gone, and the metadata speaks of %d: "+
				"count what is dropped, or say what was preserved", lost, of, said))
		}
		return nil
	})
	if err != nil {
		return "", err
	}
	if lostAll == 0 {
		return fmt.Sprintf("all %d entries of people are kept", ofAll), nil
	}
	return fmt.Sprintf("%d of %d entries of people are gone, and counted", lostAll, ofAll), nil
}

// checkCompressTarget demands that a Compress reaches its target or reports that it did not (target_missed). Without
// that flag the host would take the result for a success and call again on the next turn. An answer that is not
// smaller is always wrong: it costs the prompt cache and gains nothing; the right answer is a no-op. An equal count
// with fewer entries passes, as token counts are estimates.
func checkCompressTarget(ctx context.Context, s *suite) (string, error) {
	reached, missed, nothing := 0, 0, 0
	_, err := s.eachCompressed(ctx, true, func(c compressed) error {
		before, after := c.given.tokens(), c.after.tokens()
		switch {
		case c.noOp != "":
			nothing++
		case after > before, after == before && len(c.after.entries) == len(c.given.entries):
			return on(&c.given, fmt.Errorf(
				"the result is not smaller: %d tokens, before %d; answer a no-op with a reason instead", after, before))
		// Must stand before the size is judged: a miss that is admitted is no fault, however large the result.
		case c.metadata.TargetMissed:
			missed++
		// The target is the one that the call named, so that a strategy cannot misread it.
		case float64(after) > c.target:
			return on(&c.given, fmt.Errorf("the result has %d tokens, the target is %.0f "+
				"(threshold × context limit × 0.6), and target_missed is not set", after, c.target))
		default:
			reached++
		}
		return nil
	})
	if err != nil {
		return "", err
	}
	return fmt.Sprintf(
		"reached %d times, missed and said so %d times, nothing to do %d times", reached, missed, nothing), nil
}

// usingServices returns the plugin if it calls any host service, as seen in its first Compress. Otherwise the checks
// on services have nothing to look at and are skipped.
func (s *suite) usingServices(ctx context.Context) (*plugins.Strategy, error) {
	st, err := s.compressing(ctx)
	if err != nil {
		return nil, err
	}
	// Strategies that only cut need neither the model nor counts of their own.
	if s.asked.total() == 0 {
		return nil, skipped("it asks the host for nothing")
	}
	return st, nil
}

// checkServicesSlow demands that a Compress survives slow services. Real models take seconds to answer; a strategy
// with a short timeout of its own would work in tests and fail with them.
func checkServicesSlow(ctx context.Context, s *suite) (string, error) {
	st, err := s.usingServices(ctx)
	if err != nil {
		return "", err
	}
	// The delay is per request and per piece of streamed text, so that a call may take many times as long.
	host := &services{delay: s.bounds.slow}
	if _, err := compress(ctx, st, s.plain(), host); err != nil {
		return "", fmt.Errorf("with %v for each answer of the host: %w", s.bounds.slow, err)
	}
	return host.tally.String(), nil
}

// survives judges the error of a Compress during which a host service failed. The strategy may fail (ErrStrategy),
// but its process may not crash or hang, and the next call must work: one failed model call must not leave the plugin
// in a bad state for all other sessions of the host.
func (s *suite) survives(ctx context.Context, st *plugins.Strategy, err error) error {
	// A crash, a timeout, a broken stream: faults of the process, which no service may cause.
	if err != nil && !errors.Is(err, plugins.ErrStrategy) {
		return err
	}
	if _, err := compress(ctx, st, s.plain(), &services{}); err != nil {
		return fmt.Errorf("the next call fails: %w", err)
	}
	return nil
}
