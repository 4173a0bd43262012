package metrics_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"

	"github.com/thresh-dev/thresh/host/internal/history"
	"github.com/thresh-dev/thresh/host/internal/metrics"
	"github.com/thresh-dev/thresh/host/internal/plugins"
	"github.com/thresh-dev/thresh/host/internal/prepare"
	"github.com/thresh-dev/thresh/host/outcome"
	"github.com/thresh-dev/thresh/sdk"
)

// secret stands for what people, models, tools and plugins say.
const secret = "s3cr3t"

func newRecorder(t testing.TB, s metrics.Sources) (*metrics.Recorder, sdkmetric.Reader) {
	t.Helper()
	reader := sdkmetric.NewManualReader()
	r, err := metrics.New(sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader)), s)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	return r, reader
}

// aTurn is a turn that did nothing but what change says: 900 tokens before, 600 after an Optimize.
func aTurn(change func(*outcome.Outcome)) outcome.Outcome {
	out := outcome.Outcome{
		Strategy: "dense", TokensBefore: 900, Tokens: 600, Projected: 1600, HostTime: time.Millisecond,
		Optimize: outcome.Optimize{
			Kind: outcome.KindApplied, Removed: 3, TokensAfter: 600, PluginTime: 2 * time.Millisecond,
			Decision: outcome.Decision{Reason: outcome.DecidedPays},
		},
	}
	if change != nil {
		change(&out)
	}
	return out
}

func failure(op plugins.Op, err error) error {
	return fmt.Errorf("compress with dense: %w",
		&plugins.Error{Plugin: "dense", Path: "/" + secret, Op: op, Err: fmt.Errorf("%w: %s", err, secret),
			Stderr: secret})
}

