package sdktest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/thresh-dev/thresh/internal/check"
	"github.com/thresh-dev/thresh/internal/conform"
	"github.com/thresh-dev/thresh/internal/conform/samples"
	"github.com/thresh-dev/thresh/internal/conform/statements"
	"github.com/thresh-dev/thresh/sdk"
)

// Conformance fails the test where a strategy breaks a rule that the host holds all strategies to, on histories made
// for that: with results of 50 to 5,000 lines, stale reads, repeats, inclusions, failures and marks of earlier passes, and
// with what has confused strategies before: orphaned and unanswered calls, repeated ids, unknown blocks, odd Unicode and
// JSON, 10,000 entries. It takes some seconds. What it did not see, it says in the test's log: "nothing to judge".
//
// It is the part of `thresh plugins verify` that needs no process: [CheckInfo]; the rules of [Optimize] and [Compress];
// an Optimize that answers the same with a memo as without, while a session grows, is rewritten and loses its memo; a
// result that is smaller and reaches its target, unless it says that it does not; what people said is kept, or the
// metadata counts what is gone; what is written into a history is true, as far as that can be told; nothing is kept
// between calls, also not of calls at the same time; no no-op hides that a service of the host failed; time grows with
// the history, and not with its square. Nothing is printed: while it looks for that, os.Stdout is another file.
//
// What is not set in c is as for those two, but that a strategy with RequiresLLM gets a model whose every answer is one
// short state snapshot, unless c.Generate is another, and a prompt "compression". ContextLimit is set for each history
// so that the threshold is just reached.
func Conformance(tb testing.TB, s sdk.Strategy, c Config) {
	tb.Helper()
	CheckInfo(tb, s)
	info := s.Info()
	if info.RequiresLLM && c.Generate == nil {
		c.Generate = snapshots
	}
	if info.RequiresLLM && c.Model == nil {
		c.Model = &sdk.Model{Name: "sdktest", ContextLimit: 64_000, MaxOutput: 8000}
	}
	if c.Prompts == nil {
		c.Prompts = map[string]string{"compression": conform.Prompt}
	}
	unused := unusedCopy(s)
	r := &run{tb: tb, s: caught{s}, unused: func() sdk.Strategy { return caught{unused()} }, c: c, info: info,
		ctx: tb.Context(), histories: samples.All()}
	// A strategy may have the method and a trigger that never calls it.
	if _, ok := s.(sdk.Optimizer); ok && info.Trigger.Mode == sdk.ModeContinuous {
		r.optimizer = caught{s}
	}
	for _, phase := range []func(){r.prints, r.remembers, r.answers, r.again, r.atOnce, r.settings, r.failing, r.growth} {
		if phase(); r.failed > 0 {
			return // what comes next would only say the same in other words
		}
	}
	switch {
	case r.optimizer != nil && r.edits == 0:
		tb.Logf("nothing to judge: Optimize prunes nothing in %d histories; give one in which it does to Optimize", len(r.histories))
	case r.compressed.Load() == 0:
		tb.Logf("nothing to judge: Compress answers a no-op for %d histories; give one for which it does not to Compress",
			len(r.histories))
	}
}

// run is one Conformance.
type run struct {
	tb        testing.TB
	ctx       context.Context
	s         sdk.Strategy
	unused    func() sdk.Strategy // a copy that has had no call
	optimizer sdk.Optimizer       // nil if it prunes nothing
	info      sdk.Info
	c         Config
	histories []samples.Sample

	first []sdk.DensityResult // what Optimize makes of the histories
	// How many histories are pruned and compressed, and how many problems there are.
	edits      int
	compressed atomic.Int64
	failed     int
}

// most is how many problems are reported.
const most = 10

// answers judges each answer to each history, and to more of what the strategy reacts to.
func (r *run) answers() {
	reacted := map[string]bool{}
	more := false
	for i := 0; i < len(r.histories) && r.failed < most; i++ {
		sample := r.histories[i]
		edits := r.edits
		if r.optimizer != nil {
			c := r.c
			c.added = sample.Added
			out, err := c.Optimize(r.ctx, r.s, sample.History)
			r.complain(sample.Name, err)
			r.first = append(r.first, out.DensityResult)
			if len(out.Removals)+len(out.Replacements) > 0 {
				r.edits++
			}
			rnd := rand.New(rand.NewPCG(uint64(i), 1)) // the same in every run
			r.complain(sample.Name, r.c.session(r.ctx, r.optimizer, r.info, sample.History, rnd))
		}
		trimmed, err := r.compressSample(sample)
		r.complain(sample.Name, err)
		reacted[sample.Name] = r.edits > edits || trimmed
		if i == len(r.histories)-1 && !more {
			more = true
			r.histories = append(r.histories, samples.More(func(name string) bool { return reacted[name] })...)
		}
	}
}

