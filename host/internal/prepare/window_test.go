package prepare_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/thresh-dev/thresh/host/internal/history"
	"github.com/thresh-dev/thresh/host/internal/prepare"
	"github.com/thresh-dev/thresh/host/outcome"
	"github.com/thresh-dev/thresh/internal/rewrite"
	"github.com/thresh-dev/thresh/sdk"
	"github.com/thresh-dev/thresh/sdk/content"
)

// counter counts ten tokens for each block.
type counter struct{}

func (counter) Entry(c content.Content) int { return 10 * len(c.Blocks) }

func (n counter) All(_ context.Context, entries []content.Content) ([]history.Count, error) {
	out := make([]history.Count, len(entries))
	for i, c := range entries {
		out[i].Tokens = n.Entry(c)
		for range c.Blocks {
			out[i].Blocks = append(out[i].Blocks, 10)
		}
	}
	return out, nil
}

// scripted is a strategy that answers as the test says and keeps what it was asked.
type scripted struct {
	mode       sdk.TriggerMode
	optimize   func(prepare.OptimizeCall) ([]rewrite.Edit, error)
	compress   func(prepare.CompressCall) ([]rewrite.Piece, sdk.NoOpReason, error)
	services   func(sdk.Host) error // what Compress asks the host for
	optimizes  []int                // entries of each call
	rewritten  []int                // entries after each rewrite
	compresses []prepare.CompressCall
}

func (s *scripted) Info() sdk.Info {
	return sdk.Info{Name: "scripted", Version: "1", Trigger: sdk.Trigger{Mode: s.mode, DefaultThreshold: 0.5}}
}

func (s *scripted) Optimize(_ context.Context, call prepare.OptimizeCall) (prepare.OptimizeAnswer, error) {
	s.optimizes = append(s.optimizes, len(call.Entries))
	if s.optimize == nil {
		return prepare.OptimizeAnswer{}, nil
	}
	edits, err := s.optimize(call)
	return prepare.OptimizeAnswer{Edits: edits, Metadata: sdk.DensityMetadata{RecencyPruned: len(edits)}}, err
}

func (s *scripted) Rewritten(now prepare.Call) { s.rewritten = append(s.rewritten, len(now.Entries)) }

func (s *scripted) Compress(_ context.Context, call prepare.CompressCall, host sdk.Host) (prepare.CompressAnswer,
	error) {
	s.compresses = append(s.compresses, call)
	if s.services != nil {
		if err := s.services(host); err != nil {
			return prepare.CompressAnswer{}, err
		}
	}
	if s.compress == nil {
		return prepare.CompressAnswer{NoOp: "nothing-to-do"}, nil
	}
	pieces, noop, err := s.compress(call)
	return prepare.CompressAnswer{Pieces: pieces, NoOp: noop}, err
}

// says makes entries of 10 tokens. The AI only thinks: that goes without a mark.
func says(speaker content.Speaker, n int) []content.Content {
	out := make([]content.Content, n)
	for i := range out {
		var b content.Block = content.Text{Text: "x"}
		if speaker == content.AI {
			b = content.Thinking{Thought: "x"}
		}
		out[i] = content.Content{Speaker: speaker, Blocks: []content.Block{b}}
	}
	return out
}

func add(h *history.History, entries []content.Content) {
	n, _ := counter{}.All(context.Background(), entries)
	h.Append(entries, n)
}

// fixture is a window over a history of entries of 10 tokens each; the context limit is 100 tokens.
type fixture struct {
	*prepare.Pipeline
	history  *history.History
	strategy *scripted
	req      prepare.Request
}

func newFixture(entries int, s *scripted) *fixture {
	h := history.New()
	add(h, says(content.Human, entries))
	f := &fixture{
		Pipeline: prepare.New("s", h, counter{}), history: h, strategy: s, req: prepare.Request{Strategy: s},
	}
	f.req.Settings.ContextLimit = 100
	return f
}

func (f *fixture) prepare(t *testing.T) outcome.Outcome {
	t.Helper()
	_, outcome, err := f.Prepare(t.Context(), f.req)
	if err != nil {
		t.Fatal(err)
	}
	return outcome
}

