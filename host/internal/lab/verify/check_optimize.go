package verify

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/host/internal/plugins"
	"github.com/thresh-dev/thresh/internal/check"
	"github.com/thresh-dev/thresh/internal/conform"
	"github.com/thresh-dev/thresh/internal/conform/samples"
	"github.com/thresh-dev/thresh/sdk"
)

// base returns all made samples but the large one, and the recordings that the user named. They are built once per run;
// checks run one after the other, so no lock is needed.
func (s *suite) base() []sample {
	if s.few == nil {
		for _, sm := range append(samples.All(), s.with...) {
			s.few = append(s.few, s.sample(sm))
		}
	}
	return s.few
}

func (s *suite) sample(sm samples.Sample) sample {
	if n := s.bounds.long; n > 0 {
		sm.History = sm.History[:min(n, len(sm.History))]
		sm.Added = sm.Added[:min(n, len(sm.Added))]
	}
	return newSample(sm)
}

// small returns [suite.base], and more histories of what the plugin reacted to in those. An error of the plugin means
// that there are no more: the checks will find it.
func (s *suite) small(ctx context.Context) ([]sample, error) {
	if s.reacted {
		return s.few, nil
	}
	st, err := s.strategy(ctx)
	if err != nil {
		return nil, err
	}
	all := s.base()
	reacts := func(name string) bool {
		i := slices.IndexFunc(all, func(sm sample) bool { return sm.name == name })
		if s.reacted { // a call failed
			return false
		}
		if st.Info().Trigger.Mode == sdk.ModeContinuous {
			o, err := optimize(ctx, st, all[i], "reacts", 1)
			s.reacted = err != nil
			return o.edits > 0
		}
		c, err := compress(ctx, st, all[i], &services{})
		s.reacted = err != nil
		return c.edits > 0
	}
	for _, sm := range samples.More(reacts) {
		s.few = append(s.few, s.sample(sm))
	}
	s.reacted = true
	return s.few, nil
}

// large returns the large sample, built on first use: a run with --only may never need it.
func (s *suite) large() sample {
	if s.huge == nil {
		s.huge = new(newSample(samples.Large(s.bounds.large)))
	}
	return *s.huge
}

// tried is what a plugin made of a sample, or the error.
type tried[T any] struct {
	sm  sample
	got T
	err error
}

// try calls a plugin with all samples, the large one last. A crash or a timeout ends it: asking on would cost a timeout
// per sample.
func try[T any](ctx context.Context, s *suite, call func(sample) (T, error)) ([]tried[T], error) {
	small, err := s.small(ctx)
	if err != nil {
		return nil, err
	}
	var out []tried[T]
	for _, sm := range append(slices.Clip(small), s.large()) {
		got, err := call(sm)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		out = append(out, tried[T]{sm, got, err})
		if err != nil && !answeredBadly(err) {
			break
		}
	}
	return out, nil
}

// answeredBadly reports whether an error is about an answer, so that the next call may succeed.
func answeredBadly(err error) bool {
	return errors.Is(err, plugins.ErrStrategy) || errors.As(err, new(*check.Error))
}

// optimized returns what Optimize makes of all samples. It is asked once a run.
func (s *suite) optimized(ctx context.Context) ([]tried[optimized], error) {
	st, err := s.continuous(ctx)
	if err != nil || s.pruned != nil {
		return s.pruned, err
	}
	s.pruned, err = try(ctx, s, func(sm sample) (optimized, error) { return optimize(ctx, st, sm, "valid", 1) })
	return s.pruned, err
}

// nothing is the error of a check that saw nothing to judge. The text says what it looked at.
type nothing string

func (n nothing) Error() string { return string(n) }

// unseen is what a check says whose histories show nothing of what it is about.
func unseen(what string, histories int) error {
	var matters []string
	for _, m := range samples.Matters() {
		matters = append(matters, m.Name)
	}
	return nothing(fmt.Sprintf("%s in %d histories, among them %s; name a recording in which it does: --with FILE", what,
		histories, strings.Join(matters, ", ")))
}

// checkOptimizeValid demands that the host's validator accepts every answer. The host would discard a rejected answer
// and send the unpruned history instead.
func checkOptimizeValid(ctx context.Context, s *suite) (string, error) {
	all, err := s.optimized(ctx)
	if err != nil {
		return "", err
	}
	var found findings
	edits := 0
	for _, t := range all {
		edits += t.got.edits
		found.add(t.sm.name, t.err)
	}
	if err := found.err(); err != nil {
		return "", err
	}
	if edits == 0 {
		return "", unseen("it prunes nothing", len(all))
	}
	return fmt.Sprintf("%d histories, %d edits", len(all), edits), nil
}

// starts is how many processes must give the same answer. Most languages seed their hash tables per process, so the
// usual cause of nondeterminism, iteration over a map, shows up across processes rather than within one. Three, because
// two processes may have the same order by chance.
const starts = 3

