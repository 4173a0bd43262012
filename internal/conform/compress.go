package conform

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/thresh-dev/thresh/internal/check"
	"github.com/thresh-dev/thresh/internal/conform/samples"
	"github.com/thresh-dev/thresh/internal/rewrite"
	"github.com/thresh-dev/thresh/sdk"
)

// Compressed returns the history after a Compress, as the host keeps it: history itself after a no-op. edits is how
// many entries are edited. The error is what the SDK or the host would refuse.
func Compressed(history []sdk.Content, r sdk.CompressResult, maker string) (after []sdk.Content, edits int, _ error) {
	var found Findings
	after = history
	switch {
	case r.NoOp == "" && len(r.History) == 0:
		found.Add("", errors.New("the new history is empty; return sdk.NoOp with a reason if there is nothing to do"))
	case r.NoOp == "":
		parts, err := check.Compress(history, rewrite.Pieces(history, r.History))
		found.Add("", err)
		after = r.History
		for _, p := range parts {
			if p.Edited {
				edits++
			}
		}
		if err == nil {
			after = recorded(after, parts, maker)
		}
	case len(r.History) > 0:
		found.Add("", fmt.Errorf("the result is a no-op (%s) and has a history; it can only be one of them", r.NoOp))
	}
	found.Add("", check.Counts(r.Metadata.Counts))
	return after, edits, found.Err()
}

// JudgeCompress judges a Compress by itself. sent is what the strategy was given of the history, and could have
// changed.
func JudgeCompress(history, sent []sdk.Content, r sdk.CompressResult, host *Host) (
	after []sdk.Content, edits int, _ error,
) {
	after, edits, err := Compressed(history, r, host.Info.Name)
	var found Findings
	found.Add("", err)
	if i := Changed(sent, history); i >= 0 {
		found.Judged("", &check.Error{Index: i, Err: ErrInputChanged, Detail: "in Compress"})
	}
	// Reports and bills rest on that flag.
	if n := len(host.Asked()); r.NoOp == "" && (n > 0) != r.Metadata.LLMCallMade {
		found.Add("", fmt.Errorf("Metadata.LLMCallMade is %v, but the strategy made %d requests to the model",
			r.Metadata.LLMCallMade, n))
	}
	return after, edits, found.Err()
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
	out := compressed{CompressResult: got, given: sm, before: in.CurrentTokens, target: in.Target()}
	out.after, out.edits, err = JudgeCompress(sm.History, in.History, got, host)
	out.since = r.around.Count(out.after)
	return out, err
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
		if r.around.Scripted && r.info.RequiresLLM && r.asked.Generations.Load() > 0 && err != nil && !lost(err) &&
			!wrong(err) {
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
	return r.verdict(&found, made, "it compresses nothing", len(all), "%d histories, %d of them compressed, those twice",
		len(all), made)
}

func checkHuman(ctx context.Context, r *Runner) (string, error) {
	var found Findings
	lostAll, ofAll := 0, 0
	n, of, err := r.eachCompressed(ctx, func(c compressed) {
		lost, people, wrong := c.answer().People()
		lostAll, ofAll = lostAll+lost, ofAll+people
		found.Judged(c.given.Name, wrong...)
	})
	if err != nil {
		return "", err
	}
	detail := fmt.Sprintf("%d of %d entries of people are gone, and counted", lostAll, ofAll)
	if lostAll == 0 {
		detail = fmt.Sprintf("all %d entries of people are kept", ofAll)
	}
	return r.verdict(&found, n, "it compresses nothing", of, "%s", detail)
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
	if err != nil {
		return "", err
	}
	return r.verdict(&found, reached+missed, "it compresses nothing", len(all),
		"reached %d times, missed and said so %d times, nothing to do %d times", reached, missed, none)
}

// squeezing makes one Compress that is compared with another.
func (r *Runner) squeezing(ctx context.Context, s sdk.Strategy, session string, a *Around, sm samples.Sample) (
	reply, error,
) {
	got, err := s.Compress(ctx, r.newHost(), a.CompressInput(session, Curated(sm).History))
	return replied(ctx, sm.Name, squeezed(got), err)
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
	first := make([]reply, len(all))
	done, random := 0, 0
	for round, session := range []string{"a", "b", "a"} {
		for i, sm := range all {
			got, err := r.squeezing(ctx, s, session, r.around, sm)
			switch {
			case err != nil:
				return "", err
			case round == 0:
				if first[i] = got; !got.failed && !strings.HasPrefix(got.key, noOp) {
					done++
				}
				continue
			case got.key == first[i].key:
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
	if random > 0 && done > 0 && found.Err() == nil {
		return "", Unseen("two processes compress the same history differently, so nothing follows from other answers")
	}
	return r.verdict(&found, done, "it compresses nothing", len(all), "%d histories, 3 times each", len(all))
}

// kept reports whether a second answer differs from the first because of the calls between.
func (r *Runner) kept(ctx context.Context, s sdk.Strategy, sm samples.Sample, first, second reply) (bool, error) {
	other, _, end, err := r.fresh(ctx)
	if err != nil {
		return false, err
	}
	defer end()
	alone, err := r.squeezing(ctx, other, "a", r.around, sm)
	if err != nil || alone.key == first.key {
		return err == nil, err
	}
	for range 8 { // dice would fall the same way
		if again, err := r.squeezing(ctx, s, "a", r.around, sm); err != nil || again.key != second.key {
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
	var found Findings
	found.Judged("", r.beyond...)
	return r.verdict(&found, int(r.generations), "it asks the model for nothing", len(all), "%d requests", r.generations)
}
