package conform

import (
	"context"
	"slices"
	"time"

	"github.com/thresh-dev/thresh/internal/check"
	"github.com/thresh-dev/thresh/internal/conform/samples"
	"github.com/thresh-dev/thresh/sdk"
)

// Subject hands out the strategy that is tried. A process behind the wire is a strategy like a Go value: [Value] wraps
// one, and package verify a plugin. What it hands out implements [sdk.Optimizer] if the trigger is continuous. Errors
// of calls are the strategy's own, or about its answer, unless they are [Lost].
type Subject interface {
	// Shared returns the one that most checks ask.
	Shared(context.Context) (sdk.Strategy, error)
	// Fresh returns one that had no call. end gives it back.
	Fresh(context.Context) (s sdk.Strategy, end func(), err error)
	// Session begins a session of which s keeps what it has seen; it is [Skipped] if s keeps nothing.
	Session(ctx context.Context, s sdk.Strategy, id string) (Session, error)
	// Timed returns the processor time of a call of s.
	Timed(ctx context.Context, s sdk.Strategy, call func() error) (time.Duration, error)
}

// Session is a history that is added to and rewritten, between one Optimize and the next.
type Session interface {
	Add(entries []sdk.Content)
	// Optimize asks about all of it. The input comes without a history. told says what the strategy was told of it.
	Optimize(context.Context, sdk.OptimizeInput) (got sdk.DensityResult, told string, err error)
	// Rewrite applies the last answer. Entries of after say where they stood. told: the strategy hears that these were its
	// edits, where something besides it decides that.
	Rewrite(after []sdk.Content, told bool)
	// Forget has the strategy forget the session.
	Forget()
}

// Limits bound a run.
type Limits struct {
	Held  time.Duration // one call while another waits for its model; larger than any call of a healthy strategy
	Slow  time.Duration // what a slow host service takes for one request
	Large int           // bytes of the large history
	Long  int           // entries of the longest of the others, which is shortened to them; 0 for as it is
	Calls int           // calls at once
	Many  int           // entries of the history that shows how time grows
	// Settings is how many values of settings are compared, each with one that had no call; 0 for all.
	Settings int
}

// DefaultLimits leave a healthy strategy a factor of ten or more: they must hold on a loaded CI runner.
func DefaultLimits() Limits {
	return Limits{Held: 5 * time.Second, Slow: 300 * time.Millisecond, Large: 16 << 20, Calls: 32, Many: 100_000,
		Settings: 6}
}

// Runner tries one strategy, check by check, on one goroutine. What it has asked once it remembers, for checks that
// look at the same answers.
type Runner struct {
	Subject Subject
	Around  func(sdk.Info) (Around, error)
	Limits  Limits
	With    []samples.Sample // further histories
	More    string           // how to name further histories, for who reads that there was nothing to judge

	info     sdk.Info // of the first that came up
	around   *Around
	asked    *Host          // of the first Compress; nil: there was none yet
	idle     sdk.NoOpReason // what it answered; "" if it did something
	unusable error          // why the strategy cannot use the scripted model's answer; nil: it can
	huge     *samples.Sample
	few      []samples.Sample // cache of base(), and then of small()
	reacted  bool             // few holds all of small()
	// Caches of optimized and compressed, and what the latter asked the model.
	pruned      []tried[optimized]
	squeezed    []tried[compressed]
	generations int64
	beyond      []*check.Error
}

// shared returns the strategy that most checks ask.
func (r *Runner) shared(ctx context.Context) (sdk.Strategy, error) {
	s, err := r.Subject.Shared(ctx)
	if err != nil || r.around != nil {
		return s, err
	}
	r.info = s.Info()
	a, err := r.Around(r.info)
	if err == nil {
		r.around = &a
	}
	return s, err
}

// continuous returns the strategy if it has an Optimize, and [Skipped] otherwise.
func (r *Runner) continuous(ctx context.Context) (sdk.Optimizer, error) {
	s, err := r.shared(ctx)
	if err != nil {
		return nil, err
	}
	return r.optimizer(s)
}