func keepLast(n int) func(prepare.CompressCall) ([]rewrite.Piece, sdk.NoOpReason, error) {
	return func(call prepare.CompressCall) ([]rewrite.Piece, sdk.NoOpReason, error) {
		if len(call.Entries) < n {
			return nil, sdk.NoOpTooFew, nil
		}
		return []rewrite.Piece{rewrite.Keep{From: len(call.Entries) - n, To: len(call.Entries)}}, "", nil
	}
}

func TestOptimizeRunsOnlyWhenDirty(t *testing.T) {
	f := newFixture(2, &scripted{mode: sdk.ModeContinuous})
	if got := f.prepare(t); got.Optimize.Kind == "" {
		t.Errorf("the first window does not optimise: %+v", got.Optimize)
	}
	if got := f.prepare(t); got.Optimize.Skipped != outcome.SkippedClean {
		t.Errorf("a clean history is optimised again: %+v", got.Optimize)
	}
	if len(f.strategy.rewritten) > 0 {
		t.Error("an answer without edits counts as a rewrite")
	}
	add(f.history, says(content.Human, 1))
	f.prepare(t)
	if diff := cmp.Diff([]int{2, 3}, f.strategy.optimizes); diff != "" {
		t.Errorf("entries of each Optimize:\n%s", diff)
	}
}

func TestOptimizeIsCleanWhateverCameOfIt(t *testing.T) {
	broken := errors.New("broken")
	f := newFixture(1, &scripted{mode: sdk.ModeContinuous,
		optimize: func(prepare.OptimizeCall) ([]rewrite.Edit, error) { return nil, broken }})
	if _, _, err := f.Prepare(t.Context(), f.req); !errors.Is(err, broken) {
		t.Fatalf("got %v, want the strategy's error", err)
	}
	if got := f.prepare(t); got.Optimize.Skipped != outcome.SkippedClean {
		t.Errorf("after a failure the flag is still dirty: %+v", got.Optimize)
	}
}

// Edits of an Optimize name positions of the history as it was added; a Compress is given what is worth keeping.
func TestOnlyAnOptimizeSeesBlankEntries(t *testing.T) {
	f := newFixture(6, &scripted{mode: sdk.ModeContinuous, compress: keepLast(1)})
	add(f.history, []content.Content{{Speaker: content.AI, Blocks: []content.Block{content.Text{Text: " "}}}})
	f.prepare(t)
	if len(f.strategy.optimizes) != 1 || f.strategy.optimizes[0] != 7 {
		t.Errorf("entries of each Optimize: %v, want 7", f.strategy.optimizes)
	}
	if len(f.strategy.compresses) != 1 || len(f.strategy.compresses[0].Entries) != 6 {
		t.Errorf("%d Compresses, want one of 6 entries", len(f.strategy.compresses))
	}
}

func TestPruningComesFirstAtTheHardLimit(t *testing.T) {
	f := newFixture(2, &scripted{mode: sdk.ModeContinuous})
	add(f.history, says(content.AI, 9))
	f.strategy.optimize = func(prepare.OptimizeCall) (edits []rewrite.Edit, _ error) {
		for i := 2; i < 10; i++ {
			edits = append(edits, rewrite.Edit{Index: i, Remove: true})
		}
		return edits, nil
	}
	got := f.prepare(t)
	if got.TokensBefore != 110 || got.Tokens != 30 || got.Compress.Reason != "" || len(f.strategy.compresses) > 0 {
		t.Errorf("%d tokens, then %d; compress: %+v", got.TokensBefore, got.Tokens, got.Compress)
	}
}

func TestThresholdStrategyIsNeverOptimised(t *testing.T) {
	f := newFixture(1, &scripted{mode: sdk.ModeThreshold})
	if got := f.prepare(t); got.Optimize.Skipped != outcome.SkippedNotContinuous || len(f.strategy.optimizes) > 0 {
		t.Errorf("%+v, asked %d times", got.Optimize, len(f.strategy.optimizes))
	}
}

