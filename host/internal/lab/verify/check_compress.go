package verify

import (
	"context"
	"errors"
	"fmt"

	"github.com/thresh-dev/thresh/host/internal/plugins"
	"github.com/thresh-dev/thresh/internal/conform"
	"github.com/thresh-dev/thresh/sdk"
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
	made := 0
	n, err := s.eachCompressed(ctx, true, func(c compressed) error {
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

// checkCompressHuman leaves out the large sample; searching its text for quotes would dominate the run.
func checkCompressHuman(ctx context.Context, s *suite) (string, error) {
	lostAll, ofAll := 0, 0
	_, err := s.eachCompressed(ctx, false, func(c compressed) error {
		lost, of, err := c.answer().People()
		lostAll, ofAll = lostAll+lost, ofAll+of
		return on(&c.given, err)
	})
	if err != nil {
		return "", err
	}
	if lostAll == 0 {
		return fmt.Sprintf("all %d entries of people are kept", ofAll), nil
	}
	return fmt.Sprintf("%d of %d entries of people are gone, and counted", lostAll, ofAll), nil
}

func checkCompressTarget(ctx context.Context, s *suite) (string, error) {
	reached, missed, nothing := 0, 0, 0
	_, err := s.eachCompressed(ctx, true, func(c compressed) error {
		switch {
		case c.noOp != "":
			nothing++
			return nil
		case c.metadata.TargetMissed:
			missed++
		default:
			reached++
		}
		return on(&c.given, c.answer().Size())
	})
	if err != nil {
		return "", err
	}
	return fmt.Sprintf(
		"reached %d times, missed and said so %d times, nothing to do %d times", reached, missed, nothing), nil
}

func checkStatements(ctx context.Context, s *suite) (string, error) {
	read := 0
	judge := func(sm *sample, a conform.Answer) error {
		n, err := a.Statements(workspace)
		read += n
		return on(sm, err)
	}
	st, err := s.strategy(ctx)
	if err != nil {
		return "", err
	}
	if st.Info().Trigger.Mode == sdk.ModeContinuous {
		for _, sm := range s.small() {
			o, err := optimize(ctx, st, sm, "statements", 1)
			if err == nil {
				err = judge(&sm, conform.Answer{Given: shown(sm.entries), After: shown(o.after.entries)})
			}
			if err != nil {
				return "", err
			}
		}
	}
	n, err := s.eachCompressed(ctx, false, func(c compressed) error { return judge(&c.given, c.answer()) })
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%d histories, %d sentences", n, read), nil
}

// usingServices returns the plugin if it calls any host service, as seen in its first Compress. Otherwise the checks
// on services have nothing to look at and are skipped.
func (s *suite) usingServices(ctx context.Context) (*plugins.Strategy, error) {
	st, err := s.compressing(ctx)
	if err != nil {
		return nil, err
	}
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
	if err != nil && !errors.Is(err, plugins.ErrStrategy) {
		return err
	}
	if _, err := compress(ctx, st, s.plain(), &services{}); err != nil {
		return fmt.Errorf("the next call fails: %w", err)
	}
	return nil
}