// TestWhatATurnRecords names the series in which the words of an outcome show.
func TestWhatATurnRecords(t *testing.T) {
	compressed := func(change func(*outcome.Compress)) func(*outcome.Outcome) {
		return func(o *outcome.Outcome) {
			o.Compress = outcome.Compress{Reason: sdk.ReasonThreshold, PluginTime: time.Millisecond}
			change(&o.Compress)
		}
	}
	for name, c := range map[string]struct {
		change func(*outcome.Outcome)
		err    error
		want   []string
		never  string // the beginning of a series
	}{
		"applied": {want: []string{
			"thresh.turns{outcome=ok,strategy=dense} 1",
			"thresh.tokens.before{strategy=dense} 900", "thresh.tokens.after{strategy=dense} 600",
			"thresh.tokens.saved{step=optimize,strategy=dense} 300",
			"thresh.request.tokens{strategy=dense} 1 of 1600",
			"thresh.host.duration{strategy=dense} 1 of 0.001",
			"thresh.optimize.runs{reason=pays,result=applied,strategy=dense} 1",
			"thresh.plugin.call.duration{call=optimize,strategy=dense} 1 of 0.002",
		}},
		"noop": {change: func(o *outcome.Outcome) { o.Optimize = outcome.Optimize{Kind: outcome.KindNoOp, TokensAfter: 900} },
			want: []string{"thresh.optimize.runs{result=noop,strategy=dense} 1"}},
		"held": {change: func(o *outcome.Outcome) {
			o.Optimize = outcome.Optimize{Kind: outcome.KindHeld, TokensAfter: 900,
				Decision: outcome.Decision{Reason: outcome.DecidedTooCostly}}
		}, want: []string{"thresh.optimize.runs{reason=does-not-pay,result=held,strategy=dense} 1"}},
		"skipped": {change: func(o *outcome.Outcome) {
			o.Optimize = outcome.Optimize{Skipped: outcome.SkippedClean, TokensAfter: 900}
		},
			want: []string{"thresh.optimize.runs{reason=clean,result=skipped,strategy=dense} 1"}},
		"an optimize that failed": {
			change: func(o *outcome.Outcome) {
				o.Optimize = outcome.Optimize{PluginTime: time.Second, TokensAfter: 900}
			},
			err: failure(plugins.OpOptimize, plugins.ErrTimeout),
			want: []string{"thresh.turns{outcome=error,strategy=dense} 1",
				"thresh.optimize.runs{result=failed,strategy=dense} 1",
				"thresh.plugin.call.duration{call=optimize,strategy=dense} 1 of 1",
				"thresh.plugin.failures{call=optimize,reason=timeout,strategy=dense} 1"}},
		"an answer that does not fit": {
			change: func(o *outcome.Outcome) { o.Optimize = outcome.Optimize{TokensAfter: 900} },
			err:    fmt.Errorf("optimize: %w", &history.AnswerError{}),
			want:   []string{"thresh.plugin.failures{call=optimize,reason=bad-answer,strategy=dense} 1"}},
		"given up": {
			change: func(o *outcome.Outcome) { o.Optimize = outcome.Optimize{TokensAfter: 900} },
			err:    failure(plugins.OpOptimize, context.Canceled),
			want: []string{"thresh.turns{outcome=canceled,strategy=dense} 1",
				"thresh.optimize.runs{result=canceled,strategy=dense} 1"}},
		"no plugin": {
			change: func(o *outcome.Outcome) { *o = outcome.Outcome{TokensBefore: 9, Tokens: 9} },
			err:    fmt.Errorf("%w: %s", plugins.ErrUnknownStrategy, secret),
			want:   []string{"thresh.turns{outcome=error,strategy=none} 1", "thresh.tokens.after{strategy=none} 9"}},
		"a plugin that does not start": {
			change: func(o *outcome.Outcome) { *o = outcome.Outcome{TokensBefore: 9, Tokens: 9} },
			err: failure(plugins.OpConfigure, fmt.Errorf("%w, the last: %w", plugins.ErrQuarantined,
				plugins.ErrPluginCrashed)),
			want: []string{"thresh.turns{outcome=error,strategy=dense} 1",
				"thresh.plugin.failures{call=start,reason=quarantined,strategy=dense} 1"}},
		"a machine that lacks what a start needs": {
			change: func(o *outcome.Outcome) { *o = outcome.Outcome{TokensBefore: 9, Tokens: 9} },
			err:    failure(plugins.OpStart, fmt.Errorf("%w: %s", plugins.ErrHost, secret)),
			want: []string{"thresh.turns{outcome=error,strategy=dense} 1",
				"thresh.plugin.failures{call=start,reason=host,strategy=dense} 1"}},
		"compressed": {
			change: compressed(func(c *outcome.Compress) {
				c.Kind, c.TokensBefore, c.TokensAfter = outcome.KindApplied, 600, 200
			}),
			want: []string{"thresh.compress.runs{result=applied,strategy=dense,trigger=threshold} 1",
				"thresh.tokens.saved{step=compress,strategy=dense} 400",
				"thresh.plugin.call.duration{call=compress,strategy=dense} 1 of 0.001"}},
		"compressed for little": {
			change: compressed(func(c *outcome.Compress) { c.Kind, c.Ineffective = outcome.KindApplied, true }),
			want: []string{"thresh.compress.runs{reason=ineffective,result=applied,strategy=dense," +
				"trigger=threshold} 1"}},
		"a reason that is known": {
			change: compressed(func(c *outcome.Compress) { c.Kind, c.NoOp = outcome.KindNoOp, sdk.NoOpTooFew }),
			want: []string{"thresh.compress.runs{reason=too-few-compressible,result=noop,strategy=dense," +
				"trigger=threshold} 1"}},
		"a reason of the plugin's own": {
			change: compressed(func(c *outcome.Compress) { c.Kind, c.NoOp = outcome.KindNoOp, secret }),
			want:   []string{"thresh.compress.runs{reason=other,result=noop,strategy=dense,trigger=threshold} 1"}},
		"remembered": {
			change: compressed(func(c *outcome.Compress) {
				c.Kind, c.NoOp, c.Remembered = outcome.KindNoOp, sdk.NoOpNoGain, true
			}),
			want: []string{"thresh.compress.runs{reason=no-gain,result=remembered,strategy=dense," +
				"trigger=threshold} 1"}},
		"cooling down": {
			change: compressed(func(c *outcome.Compress) { c.Cooldown = &outcome.Cooldown{Error: secret} }),
			want: []string{"thresh.compress.runs{result=cooldown,strategy=dense,trigger=threshold} 1",
				"thresh.turns{outcome=ok,strategy=dense} 1"}},
		"a compress that failed": {
			change: compressed(func(*outcome.Compress) {}), err: failure(plugins.OpCompress, plugins.ErrPluginCrashed),
			want: []string{"thresh.compress.runs{result=failed,strategy=dense,trigger=threshold} 1",
				"thresh.optimize.runs{reason=pays,result=applied,strategy=dense} 1",
				"thresh.plugin.failures{call=compress,reason=crashed,strategy=dense} 1"}},
		"a model that failed": {
			change: compressed(func(*outcome.Compress) {}),
			err: &prepare.CompressError{Strategy: "dense", Profile: "cheap", Model: errors.New(secret),
				Err: failure(plugins.OpCompress, plugins.ErrStrategy)},
			want: []string{"thresh.plugin.failures{call=compress,reason=llm,strategy=dense} 1"}},
		"down the ladder": {
			change: func(o *outcome.Outcome) {
				o.Compress = outcome.Compress{Reason: sdk.ReasonHardLimit, Failed: secret}
				o.Failures = []error{failure(plugins.OpStart, plugins.ErrQuarantined)}
				o.Ladder = []outcome.LadderStep{{Rung: outcome.RungCompress, TokensBefore: 600, TokensAfter: 500},
					{Rung: outcome.RungResults, TokensBefore: 500, TokensAfter: 100}}
			},
			want: []string{"thresh.turns{outcome=ok,strategy=dense} 1",
				"thresh.compress.runs{result=failed,strategy=dense,trigger=hard-limit} 1",
				"thresh.ladder.steps{rung=compress,strategy=dense} 1",
				"thresh.ladder.steps{rung=tool-results,strategy=dense} 1",
				"thresh.tokens.saved{step=tool-results,strategy=dense} 400",
				"thresh.plugin.failures{call=start,reason=quarantined,strategy=dense} 1"},
			never: "thresh.tokens.saved{step=compress"}, // the compress step has recorded what it saved
		"too large": {
			change: compressed(func(c *outcome.Compress) { c.Kind, c.NoOp = outcome.KindNoOp, sdk.NoOpTailCoversAll }),
			err:    &prepare.ContextOverflowError{Strategy: secret},
			want:   []string{"thresh.turns{outcome=overflow,strategy=dense} 1"}},
		"calibrated": {
			change: func(o *outcome.Outcome) { o.Calibration = &outcome.Calibration{Ratio: 1.25} },
			want:   []string{"thresh.calibration.ratio{} 1 of 1.25"}},
	} {
		t.Run(name, func(t *testing.T) {
			r, reader := newRecorder(t, metrics.Sources{})
			out := aTurn(c.change)
			r.Turn(t.Context(), prepare.Request{}, &out, c.err)
			got := collect(t, reader)
			for _, want := range c.want {
				if !got[want] {
					t.Errorf("no %s in\n%s", want, got)
				}
			}
			if c.never != "" && len(got.of(c.never)) > 0 {
				t.Errorf("there is %s", got.of(c.never))
			}
			if strings.Contains(got.String(), secret) {
				t.Errorf("it tells a secret:\n%s", got)
			}
			if c.err == nil != got["thresh.turns{outcome=ok,strategy=dense} 1"] {
				t.Errorf("after the error %v:\n%s", c.err, got)
			}
			if faults := strings.Count(got.String(),
				"thresh.plugin.failures"); faults > strings.Count(strings.Join(c.want, " "), "thresh.plugin.failures") {
				t.Errorf("a plugin is blamed:\n%s", got)
			}
		})
	}
}