func TestOwnEditsDoNotMakeItDirty(t *testing.T) {
	f := newFixture(0, &scripted{mode: sdk.ModeContinuous,
		optimize: func(c prepare.OptimizeCall) ([]rewrite.Edit, error) {
			return []rewrite.Edit{{Index: 0, Remove: true}}, nil
		}, compress: keepLast(1)})
	add(f.history, says(content.AI, 9))
	got := f.prepare(t)
	if got.TokensBefore != 90 || got.Optimize.TokensAfter != 80 || got.Tokens != 10 ||
		got.Compress.Kind != outcome.KindApplied {
		t.Errorf("got %+v", got)
	}
	if diff := cmp.Diff([]int{8, 1}, f.strategy.rewritten); diff != "" {
		t.Errorf("entries after each rewrite, as the strategy is told:\n%s", diff)
	}
	if got := f.prepare(t); got.Optimize.Skipped != outcome.SkippedClean {
		t.Errorf("edits and compression set the dirty flag: %+v", got.Optimize)
	}
}

func TestACompressByHandDoesNotMakeItDirty(t *testing.T) {
	for name, compress := range map[string]func(prepare.CompressCall) ([]rewrite.Piece, sdk.NoOpReason, error){
		"nothing to do": nil, "it does something": keepLast(2),
	} {
		f := newFixture(6, &scripted{mode: sdk.ModeContinuous, compress: compress})
		f.prepare(t)
		if _, err := f.Compress(t.Context(), f.req); err != nil {
			t.Fatal(err)
		}
		if got := f.prepare(t); got.Optimize.Skipped != outcome.SkippedClean {
			t.Errorf("%s: the dirty flag is set: %+v", name, got.Optimize)
		}
	}
}

func TestEntriesAddedDuringOptimizeAreLookedAtNextTime(t *testing.T) {
	var f *fixture
	f = newFixture(1, &scripted{mode: sdk.ModeContinuous,
		optimize: func(c prepare.OptimizeCall) ([]rewrite.Edit, error) {
			if len(c.Entries) == 1 {
				add(f.history, says(content.AI, 1))
			}
			return nil, nil
		}})
	f.prepare(t)
	f.prepare(t)
	if diff := cmp.Diff([]int{1, 2}, f.strategy.optimizes); diff != "" {
		t.Errorf("entries of each Optimize:\n%s", diff)
	}
}

func TestThreshold(t *testing.T) {
	share := func(v float64) *float64 { return &v }
	for name, c := range map[string]struct {
		entries   int
		change    func(*prepare.Request)
		compress  bool
		reason    sdk.CompressReason
		threshold float64
	}{
		"under the strategy's default": {4, func(*prepare.Request) {}, false, "", 0.5},
		"at the strategy's default":    {5, func(*prepare.Request) {}, true, sdk.ReasonThreshold, 0.5},
		"a setting goes before it": {5, func(r *prepare.Request) { r.Settings.Threshold = share(0.6) }, false, "",
			0.6},
		"pending tokens count": {4, func(r *prepare.Request) { r.Pending = 10 }, true, sdk.ReasonThreshold,
			0.5},
		"the completion budget is off": {4, func(r *prepare.Request) { r.Settings.CompletionBudget = 20 }, true,
			sdk.ReasonThreshold, 0.5},
		"over the hard limit": {11, func(*prepare.Request) {}, true, sdk.ReasonHardLimit, 0.5},
		"over it with a threshold of one": {11, func(r *prepare.Request) { r.Settings.Threshold = share(1) }, true,
			sdk.ReasonHardLimit, 1},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(c.entries, &scripted{mode: sdk.ModeThreshold, compress: keepLast(1)})
			c.change(&f.req)
			got := f.prepare(t)
			if compressed := got.Compress.Kind == outcome.KindApplied; compressed != c.compress ||
				got.Compress.Reason != c.reason {
				t.Errorf("compress: %+v", got.Compress)
			}
			if got.Limits.Threshold != c.threshold {
				t.Errorf("threshold %v, want %v", got.Limits.Threshold, c.threshold)
			}
		})
	}
}

