package conform

import (
	"context"
	"errors"
	"fmt"

	"github.com/thresh-dev/thresh/internal/check"
	"github.com/thresh-dev/thresh/internal/conform/samples"
	"github.com/thresh-dev/thresh/internal/rewrite"
	"github.com/thresh-dev/thresh/sdk"
)

// Compressed returns the history after a Compress, as the host keeps it: history itself after a no-op. The error is
// what the SDK or the host would refuse.
func Compressed(history []sdk.Content, r sdk.CompressResult, maker string) (after []sdk.Content, edits int, _ error) {
	var found Problems
	after = history
	switch {
	case r.NoOp == "" && len(r.History) == 0:
		found.Add(errors.New("the new history is empty; return sdk.NoOp with a reason if there is nothing to do"))
	case r.NoOp == "":
		parts, err := check.Compress(history, rewrite.Pieces(history, r.History))
		if after = r.History; err != nil {
			found.Add(err)
			break
		}
		for _, p := range parts {
			if p.Edited {
				edits++
			}
		}
		after = recorded(after, parts, maker)
	case len(r.History) > 0:
		found.Add(fmt.Errorf("the result is a no-op (%s) and has a history; it can only be one of them", r.NoOp))
	}
	found.Add(check.Counts(r.Metadata.Counts))
	return after, edits, found.err()
}

// compressed is the outcome of one Compress.
type compressed struct {
	sdk.CompressResult
	given         samples.Sample // curated
	after         []sdk.Content  // as given if nothing was done
	edits         int            // entries with other blocks
	before, since int            // tokens
	target        float64
}

// compress makes one Compress of a sample and judges it by itself, with the host's own validator.
func (r *Runner) compress(ctx context.Context, s sdk.Strategy, sm samples.Sample, host *Host) (compressed, error) {
	sm = Curated(sm)
	in := r.around.CompressInput("compress", sm.History)
	got, err := s.Compress(ctx, host, in)
	if err != nil {
		return compressed{}, err
	}
	var found Problems
	out := compressed{CompressResult: got, given: sm, before: in.CurrentTokens, target: in.Target()}
	out.after, out.edits, err = Compressed(sm.History, got, r.info.Name)
	out.since = r.around.Count(out.after)
	found.Add(err)
	if i := Changed(in.History, sm.History); i >= 0 {
		found.Broken(ErrInputChanged, i, "in Compress")
	}
	found.Add(Honest(got, len(host.Asked())))
	return out, found.err()
}

// Honest returns an error if a Compress says something else of its requests to the model than it made. Reports and bills
// rest on that flag.
func Honest(r sdk.CompressResult, requests int) error {
	if r.NoOp != "" || (requests > 0) == r.Metadata.LLMCallMade {
		return nil
	}
	return fmt.Errorf("Metadata.LLMCallMade is %v, but the strategy made %d requests to the model", r.Metadata.LLMCallMade,
		requests)
}

func (c compressed) answer() Answer {
	return Answer{Given: given(c.given.History), Added: given(c.given.Added), After: named(c.after), Compress: &c.Metadata,
		NoOp: c.NoOp, TokensBefore: c.before, TokensAfter: c.since, Target: c.target}
}

// compressing returns the strategy after a first Compress, whose requests to services it remembers in r.asked. If that
// call shows that the strategy cannot work with the scripted model, all checks on Compress are skipped rather than
// failed: which question a strategy asks and which form of answer it needs is its own business.
func (r *Runner) compressing(ctx context.Context) (sdk.Strategy, error) {
	s, err := r.shared(ctx)
	if err != nil {
		return nil, err
	}
	if r.asked == nil {
		r.asked = r.newHost()
		c, err := r.compress(ctx, s, r.Plain(), r.asked)
		r.idle = c.NoOp
		if r.around.Scripted && r.info.RequiresLLM && r.asked.Generations.Load() > 0 && err != nil && !lost(err) && !wrong(err) {
			r.unusable = err
		}
	}
	if r.unusable != nil {
		return nil, Skipped("it cannot use what the scripted model answers: " + line(r.unusable))
	}
	return s, nil
}