// checkOptimizeDeterministic demands the same answer from different processes. After a restart of the plugin, a
// different answer would change the history that the model has seen, and with it invalidate the prompt cache.
func checkOptimizeDeterministic(ctx context.Context, s *suite) (string, error) {
	if _, err := s.continuous(ctx); err != nil {
		return "", err
	}
	var first []optimized
	var found findings
	for i := range starts {
		st, end, err := s.fresh(ctx)
		if err != nil {
			return "", err
		}
		answers, err := optimizeAll(ctx, s, func(sm sample, n int) (optimized, error) {
			return optimize(ctx, st, sm, "same", 1)
		})
		end()
		if err != nil {
			return "", err
		}
		if i == 0 {
			first = answers
			continue
		}
		s.compare(&found, conform.ErrRandom, first, answers, fmt.Sprintf("process 1 and process %d", i+1))
	}
	return s.compared(&found, first, fmt.Sprintf("in %d processes", starts))
}

// compare finds samples to which a plugin gave two answers.
func (s *suite) compare(found *findings, rule *check.Rule, a, b []optimized, detail string) {
	for i := range a {
		if a[i].bytes != b[i].bytes {
			found.judged(s.few[i].name, different(rule, a[i], b[i], detail))
		}
	}
}

func different(rule *check.Rule, a, b optimized, detail string) *check.Error {
	return &check.Error{Index: -1, Err: rule, Detail: detail, Was: a.String(), Came: b.String()}
}

// compared is the verdict on answers that were compared.
func (s *suite) compared(found *findings, first []optimized, how string) (string, error) {
	if err := found.err(); err != nil {
		return "", err
	}
	n := 0
	for _, a := range first {
		if a.edits > 0 {
			n++
		}
	}
	if n == 0 {
		return "", unseen("it prunes nothing", len(first))
	}
	return fmt.Sprintf("%d histories %s, of which it prunes %d", len(first), how, n), nil
}

// optimizeAll optimises all small samples in order. An error that the strategy returns, or an answer that the host
// rejects, counts as an answer: it must be as reproducible as any other, and optimize-valid judges it. A crash or
// timeout ends the check at once; asking on would cost a timeout per sample.
func optimizeAll(ctx context.Context, s *suite, ask func(sm sample, n int) (optimized, error)) ([]optimized, error) {
	all, err := s.small(ctx)
	if err != nil {
		return nil, err
	}
	answers := make([]optimized, len(all))
	for i, sm := range all {
		a, err := ask(sm, i)
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case err != nil && answeredBadly(err):
			a = optimized{bytes: "error: " + err.Error()}
		case err != nil:
			return nil, err
		}
		answers[i] = a
	}
	return answers, nil
}

// checkOptimizePure demands that an answer depends on the history alone. It asks for all samples, then again under
// other session ids and revisions, and then as in the first round. A cache by session id, by revision or by time
// gives itself away. Hosts restart plugins and move sessions between processes, so state in the plugin is never
// reliable.
func checkOptimizePure(ctx context.Context, s *suite) (string, error) {
	st, end, err := s.freshContinuous(ctx)
	if err != nil {
		return "", err
	}
	defer end()
	// Each call sends everything: what a mirror of the call before does to the answer is for optimize-delta to find.
	whole := func(sm sample, session string, revision uint64) (optimized, error) {
		st.EndSession(session)
		return optimize(ctx, st, sm, session, revision)
	}
	rounds := []func(sm sample, n int) (optimized, error){
		func(sm sample, _ int) (optimized, error) { return whole(sm, "a", 1) },
		func(sm sample, n int) (optimized, error) {
			// Revisions that jump, as they do when a host is restored from a transcript.
			return whole(sm, fmt.Sprint("b", n), uint64(7+n))
		},
		func(sm sample, _ int) (optimized, error) { return whole(sm, "a", 1) },
	}
	var first []optimized
	var found findings
	for i, ask := range rounds {
		answers, err := optimizeAll(ctx, s, ask)
		if err != nil {
			return "", err
		}
		if i == 0 {
			first = answers
			continue
		}
		s.compare(&found, conform.ErrKept, first, answers, "the history is the same")
	}
	return s.compared(&found, first, fmt.Sprintf("%d times each", len(rounds)))
}

// checkOptimizeIdempotent demands that a strategy leaves its own result alone. One that finds more to prune in it
// would change the history on every turn, even without new entries, and the prompt cache would never be used.
func checkOptimizeIdempotent(ctx context.Context, s *suite) (string, error) {
	all, err := s.optimized(ctx)
	if err != nil {
		return "", err
	}
	var found findings
	pruned := 0
	for _, first := range all {
		if first.got.edits == 0 || found.full() {
			continue
		}
		pruned++
		// Asked for again, because a call that hung replaces the plugin's process in between.
		st, err := s.strategy(ctx)
		if err != nil {
			return "", err
		}
		// In a session of its own: what a memo of the first run does to it is for optimize-delta to find.
		second, err := optimize(ctx, st, first.got.after, "again, pruned", 2)
		switch {
		case err != nil:
			found.add(first.sm.name, fmt.Errorf("run on its own result: %w", err))
			if !answeredBadly(err) {
				return "", found.err()
			}
		case second.edits > 0:
			found.judged(first.sm.name, different(conform.ErrNotDone, first.got, second, "the first run, then the second"))
		}
	}
	if err := found.err(); err != nil {
		return "", err
	}
	if pruned == 0 {
		return "", unseen("it prunes nothing", len(all))
	}
	return fmt.Sprintf("%d histories of which it prunes something", pruned), nil
}