func TestNoOpIsRememberedUntilSomethingIsAdded(t *testing.T) {
	f := newFixture(6, &scripted{mode: sdk.ModeThreshold})
	first, second := f.prepare(t), f.prepare(t)
	if first.Compress.NoOp != "nothing-to-do" || first.Compress.Remembered || !second.Compress.Remembered ||
		second.Compress.NoOp != "nothing-to-do" {
		t.Errorf("first %+v, second %+v", first.Compress, second.Compress)
	}
	add(f.history, says(content.Human, 1))
	f.prepare(t)
	f.Reset() // other settings
	f.prepare(t)
	if n := len(f.strategy.compresses); n != 3 {
		t.Errorf("asked %d times, want 3: at first, after an Add, after new settings", n)
	}
}

// Settings that change while a turn works with the old ones are looked at all the same.
func TestAResetDuringATurnHolds(t *testing.T) {
	t.Run("an optimize", func(t *testing.T) {
		f := newFixture(2, &scripted{mode: sdk.ModeContinuous})
		f.strategy.optimize = func(prepare.OptimizeCall) ([]rewrite.Edit, error) { f.Reset(); return nil, nil }
		f.prepare(t)
		if got := f.prepare(t); got.Optimize.Skipped == outcome.SkippedClean {
			t.Error("what the old settings found is taken for what the new ones would")
		}
	})
	t.Run("a compress that fails", func(t *testing.T) {
		f := newFixture(8, &scripted{mode: sdk.ModeThreshold})
		f.req.Settings.Cooldown = time.Hour
		f.strategy.compress = func(prepare.CompressCall) ([]rewrite.Piece, sdk.NoOpReason, error) {
			f.Reset()
			return nil, "", errors.New("wrong key")
		}
		if _, _, err := f.Prepare(t.Context(), f.req); err == nil {
			t.Fatal("no error")
		}
		f.strategy.compress = keepLast(2)
		if got := f.prepare(t); got.Compress.Cooldown != nil {
			t.Errorf("what was wrong was set right meanwhile: %+v", got.Compress.Cooldown)
		}
	})
	t.Run("before it begins", func(t *testing.T) {
		f := newFixture(2, &scripted{mode: sdk.ModeContinuous})
		old := f.req
		old.SettingsVersion = f.SettingsVersion()
		f.Reset()
		if _, _, err := f.Prepare(t.Context(), old); err != nil {
			t.Fatal(err)
		}
		if got := f.prepare(t); got.Optimize.Skipped == outcome.SkippedClean {
			t.Error("settings that were read before the reset count as those after it")
		}
	})
}

func TestCompressThatGainsNothingIsANoOp(t *testing.T) {
	f := newFixture(6, &scripted{mode: sdk.ModeThreshold, compress: keepLast(6)})
	got := f.prepare(t)
	if got.Compress.NoOp != sdk.NoOpNoGain {
		t.Errorf("got %+v", got.Compress)
	}
	if rewrote(got) {
		t.Error("a no-op changed the history")
	}
}

func TestBadAnswersLeaveTheHistory(t *testing.T) {
	for name, s := range map[string]*scripted{
		"optimize": {mode: sdk.ModeContinuous, optimize: func(prepare.OptimizeCall) ([]rewrite.Edit, error) {
			return []rewrite.Edit{{Index: 99, Remove: true}}, nil
		}},
		"compress": {mode: sdk.ModeThreshold, compress: func(prepare.CompressCall) ([]rewrite.Piece,
			sdk.NoOpReason, error) {
			return []rewrite.Piece{rewrite.Keep{From: 0, To: 99}}, "", nil
		}},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(6, s)
			view, got, err := f.Prepare(t.Context(), f.req)
			if !errors.Is(err, history.ErrOutOfBounds) {
				t.Errorf("got %v, want ErrOutOfBounds", err)
			}
			if rewrote(got) || len(view.Contents()) != 6 {
				t.Error("the history changed, or did not come back with the error")
			}
		})
	}
}

func TestOverflow(t *testing.T) {
	f := newFixture(12, &scripted{mode: sdk.ModeThreshold, compress: keepLast(10)})
	_, outcome, err := f.Prepare(t.Context(), f.req)
	var overflow *prepare.ContextOverflowError
	if !errors.As(err, &overflow) {
		t.Fatalf("got %v, want a ContextOverflowError", err)
	}
	if overflow.Missing() != 20 || outcome.Tokens != 120 {
		t.Errorf("missing %d of %d tokens, want 20 of 120: what is not enough is not removed", overflow.Missing(),
			outcome.Tokens)
	}
}