// compressed returns what Compress makes of all samples. It is asked once a run.
func (r *Runner) compressed(ctx context.Context) ([]tried[compressed], error) {
	s, err := r.compressing(ctx)
	if err != nil || r.squeezed != nil {
		return r.squeezed, err
	}
	r.squeezed, err = try(ctx, r, func(sm samples.Sample) (compressed, error) {
		host := r.newHost()
		c, err := r.compress(ctx, s, sm, host)
		r.generations += host.Generations.Load()
		r.beyond = append(r.beyond, host.Beyond()...)
		return c, err
	})
	return r.squeezed, err
}

// eachCompressed has judge look at each answer of Compress that the host accepts. n of all made a smaller history.
func (r *Runner) eachCompressed(ctx context.Context, judge func(compressed)) (n, of int, err error) {
	all, err := r.compressed(ctx)
	for _, t := range all {
		if t.err == nil && t.got.NoOp == "" {
			judge(t.got)
			n++
		}
	}
	return n, len(all), err
}

// checkCompressValid demands that the host's validator accepts every answer, also when the strategy gets its own
// result back as input: in a long session a history is compressed many times, and a strategy that cannot handle its
// own summaries fails there only, hours in.
func checkCompressValid(ctx context.Context, r *Runner) (string, error) {
	all, err := r.compressed(ctx)
	if err != nil {
		return "", err
	}
	var found Findings
	made := 0
	for _, t := range all {
		if found.Add(t.sm.Name, t.err); t.err != nil || t.got.NoOp != "" || found.full() {
			continue
		}
		made++
		found.Judged(t.sm.Name, t.got.answer().Repeated()...)
		// Asked for again, because a call that hung replaces the plugin's process in between.
		s, err := r.shared(ctx)
		if err != nil {
			return "", err
		}
		if _, err := r.compress(ctx, s, samples.Sample{Name: t.sm.Name, History: t.got.after}, r.newHost()); err != nil {
			if found.again(t.sm.Name, err); lost(err) {
				break
			}
		}
	}
	if err := found.Err(); err != nil {
		return "", err
	}
	if made == 0 {
		return "", r.unseen("it compresses nothing", len(all))
	}
	return fmt.Sprintf("%d histories, %d of them compressed, those twice", len(all), made), nil
}

func checkHuman(ctx context.Context, r *Runner) (string, error) {
	var found Findings
	lostAll, ofAll := 0, 0
	n, of, err := r.eachCompressed(ctx, func(c compressed) {
		lost, people, wrong := c.answer().People()
		lostAll, ofAll = lostAll+lost, ofAll+people
		found.Judged(c.given.Name, wrong...)
	})
	switch {
	case err != nil:
		return "", err
	case found.Err() != nil:
		return "", found.Err()
	case n == 0:
		return "", r.unseen("it compresses nothing", of)
	case lostAll == 0:
		return fmt.Sprintf("all %d entries of people are kept", ofAll), nil
	}
	return fmt.Sprintf("%d of %d entries of people are gone, and counted", lostAll, ofAll), nil
}

func checkTarget(ctx context.Context, r *Runner) (string, error) {
	var found Findings
	reached, missed, none := 0, 0, 0
	all, err := r.compressed(ctx)
	for _, t := range all {
		switch {
		case t.err != nil:
			continue
		case t.got.NoOp != "":
			none++
		case t.got.Metadata.TargetMissed:
			missed++
		default:
			reached++
		}
		found.Judged(t.sm.Name, t.got.answer().Size()...)
	}
	switch {
	case err != nil:
		return "", err
	case found.Err() != nil:
		return "", found.Err()
	case reached+missed == 0:
		return "", r.unseen("it compresses nothing", len(all))
	}
	return fmt.Sprintf("reached %d times, missed and said so %d times, nothing to do %d times", reached, missed, none), nil
}