// again asks for all histories once more, in another session: what earlier calls left must not matter.
func (r *run) again() {
	if r.optimizer == nil {
		return
	}
	for i, sample := range r.histories {
		got, err := r.optimize("b", sample.History, r.c)
		if err != nil {
			r.complain(sample.Name, err)
		} else if e := different(conform.ErrKept, r.first[i], got, "the same history in another session"); e != nil {
			r.complain(sample.Name, refused("Optimize", e))
		}
	}
}

// optimize is one Optimize that is compared with another.
func (r *run) optimize(session string, history []sdk.Content, c Config) (sdk.DensityResult, error) {
	return optimize(r.ctx, r.optimizer, r.info, session, history, c)
}

func optimize(ctx context.Context, s sdk.Optimizer, info sdk.Info, session string, history []sdk.Content,
	c Config) (sdk.DensityResult, error) {
	in, err := c.optimizeInput(info, history)
	if err != nil {
		return sdk.DensityResult{}, err
	}
	in.SessionID = session
	return s.Optimize(ctx, in)
}

// atOnce calls the strategy with all short histories at the same time.
func (r *run) atOnce() {
	wrong := make([]error, len(r.histories))
	var wg sync.WaitGroup
	for i, sample := range r.histories {
		if len(sample.History) > 1000 {
			continue
		}
		wg.Go(func() {
			if r.optimizer != nil {
				got, err := r.optimize(fmt.Sprint("s", i), sample.History, r.c)
				if err != nil {
					wrong[i] = err
				} else if e := different(conform.ErrAtOnce, r.first[i], got, "Optimize alone, then among others"); e != nil {
					wrong[i] = refused("Optimize", e)
					return
				}
			}
			if _, err := r.compressSample(sample); err != nil {
				wrong[i] = refused("Compress", &check.Error{Index: -1, Err: conform.ErrAtOnce, Came: err.Error(),
					Detail: "Compress succeeds alone"})
			}
		})
	}
	wg.Wait()
	for i, err := range wrong {
		r.complain(r.histories[i].Name, err)
	}
}

// settings asks with each setting at its bounds: a strategy that has had calls with other settings answers as one that
// has had none, a copy made before the first call.
func (r *run) settings() {
	sample := samples.Mixed(samples.Matters(), 1)
	for _, f := range r.info.Config {
		for _, value := range conform.Edges(f) {
			c := r.c
			c.Settings = map[string]any{f.Key: value}
			what := fmt.Sprintf("%s = %v, in the first call, then after calls with other settings", f.Key, value)
			if fresh, ok := r.unused().(sdk.Optimizer); ok && r.optimizer != nil {
				want, err1 := optimize(r.ctx, fresh, r.info, "s", sample.History, c)
				got, err2 := optimize(r.ctx, r.optimizer, r.info, "s", sample.History, c)
				// A value that is right by itself may not go with the others.
				if err1 == nil && err2 == nil {
					if e := different(conform.ErrSettings, want, got, what); e != nil {
						r.complain(sample.Name, refused("Optimize", e))
					}
				}
			}
			ask := func(s sdk.Strategy) conform.Compressed { return r.compress(s, "s", sample.History, c) }
			want, got := ask(r.unused()), ask(r.s)
			if want != got && !want.Failed && !got.Failed && ask(r.unused()) == want {
				r.complain(sample.Name, refused("Compress", want.Different(conform.ErrSettings, got, what)))
			}
		}
	}
}

// unusedCopy returns a function that makes copies of s as it is now. What pointers and maps in it lead to is not
// copied.
func unusedCopy(s sdk.Strategy) func() sdk.Strategy {
	v := reflect.ValueOf(s)
	if v.Kind() != reflect.Pointer || v.IsNil() {
		return func() sdk.Strategy { return s }
	}
	copied := func(v reflect.Value) reflect.Value {
		to := reflect.New(v.Type().Elem())
		to.Elem().Set(v.Elem())
		return to
	}
	unused := copied(v)
	return func() sdk.Strategy { return copied(unused).Interface().(sdk.Strategy) }
}

// failing has each service of the host fail in turn, for the plain session if that is compressed while they work.
func (r *run) failing() {
	plain := slices.IndexFunc(r.histories, func(s samples.Sample) bool { return s.Name == samples.Plain })
	history := curated(r.histories[plain].History)
	c := r.at(history)
	if out, err := c.Compress(r.ctx, r.s, history); err != nil || out.NoOp != "" {
		return
	}
	for _, c.failing = range []string{"EstimateTokens", "Generate", "ResolvePrompt"} {
		_, err := c.Compress(r.ctx, r.s, history)
		if _, wrong := errors.AsType[*RefusedError](err); wrong {
			r.complain(samples.Plain, err)
		}
	}
}