func TestReportedUsageGoesBeforeTheOwnCount(t *testing.T) {
	f := newFixture(3, &scripted{mode: sdk.ModeThreshold, compress: keepLast(1)})
	first := f.prepare(t)
	f.ReportUsage(45, first.Tokens)
	if got := f.prepare(t); got.Projected != 45 || got.Compress.Kind != "" {
		t.Errorf("projected %d, compress %+v; want 45 and none", got.Projected, got.Compress)
	}
	add(f.history, says(content.Human, 1))
	got := f.prepare(t)
	if got.Compress.Kind != outcome.KindApplied || got.Tokens != 20 || got.Projected != 35 {
		t.Errorf("45 reported and 10 new tokens are over the threshold of 50; a rewrite ends the report, but 15 more "+
			"than were counted are known to come: %+v", got)
	}
	if c := got.Calibration; c == nil || c.Overhead != 15 || c.Ratio != 1 || c.Samples != 1 {
		t.Errorf("calibration %+v", c)
	}
}

// Everything at once: nothing that is added is lost, and one window works at a time. The race detector watches.
func TestConcurrentAddsAndPrepares(t *testing.T) {
	s := &scripted{mode: sdk.ModeContinuous, compress: keepLast(2)}
	f := newFixture(1, s)
	var wg sync.WaitGroup
	for range 4 {
		wg.Add(2)
		go func() {
			defer wg.Done()
			for range 50 {
				add(f.history, says(content.Human, 1))
			}
		}()
		go func() {
			defer wg.Done()
			for range 20 {
				if _, _, err := f.Prepare(t.Context(), f.req); err != nil {
					var overflow *prepare.ContextOverflowError
					if !errors.As(err, &overflow) {
						t.Error(err)
					}
				}
			}
		}()
	}
	wg.Wait()
	last := f.history.Snapshot()
	if last.Added != 201 {
		t.Errorf("%d entries were added, want 201", last.Added)
	}
	if err := f.history.Recount(counter{}.Entry); err != nil {
		t.Error(err)
	}
}

func TestAModelWithinItsBudget(t *testing.T) {
	spend := outcome.Spent{Attempts: 1, InputTokens: 30, OutputTokens: 10, CostUSD: 0.5, Model: "m-1"}
	for name, c := range map[string]struct {
		calls, tokens int
		want          error
		made          int
	}{
		"enough":         {3, 1000, nil, 3},
		"too many calls": {2, 1000, sdk.ErrBudgetSpent, 2},
		"too few tokens": {3, 80, sdk.ErrBudgetSpent, 2},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(6, &scripted{mode: sdk.ModeThreshold})
			f.strategy.services = func(host sdk.Host) error {
				for range 3 {
					if _, err := host.Generate(t.Context(), sdk.GenerateRequest{}, nil); err != nil {
						return err
					}
				}
				return nil
			}
			f.req.Settings.LLM = &prepare.LLM{
				Profile: "p", Model: sdk.Model{MaxOutput: 100}, MaxCalls: c.calls, MaxTokens: c.tokens,
				Generate: func(context.Context, sdk.GenerateRequest, func(string)) (sdk.Completion,
					outcome.Spent,
					error) {
					return sdk.Completion{Text: "x"}, spend, nil
				},
			}
			_, outcome, err := f.Prepare(t.Context(), f.req)
			if !errors.Is(err, c.want) {
				t.Errorf("got %v, want %v", err, c.want)
			}
			spent := outcome.Compress.LLM
			if spent == nil || spent.Calls != c.made || spent.InputTokens != 30*c.made ||
				spent.CostUSD != 0.5*float64(c.made) || spent.Model != "m-1" || spent.Profile != "p" {
				t.Errorf("spent %+v", spent)
			}
		})
	}
}