// optimizer returns the Optimize of a strategy. It may have the method, and a trigger that never calls it.
func (r *Runner) optimizer(s sdk.Strategy) (sdk.Optimizer, error) {
	o, ok := s.(sdk.Optimizer)
	if !ok || r.info.Trigger.Mode != sdk.ModeContinuous {
		return nil, Skipped("it has no Optimize: the trigger is not continuous")
	}
	return o, nil
}

// fresh is a strategy that had no call, and its Optimize; nil if it has none.
func (r *Runner) fresh(ctx context.Context) (sdk.Strategy, sdk.Optimizer, func(), error) {
	if _, err := r.shared(ctx); err != nil {
		return nil, nil, nil, err
	}
	s, end, err := r.Subject.Fresh(ctx)
	if err != nil {
		return nil, nil, nil, err
	}
	o, _ := r.optimizer(s) // nil
	return s, o, end, nil
}

// base returns all made samples but the large one, and those that the user named.
func (r *Runner) base() []samples.Sample {
	if r.few == nil {
		for _, s := range append(samples.All(), r.With...) {
			r.few = append(r.few, r.short(s))
		}
	}
	return r.few
}

func (r *Runner) short(s samples.Sample) samples.Sample {
	if n := r.Limits.Long; n > 0 {
		s.History = s.History[:min(n, len(s.History))]
		s.Added = s.Added[:min(n, len(s.Added))]
	}
	return s
}

// small returns [Runner.base], and more histories of what the strategy reacted to in those. An error of the strategy
// means that there are no more: the checks will find it.
func (r *Runner) small(ctx context.Context) ([]samples.Sample, error) {
	if r.reacted {
		return r.few, nil
	}
	s, err := r.shared(ctx)
	if err != nil {
		return nil, err
	}
	all := r.base()
	o, _ := r.optimizer(s)
	reacts := func(name string) bool {
		i := slices.IndexFunc(all, func(s samples.Sample) bool { return s.Name == name })
		switch {
		case r.reacted: // a call failed
			return false
		case o != nil:
			got, _, err := r.ask(ctx, o, "reacts", all[i].History)
			r.reacted = err != nil
			return edits(got) > 0
		}
		c, err := r.compress(ctx, s, all[i], r.newHost())
		r.reacted = err != nil
		return c.edits > 0
	}
	for _, s := range samples.More(reacts) {
		r.few = append(r.few, r.short(s))
	}
	r.reacted = true
	return r.few, nil
}

// Plain returns the sample without peculiarities, for checks in which the history is not the point.
func (r *Runner) Plain() samples.Sample {
	for _, s := range r.base() {
		if s.Name == samples.Plain {
			return s
		}
	}
	panic("conform: no plain sample") // package samples guarantees one
}

// Largest returns the large sample, built on first use.
func (r *Runner) Largest() samples.Sample {
	if r.huge == nil {
		r.huge = new(samples.Large(r.Limits.Large))
	}
	return *r.huge
}

func (r *Runner) newHost() *Host { return r.around.Host(r.info) }

// tried is what a strategy made of a sample, or the error.
type tried[T any] struct {
	sm  samples.Sample
	got T
	err error
}

// try calls a strategy with all samples, the large one last. A crash or a timeout ends it: asking on would cost a
// timeout per sample.
func try[T any](ctx context.Context, r *Runner, call func(samples.Sample) (T, error)) ([]tried[T], error) {
	small, err := r.small(ctx)
	if err != nil {
		return nil, err
	}
	var out []tried[T]
	for _, sm := range append(slices.Clip(small), r.Largest()) {
		got, err := call(sm)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if out = append(out, tried[T]{sm, got, err}); lost(err) {
			break
		}
	}
	return out, nil
}

// Once calls the strategy with the plain sample, for what shows in any call. The answers are judged elsewhere.
func (r *Runner) Once(ctx context.Context) error {
	s, err := r.shared(ctx)
	if err != nil {
		return err
	}
	if o, err := r.optimizer(s); err == nil {
		_, _, _ = r.ask(ctx, o, "once", r.Plain().History)
	}
	_, _ = r.compress(ctx, s, r.Plain(), r.newHost())
	return nil
}
