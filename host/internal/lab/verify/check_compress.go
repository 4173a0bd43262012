package verify

import (
	"context"
	"errors"
	"fmt"

	"github.com/thresh-dev/thresh/host/internal/plugins"
)

// eachCompressed compresses all samples, the large one too if that is asked for, and has each judged.
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

func checkCompressValid(ctx context.Context, s *suite) (string, error) {
	made := 0
	n, err := s.eachCompressed(ctx, true, func(c compressed) error {
		if c.noOp != "" {
			return nil
		}
		made++
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

func checkCompressHuman(ctx context.Context, s *suite) (string, error) {
	lostAll, ofAll := 0, 0
	_, err := s.eachCompressed(ctx, false, func(c compressed) error {
		lost, of := gone(c)
		lostAll, ofAll = lostAll+lost, ofAll+of
		if said := announced(c); lost > said {
			return on(&c.given, fmt.Errorf("%d of %d entries of people are gone, and the metadata speaks of %d: count what is dropped, or say what was preserved",
				lost, of, said))
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

func checkCompressTarget(ctx context.Context, s *suite) (string, error) {
	reached, missed, nothing := 0, 0, 0
	_, err := s.eachCompressed(ctx, true, func(c compressed) error {
		before, after := c.given.tokens(), c.after.tokens()
		switch {
		case c.noOp != "":
			nothing++
		case after > before, after == before && len(c.after.entries) == len(c.given.entries):
			return on(&c.given, fmt.Errorf("the result is not smaller: %d tokens, before %d; answer a no-op with a reason instead", after, before))
		case c.metadata.TargetMissed:
			missed++
		case float64(after) > c.target:
			return on(&c.given, fmt.Errorf("the result has %d tokens, the target is %.0f (threshold × context limit × 0.6), and target_missed is not set",
				after, c.target))
		default:
			reached++
		}
		return nil
	})
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("reached %d times, missed and said so %d times, nothing to do %d times", reached, missed, nothing), nil
}

// usingServices returns the plugin if it asks the host for anything.
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

// survives reports what is wrong with an error of a Compress in which a host service went wrong: the strategy may
// fail, but its process may not, and a call after it must work as if nothing had been.
func (s *suite) survives(ctx context.Context, st *plugins.Strategy, err error) error {
	if err != nil && !errors.Is(err, plugins.ErrStrategy) {
		return err
	}
	if _, err := compress(ctx, st, s.plain(), &services{}); err != nil {
		return fmt.Errorf("the next call fails: %w", err)
	}
	return nil
}