// Calls of one compression that run at the same time share its tokens: each may take its prompt and its longest answer.
func TestParallelCallsShareABudget(t *testing.T) {
	f := newFixture(6, &scripted{mode: sdk.ModeThreshold})
	var limits []int
	var last error
	ask := sdk.GenerateRequest{Entries: says(content.Human, 1)}
	f.strategy.services = func(host sdk.Host) error {
		f.req.Settings.LLM.Generate = func(_ context.Context, r sdk.GenerateRequest, _ func(string)) (sdk.Completion,
			outcome.Spent, error) {
			limits = append(limits, r.MaxOutputTokens)
			if _, err := host.Generate(t.Context(), ask, nil); last == nil { // while this one runs
				last = err
			}
			return sdk.Completion{}, outcome.Spent{}, nil
		}
		_, err := host.Generate(t.Context(), ask, nil)
		return err
	}
	f.req.Settings.LLM = &prepare.LLM{Model: sdk.Model{MaxOutput: 100}, MaxCalls: 20, MaxTokens: 250}
	_, _, _ = f.Prepare(t.Context(), f.req)
	if len(limits) != 3 || limits[0] != 100 || limits[1] != 100 || limits[2] >= 50 ||
		!errors.Is(last, sdk.ErrBudgetSpent) {
		t.Errorf("answers of at most %d, then %v", limits, last)
	}
}

func TestWithoutAModelGenerateIsRefused(t *testing.T) {
	f := newFixture(6, &scripted{mode: sdk.ModeThreshold})
	f.strategy.services = func(host sdk.Host) error {
		_, err := host.Generate(t.Context(), sdk.GenerateRequest{}, nil)
		return err
	}
	if _, _, err := f.Prepare(t.Context(), f.req); !errors.Is(err, sdk.ErrNotGranted) {
		t.Errorf("got %v, want ErrNotGranted", err)
	}
}

func TestAFailureThatNoRetryHelpsIsNotTriedOnEveryTurn(t *testing.T) {
	broken := errors.New("no such model")
	s := &scripted{mode: sdk.ModeThreshold, compress: func(prepare.CompressCall) ([]rewrite.Piece,
		sdk.NoOpReason, error) {
		return nil, "", broken
	}}
	f := newFixture(6, s)
	now := time.Unix(1000, 0)
	f.Clock = func() time.Time { return now }
	f.req.Settings.Cooldown = time.Minute
	_, _, err := f.Prepare(t.Context(), f.req)
	var failed *prepare.CompressError
	if !errors.As(err, &failed) || !errors.Is(err, broken) || failed.Retryable || failed.Strategy != "scripted" {
		t.Fatalf("got %v", err)
	}
	add(f.history, says(content.Human, 1))
	got := f.prepare(t)
	if got.Compress.Cooldown == nil || got.Compress.Cooldown.Until != now.Add(time.Minute) {
		t.Errorf("during the cooldown: %+v", got.Compress)
	}
	if len(got.Warnings) != 1 || !strings.Contains(got.Warnings[0], broken.Error()) {
		t.Errorf("the turn succeeds over the threshold without a word: %q", got.Warnings)
	}
	now = now.Add(time.Minute)
	if _, _, err := f.Prepare(t.Context(), f.req); !errors.Is(err, broken) {
		t.Errorf("after the cooldown: %v, want another try", err)
	}
	if len(s.compresses) != 2 {
		t.Errorf("asked %d times, want 2", len(s.compresses))
	}
}

func TestAFailureThatMayPassIsTriedAgain(t *testing.T) {
	f := newFixture(6, &scripted{mode: sdk.ModeThreshold})
	f.req.Settings.Cooldown = time.Minute
	f.strategy.services = func(host sdk.Host) error {
		_, err := host.Generate(t.Context(), sdk.GenerateRequest{}, nil)
		return err
	}
	f.req.Settings.LLM = &prepare.LLM{
		Profile: "p", MaxCalls: 5, MaxTokens: 100,
		Generate: func(context.Context, sdk.GenerateRequest, func(string)) (sdk.Completion, outcome.Spent,
			error) {
			return sdk.Completion{}, outcome.Spent{}, fmt.Errorf("%w: overloaded", sdk.ErrUnavailable)
		},
	}
	for range 2 {
		_, outcome, err := f.Prepare(t.Context(), f.req)
		var failed *prepare.CompressError
		if !errors.As(err, &failed) || !failed.Retryable || failed.Profile != "p" || outcome.Compress.Cooldown != nil {
			t.Errorf("got %v, %+v", err, outcome.Compress)
		}
	}
}