// TestWhatACompressByHandRecords is no turn.
func TestWhatACompressByHandRecords(t *testing.T) {
	r, reader := newRecorder(t, metrics.Sources{})
	out := outcome.Outcome{Strategy: "dense", Compress: outcome.Compress{
		Kind: outcome.KindApplied, Reason: sdk.ReasonManual, TokensBefore: 50, TokensAfter: 20, PluginTime: time.Second,
	}}
	r.Compress(t.Context(), prepare.Request{}, &out, nil)
	want := series{
		"thresh.compress.runs{result=applied,strategy=dense,trigger=manual} 1": true,
		"thresh.tokens.saved{step=compress,strategy=dense} 30":                 true,
		"thresh.plugin.call.duration{call=compress,strategy=dense} 1 of 1":     true,
	}
	if diff := cmp.Diff(want, collect(t, reader)); diff != "" {
		t.Error(diff)
	}
}

// TestWhatAModelCosts goes under the configured name: the provider's may be anything, and so may its figures.
func TestWhatAModelCosts(t *testing.T) {
	r, reader := newRecorder(t, metrics.Sources{})
	req := prepare.Request{Settings: prepare.Settings{LLM: &prepare.LLM{Profile: "cheap",
		Model: sdk.Model{Name: "small-1"}}}}
	spent := outcome.Spent{
		Calls: 2, Attempts: 3, InputTokens: 1000, OutputTokens: 50, CacheReadTokens: 600, CacheWriteTokens: 100,
		CostUSD: 0.25,
		Time:    2 * time.Second, Profile: "cheap", Model: secret,
	}
	absurd := outcome.Spent{Calls: 1, InputTokens: -5, CacheReadTokens: 5, OutputTokens: 1 << 62, CostUSD: -1,
		Model: secret}
	for _, s := range []outcome.Spent{spent, absurd} {
		out := aTurn(func(o *outcome.Outcome) { o.Compress = outcome.Compress{Reason: sdk.ReasonHardLimit, LLM: &s} })
		r.Turn(t.Context(), req, &out, errors.New(secret))
	}
	got := collect(t, reader)
	want := series{
		"thresh.llm.calls{model=small-1,profile=cheap} 3":                                      true,
		"thresh.llm.attempts{model=small-1,profile=cheap} 3":                                   true,
		"thresh.llm.tokens{model=small-1,profile=cheap,type=input} 300":                        true,
		"thresh.llm.tokens{model=small-1,profile=cheap,type=cache_read} 605":                   true,
		"thresh.llm.tokens{model=small-1,profile=cheap,type=cache_write} 100":                  true,
		fmt.Sprintf("thresh.llm.tokens{model=small-1,profile=cheap,type=output} %d", 50+1<<40): true,
		"thresh.llm.cost{model=small-1,profile=cheap} 0.25":                                    true,
		"thresh.llm.duration{model=small-1,profile=cheap} 2 of 2":                              true,
	}
	if diff := cmp.Diff(want, got.of("thresh.llm.")); diff != "" {
		t.Error(diff)
	}
	if strings.Contains(got.String(), secret) {
		t.Errorf("it tells a secret:\n%s", got)
	}
}