// growth compares the times for a history and for one that is longer.
func (r *run) growth() {
	many := samples.Many(100_000).History
	few := many[:len(many)/conform.Growth]
	judge := func(op string, call func(history []sdk.Content) (time.Duration, error)) {
		short, err := call(few)
		if err == nil {
			var long time.Duration
			if long, err = call(many); err == nil {
				if e := conform.Grows(op, len(few), len(many), short, long); e != nil {
					err = refused(op, e)
				}
			}
		}
		r.complain("small entries", err)
	}
	if r.optimizer != nil {
		judge("Optimize", func(history []sdk.Content) (time.Duration, error) {
			in, err := r.c.optimizeInput(r.info, history)
			if err != nil {
				return 0, err
			}
			return took(func() error { _, err := r.optimizer.Optimize(r.ctx, in); return err })
		})
	}
	judge("Compress", func(history []sdk.Content) (time.Duration, error) {
		c := r.at(history)
		in, err := c.compressInput(r.info, history)
		if err != nil {
			return 0, err
		}
		host := &fakeHost{info: r.info, config: c}
		return took(func() error { _, err := r.s.Compress(r.ctx, host, in); return err })
	})
}

func snapshots(context.Context, sdk.GenerateRequest) (sdk.Completion, error) {
	return sdk.Completion{Text: conform.Snapshot, FinishReason: "stop", Model: "sdktest"}, nil
}

func curated(history []sdk.Content) []sdk.Content {
	return slices.DeleteFunc(slices.Clone(history), sdk.Content.Blank)
}

// at returns the surroundings in which a history just reaches the threshold.
func (r *run) at(history []sdk.Content) Config {
	c, tokens := r.c, r.c.counter()(history)
	c.PendingTokens = cmp.Or(c.PendingTokens, conform.Pending(len(history), tokens))
	c.ContextLimit = conform.Limit(tokens+c.PendingTokens, cmp.Or(c.Threshold, r.info.Trigger.DefaultThreshold))
	return c
}

// compressSample compresses a history that just reaches the threshold, and judges the answer. trimmed says that entries
// were edited.
func (r *run) compressSample(sample samples.Sample) (trimmed bool, err error) {
	history := curated(sample.History)
	c := r.at(history)
	c.added = curated(sample.Added)
	out, err := c.Compress(r.ctx, r.s, history)
	if err != nil {
		return false, err
	}
	params := sdk.CompressParams{Threshold: cmp.Or(c.Threshold, r.info.Trigger.DefaultThreshold), PendingTokens: c.PendingTokens}
	params.ContextLimit, params.CompletionBudget = c.ContextLimit, c.CompletionBudget
	a := conform.Answer{Given: entries(withOrigins(history)), After: entries(out.History), Compress: &out.Metadata, NoOp: out.NoOp,
		TokensBefore: out.TokensBefore, TokensAfter: out.TokensAfter, Target: params.Target()}
	if out.NoOp != "" {
		return false, refused("Compress", a.Size()...)
	}
	for _, e := range out.History {
		at, ok := e.Origin()
		trimmed = trimmed || ok && at < len(history) && !e.Equal(history[at])
	}
	r.compressed.Add(1)
	_, _, people := a.People()
	return trimmed, refused("Compress", slices.Concat(people, a.Repeated(), a.Size())...)
}

// statements are what is written into a history and not true.
func (c Config) statements(given, after []sdk.Content) []*check.Error {
	a := conform.Answer{Given: entries(withOrigins(given)), After: entries(after)}
	if c.added != nil {
		a.Added = entries(withOrigins(c.added))
	}
	_, untrue := a.Statements(cmp.Or(c.WorkspaceRoot, defaultRoot))
	return untrue
}

func entries(history []sdk.Content) []statements.Entry {
	out := make([]statements.Entry, len(history))
	seen := map[int]bool{}
	for i, e := range history {
		out[i] = statements.Entry{ID: fmt.Sprint("new", i), Content: e}
		if at, ok := e.Origin(); ok && !seen[at] { // a second one is a copy
			out[i].ID = fmt.Sprint("e", at)
			seen[at] = true
		}
	}
	return out
}

func (r *run) complain(history string, err error) {
	r.tb.Helper()
	refused, ok := errors.AsType[*RefusedError](err)
	switch {
	case err == nil:
	case !ok:
		r.say("history %q: %v", history, err)
	default:
		for _, p := range refused.Problems {
			r.say("history %q: %s: %s", history, refused.Op, p)
		}
	}
}

// say fails the test, up to [most] times.
func (r *run) say(format string, args ...any) {
	r.tb.Helper()
	if r.failed++; r.failed <= most {
		r.tb.Errorf(format, args...)
	} else if r.failed == most+1 {
		r.tb.Log("and more")
	}
}
