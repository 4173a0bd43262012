package verify

import (
	"context"
	"errors"
	"fmt"

	"github.com/thresh-dev/thresh/host/internal/plugins"
	"github.com/thresh-dev/thresh/internal/conform"
)

// compressed returns what Compress makes of all samples. It is asked once a run.
func (s *suite) compressed(ctx context.Context) ([]tried[compressed], error) {
	st, err := s.compressing(ctx)
	if err != nil || s.squeezed != nil {
		return s.squeezed, err
	}
	s.squeezed, err = try(ctx, s, func(sm sample) (compressed, error) { return compress(ctx, st, sm, &s.model) })
	return s.squeezed, err
}

// eachCompressed has judge look at each answer of Compress that the host accepts. n of all made a smaller history.
func (s *suite) eachCompressed(ctx context.Context, judge func(compressed)) (n, of int, err error) {
	all, err := s.compressed(ctx)
	for _, t := range all {
		if t.err == nil && t.got.noOp == "" {
			judge(t.got)
			n++
		}
	}
	return n, len(all), err
}

// checkCompressValid demands that the host's validator accepts every answer, also when the strategy gets its own
// result back as input: in a long session a history is compressed many times, and a strategy that cannot handle its
// own summaries fails there only, hours in.
func checkCompressValid(ctx context.Context, s *suite) (string, error) {
	all, err := s.compressed(ctx)
	if err != nil {
		return "", err
	}
	var found findings
	made := 0
	for _, t := range all {
		if found.add(t.sm.name, t.err); t.err != nil || t.got.noOp != "" || found.full() {
			continue
		}
		made++
		found.judged(t.sm.name, t.got.answer().Repeated()...)
		// Asked for again, because a call that hung replaces the plugin's process in between.
		st, err := s.strategy(ctx)
		if err != nil {
			return "", err
		}
		if _, err := compress(ctx, st, t.got.after, &services{}); err != nil {
			found.add(t.sm.name, fmt.Errorf("run on its own result: %w", err))
			if !answeredBadly(err) {
				break
			}
		}
	}
	if err := found.err(); err != nil {
		return "", err
	}
	if made == 0 {
		return "", unseen("it compresses nothing", len(all))
	}
	return fmt.Sprintf("%d histories, %d of them compressed, those twice", len(all), made), nil
}

func checkCompressHuman(ctx context.Context, s *suite) (string, error) {
	var found findings
	lostAll, ofAll := 0, 0
	n, of, err := s.eachCompressed(ctx, func(c compressed) {
		lost, people, wrong := c.answer().People()
		lostAll, ofAll = lostAll+lost, ofAll+people
		found.judged(c.given.name, wrong...)
	})
	switch {
	case err != nil:
		return "", err
	case found.err() != nil:
		return "", found.err()
	case n == 0:
		return "", unseen("it compresses nothing", of)
	case lostAll == 0:
		return fmt.Sprintf("all %d entries of people are kept", ofAll), nil
	}
	return fmt.Sprintf("%d of %d entries of people are gone, and counted", lostAll, ofAll), nil
}

func checkCompressTarget(ctx context.Context, s *suite) (string, error) {
	var found findings
	reached, missed, none := 0, 0, 0
	all, err := s.compressed(ctx)
	for _, t := range all {
		switch {
		case t.err != nil:
			continue
		case t.got.noOp != "":
			none++
		case t.got.metadata.TargetMissed:
			missed++
		default:
			reached++
		}
		found.judged(t.sm.name, t.got.answer().Size()...)
	}
	switch {
	case err != nil:
		return "", err
	case found.err() != nil:
		return "", found.err()
	case reached+missed == 0:
		return "", unseen("it compresses nothing", len(all))
	}
	return fmt.Sprintf("reached %d times, missed and said so %d times, nothing to do %d times", reached, missed, none), nil
}

// checkStatements leaves out answers that other checks complain of.
func checkStatements(ctx context.Context, s *suite) (string, error) {
	var found findings
	read, histories := 0, 0
	judge := func(sm *sample, a conform.Answer) {
		if found.full() {
			return // a strategy that writes much that is wrong would take minutes
		}
		n, wrong := a.Statements(workspace)
		read, histories = read+n, histories+1
		found.judged(sm.name, wrong...)
	}
	pruned, err := s.optimized(ctx)
	if err != nil && !errors.As(err, new(skipped)) {
		return "", err
	}
	for _, t := range pruned {
		if t.err == nil {
			judge(&t.sm, conform.Answer{Given: shown(t.sm.entries), Added: t.sm.added,
				After: shown(t.got.after.entries)})
		}
	}
	if _, _, err := s.eachCompressed(ctx, func(c compressed) { judge(&c.given, c.answer()) }); err != nil {
		return "", err
	}
	if err := found.err(); err != nil {
		return "", err
	}
	if read == 0 {
		return "", unseen("it writes no sentence", histories)
	}
	return fmt.Sprintf("%d histories, %d sentences", histories, read), nil
}

// checkServicesWindow demands that what is sent to the model leaves room for the answer. A provider refuses the rest.
func checkServicesWindow(ctx context.Context, s *suite) (string, error) {
	st, err := s.usingServices(ctx)
	if err != nil {
		return "", err
	}
	if !st.Info().RequiresLLM {
		return "", skipped("it asks for no model: requires_llm is not set")
	}
	all, err := s.compressed(ctx)
	if err != nil {
		return "", err
	}
	if s.model.tally.generations.Load() == 0 {
		return "", unseen("it asks the model for nothing", len(all))
	}
	var found findings
	found.judged("", s.model.beyond()...)
	if err := found.err(); err != nil {
		return "", err
	}
	return s.model.tally.String(), nil
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