func TestGaugesAreReadWhenSomebodyCollects(t *testing.T) {
	states, open := map[string]plugins.State{"dense": plugins.StateReady, "other-one": plugins.StateQuarantined}, 3
	r, reader := newRecorder(t, metrics.Sources{Sessions: func() int { return open },
		Plugins: func() map[string]plugins.State { return states },
		Lacking: func() map[string]int { return map[string]int{"dense": 2} }})
	if diff := cmp.Diff(series{
		"thresh.sessions{} 3": true, "thresh.plugin.state{state=ready,strategy=dense} 1": true,
		"thresh.plugin.state{state=quarantined,strategy=other-one} 1": true,
		"thresh.plugin.isolation.missing{strategy=dense} 2":           true,
	}, collect(t, reader)); diff != "" {
		t.Error(diff)
	}
	states, open = map[string]plugins.State{"dense": plugins.StateCrashed}, 0
	if diff := cmp.Diff(series{"thresh.sessions{} 0": true, "thresh.plugin.state{state=crashed,strategy=dense} 1": true,
		"thresh.plugin.isolation.missing{strategy=dense} 2": true}, collect(t, reader)); diff != "" {
		t.Errorf("later: %s", diff)
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	if got := collect(t, reader); len(got) > 0 {
		t.Errorf("after Close:\n%s", got)
	}
}

// TestTheNumberOfSeriesIsBounded whatever sessions are set to.
func TestTheNumberOfSeriesIsBounded(t *testing.T) {
	r, reader := newRecorder(t, metrics.Sources{})
	for i := range 1000 {
		out := aTurn(func(o *outcome.Outcome) {
			o.Strategy = fmt.Sprint("plugin-", i)
			o.Compress = outcome.Compress{Reason: sdk.ReasonManual, LLM: &outcome.Spent{Calls: 1}}
		})
		llm := &prepare.LLM{Profile: fmt.Sprint("profile-", i), Model: sdk.Model{Name: fmt.Sprint("model-", i)}}
		r.Turn(t.Context(), prepare.Request{Settings: prepare.Settings{LLM: llm}}, &out, nil)
	}
	got := collect(t, reader)
	for _, name := range []string{"thresh.turns", "thresh.llm.calls"} {
		if n := len(got.of(name)); n != 101 {
			t.Errorf("%d series of %s", n, name)
		}
	}
	if !got["thresh.turns{outcome=ok,strategy=other} 900"] || !got["thresh.llm.calls{model=other,profile=other} 900"] {
		t.Errorf("what is over the bound is lost:\n%s", got.of("thresh.turns{outcome=ok,strategy=other"))
	}
}

func TestARecorderOfManySessions(t *testing.T) {
	r, reader := newRecorder(t, metrics.Sources{Sessions: func() int { return 1 }})
	var work sync.WaitGroup
	for i := range 8 {
		work.Go(func() {
			for range 100 {
				out := aTurn(func(o *outcome.Outcome) { o.Strategy = fmt.Sprint("dense-", i%3) })
				r.Turn(t.Context(), prepare.Request{}, &out, nil)
			}
		})
		work.Go(func() { collect(t, reader) })
	}
	work.Wait()
	got := collect(t, reader)
	for i, want := range []int{300, 300, 200} {
		if !got[fmt.Sprintf("thresh.turns{outcome=ok,strategy=dense-%d} %d", i, want)] {
			t.Errorf("strategy %d:\n%s", i, got.of("thresh.turns"))
		}
	}
}

func TestWithoutAProviderNothingIsMeasured(t *testing.T) {
	r, err := metrics.New(nil, metrics.Sources{Sessions: func() int { t.Error("sessions are collected"); return 0 }})
	if r != nil || err != nil {
		t.Fatalf("%v, %v", r, err)
	}
	out := aTurn(nil)
	if allocs := testing.AllocsPerRun(10, func() {
		r.Turn(context.Background(), prepare.Request{}, &out, nil)
		r.Compress(context.Background(), prepare.Request{}, &out, nil)
	}); allocs > 0 {
		t.Errorf("%v allocations", allocs)
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
}