// comes is one Compress that is compared with another. What the strategy itself answers with an error is an answer, and
// the error says that the strategy is lost.
func (r *Runner) comes(ctx context.Context, s sdk.Strategy, session string, a *Around, sm samples.Sample) (squeezed, error) {
	sm = Curated(sm)
	got, err := s.Compress(ctx, r.newHost(), a.CompressInput(session, sm.History))
	switch {
	case ctx.Err() != nil:
		return squeezed{}, ctx.Err()
	case lost(err):
		return squeezed{}, on(sm.Name, err)
	case err != nil:
		return squeezed{said: "error: " + line(err), failed: true}, nil
	}
	return squeezedTo(got), nil
}

// checkCompressPure demands that a Compress depends on its request alone. Two histories that no other check has are
// compressed again and again by a process that had no other call, in two sessions. Unlike an Optimize, a Compress may
// answer at random. What is left of earlier calls shows where another process agrees with the first answer, or, for
// copies of a Go value that share variables, where the second answer stays.
func checkCompressPure(ctx context.Context, r *Runner) (string, error) {
	if _, err := r.compressing(ctx); err != nil {
		return "", err
	}
	all := []samples.Sample{samples.Mixed(samples.Matters(), 4), samples.Mixed(samples.Matters(), 5)}
	s, _, end, err := r.fresh(ctx)
	if err != nil {
		return "", err
	}
	defer end()
	var found Findings
	first := make([]squeezed, len(all))
	done, random := 0, 0
	for round, session := range []string{"a", "b", "a"} {
		for i, sm := range all {
			got, err := r.comes(ctx, s, session, r.around, sm)
			switch {
			case err != nil:
				return "", err
			case round == 0:
				if first[i] = got; got.did() {
					done++
				}
				continue
			case got == first[i]:
				continue
			}
			kept, err := r.kept(ctx, s, sm, first[i], got)
			if err != nil {
				return "", err
			}
			if kept {
				found.Judged(sm.Name, first[i].different(ErrKept, got, fmt.Sprintf(
					"Compress: call 1 and call %d with the same history", round+1)))
			} else {
				random++
			}
			first[i] = got // once is enough
		}
	}
	switch {
	case found.Err() != nil:
		return "", found.Err()
	case done == 0:
		return "", r.unseen("it compresses nothing", len(all))
	case random > 0:
		return "", Unseen("two processes compress the same history differently, so nothing follows from other answers")
	}
	return fmt.Sprintf("%d histories, 3 times each", len(all)), nil
}

// kept reports whether a second answer differs from the first because of the calls between.
func (r *Runner) kept(ctx context.Context, s sdk.Strategy, sm samples.Sample, first, second squeezed) (bool, error) {
	other, _, end, err := r.fresh(ctx)
	if err != nil {
		return false, err
	}
	defer end()
	alone, err := r.comes(ctx, other, "a", r.around, sm)
	if err != nil || alone == first {
		return err == nil, err
	}
	for range 8 { // dice would fall the same way
		if again, err := r.comes(ctx, s, "a", r.around, sm); err != nil || again != second {
			return false, err
		}
	}
	return true, nil
}

// checkWindow demands that what is sent to the model leaves room for the answer. A provider refuses the rest.
func checkWindow(ctx context.Context, r *Runner) (string, error) {
	if _, err := r.usingServices(ctx); err != nil {
		return "", err
	}
	if !r.info.RequiresLLM {
		return "", Skipped("it asks for no model: requires_llm is not set")
	}
	all, err := r.compressed(ctx)
	if err != nil {
		return "", err
	}
	if r.generations == 0 {
		return "", r.unseen("it asks the model for nothing", len(all))
	}
	var found Findings
	found.Judged("", r.beyond...)
	if err := found.Err(); err != nil {
		return "", err
	}
	return fmt.Sprintf("%d requests", r.generations), nil
}
