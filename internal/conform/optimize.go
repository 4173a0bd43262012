package conform

import (
	"context"
	"errors"
	"fmt"

	"github.com/thresh-dev/thresh/internal/check"
	"github.com/thresh-dev/thresh/internal/conform/samples"
	"github.com/thresh-dev/thresh/sdk"
)

// optimized is the outcome of one Optimize.
type optimized struct {
	sdk.DensityResult
	edits int
	after []sdk.Content
}

// ask makes one Optimize. sent is what the strategy could have changed.
func (r *Runner) ask(ctx context.Context, o sdk.Optimizer, session string, history []sdk.Content) (
	got sdk.DensityResult, sent []sdk.Content, err error,
) {
	in := r.around.OptimizeInput(session, history)
	got, err = o.Optimize(ctx, in)
	return got, in.History, err
}

// optimize makes one Optimize and judges it by itself.
func (r *Runner) optimize(ctx context.Context, o sdk.Optimizer, session string, history []sdk.Content) (
	optimized, error,
) {
	got, sent, err := r.ask(ctx, o, session, history)
	if err != nil {
		return optimized{}, err
	}
	after, err := JudgeOptimize(history, sent, got)
	return optimized{got, edits(got), after}, err
}

// pruning makes one Optimize that is compared with another.
func (r *Runner) pruning(ctx context.Context, o sdk.Optimizer, session string, sm samples.Sample) (reply, error) {
	got, _, err := r.ask(ctx, o, session, sm.History)
	return replied(ctx, sm.Name, pruned(got), err)
}

// optimized returns what Optimize makes of all samples. It is asked once a run.
func (r *Runner) optimized(ctx context.Context) ([]tried[optimized], error) {
	o, err := r.continuous(ctx)
	if err != nil || r.pruned != nil {
		return r.pruned, err
	}
	r.pruned, err = try(ctx, r, func(s samples.Sample) (optimized, error) {
		return r.optimize(ctx, o, "valid", s.History)
	})
	return r.pruned, err
}

// checkOptimizeValid demands that the host's validator accepts every answer. The host would discard a rejected answer
// and send the unpruned history instead.
func checkOptimizeValid(ctx context.Context, r *Runner) (string, error) {
	all, err := r.optimized(ctx)
	if err != nil {
		return "", err
	}
	var found Findings
	edits := 0
	for _, t := range all {
		edits += t.got.edits
		found.Add(t.sm.Name, t.err)
	}
	return r.verdict(&found, edits, "it prunes nothing", len(all), "%d histories, %d edits", len(all), edits)
}

// starts is how many processes must give the same answer. Most languages seed their hash tables per process, so the
// usual cause of nondeterminism, iteration over a map, shows up across processes rather than within one. Three, because
// two processes may have the same order by chance.
const starts = 3

// checkDeterministic demands the same answer from different processes. After a restart of the plugin, a different
// answer would change the history that the model has seen, and with it invalidate the prompt cache.
func checkDeterministic(ctx context.Context, r *Runner) (string, error) {
	if _, err := r.continuous(ctx); err != nil {
		return "", err
	}
	c := comparison{Runner: r, rule: ErrRandom}
	for i := range starts {
		_, o, end, err := r.fresh(ctx)
		if err != nil {
			return "", err
		}
		err = c.round(ctx, o, fmt.Sprintf("start 1 and start %d", i+1), func(int) string { return "same" })
		if end(); err != nil {
			return "", err
		}
	}
	return c.verdict(fmt.Sprintf("in %d processes", starts))
}

// checkOptimizePure demands that an answer depends on the history alone. It asks for all samples, then again in other
// sessions, and then as in the first round. A cache by session id or by time gives itself away. Hosts restart plugins
// and move sessions between processes, so state in the plugin is never reliable.
func checkOptimizePure(ctx context.Context, r *Runner) (string, error) {
	if _, err := r.continuous(ctx); err != nil {
		return "", err
	}
	_, o, end, err := r.fresh(ctx)
	if err != nil {
		return "", err
	}
	defer end()
	c := comparison{Runner: r, rule: ErrKept}
	rounds := []func(i int) string{
		func(int) string { return "a" }, func(i int) string { return fmt.Sprint("b", i) }, func(int) string { return "a" },
	}
	for _, session := range rounds {
		if err := c.round(ctx, o, "the history is the same", session); err != nil {
			return "", err
		}
	}
	return c.verdict(fmt.Sprintf("%d times each", len(rounds)))
}

// comparison finds samples to which a strategy gives two answers.
type comparison struct {
	*Runner
	rule  *check.Rule
	first []reply
	found Findings
}

// round asks for all small samples, and compares the answers with those of the first round.
func (c *comparison) round(ctx context.Context, o sdk.Optimizer, detail string, session func(i int) string) error {
	all, err := c.small(ctx)
	if err != nil {
		return err
	}
	for i, sm := range all {
		got, err := c.pruning(ctx, o, session(i), sm)
		switch {
		case err != nil:
			return err
		case len(c.first) == i:
			c.first = append(c.first, got)
			continue
		}
		if e := c.first[i].different(c.rule, got, detail); e != nil {
			c.found.Judged(sm.Name, e)
		}
	}
	return nil
}

func (c *comparison) verdict(how string) (string, error) {
	n := 0
	for _, p := range c.first {
		if edits(p.edits) > 0 {
			n++
		}
	}
	of := len(c.first)
	return c.Runner.verdict(&c.found, n, "it prunes nothing", of, "%d histories %s, of which it prunes %d", of, how, n)
}

// checkIdempotent demands that a strategy leaves its own result alone. One that finds more to prune in it would change
// the history on every turn, even without new entries, and the prompt cache would never be used.
func checkIdempotent(ctx context.Context, r *Runner) (string, error) {
	all, err := r.optimized(ctx)
	if err != nil {
		return "", err
	}
	var found Findings
	pruned := 0
	for _, first := range all {
		if first.got.edits == 0 || found.full() {
			continue
		}
		pruned++
		// Asked for again, because a call that hung replaces the plugin's process in between.
		o, err := r.continuous(ctx)
		if err != nil {
			return "", err
		}
		second, _, err := r.ask(ctx, o, "again, pruned", first.got.after)
		if err != nil {
			if found.again(first.sm.Name, err); lost(err) {
				return "", found.Err()
			}
		} else {
			found.Add(first.sm.Name, DifferentEdits(ErrNotDone, sdk.DensityResult{}, second, "on the optimised history"))
		}
	}
	return r.verdict(&found, pruned, "it prunes nothing", len(all), "%d histories of which it prunes something", pruned)
}

// checkStatements leaves out answers that other checks complain of.
func checkStatements(ctx context.Context, r *Runner) (string, error) {
	var found Findings
	read, histories := 0, 0
	judge := func(name string, a Answer) {
		if found.full() {
			return // a strategy that writes much that is wrong would take minutes
		}
		n, wrong := a.Statements(r.around.Optimize.WorkspaceRoot)
		read, histories = read+n, histories+1
		found.Judged(name, wrong...)
	}
	pruned, err := r.optimized(ctx)
	if err != nil && !errors.As(err, new(Skipped)) {
		return "", err
	}
	for _, t := range pruned {
		if t.err == nil {
			judge(t.sm.Name, Answer{Given: given(t.sm.History), Added: given(t.sm.Added), After: named(t.got.after)})
		}
	}
	if _, _, err := r.eachCompressed(ctx, func(c compressed) { judge(c.given.Name, c.answer()) }); err != nil {
		return "", err
	}
	return r.verdict(&found, read, "it writes no sentence", histories, "%d histories, %d sentences", histories, read)
}
