package sdktest_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/internal/conform/samples"
	"github.com/thresh-dev/thresh/internal/testkit/mutants"
	"github.com/thresh-dev/thresh/internal/testkit/race"
	"github.com/thresh-dev/thresh/sdk"
	"github.com/thresh-dev/thresh/sdk/sdktest"
	"github.com/thresh-dev/thresh/sdk/turns"
)

// suffix keeps the end of a history.
type suffix struct{ carelessly, silently, thoroughly, forgetfully, boastfully bool }

func (suffix) Info() sdk.Info {
	return sdk.Info{Name: "suffix", Version: "1.0.0", Trigger: sdk.Threshold(0.8)}
}

func (s suffix) Compress(ctx context.Context, host sdk.Host, in sdk.CompressInput) (sdk.CompressResult, error) {
	n := len(in.History)
	kept := turns.KeepLast(in.History, n-n*3/4)
	switch {
	case s.carelessly:
		kept = in.History[n*3/4:]
	case s.thoroughly:
		kept = turns.SafeTail(in.History, n-n*3/4)
	}
	if len(kept) == n {
		return sdk.NoOp(sdk.NoOpNoGain), nil
	}
	fits, err := in.Fits(ctx, host, kept)
	m := sdk.CompressMetadata{TargetMissed: !fits && !s.silently}
	if !s.forgetfully {
		m.Counts = map[string]int64{"dropped": int64(n - len(kept))}
	}
	if s.boastfully {
		kept = slices.Clone(kept)
		boast(kept)
	}
	return sdk.Applied(kept, m), err
}

// boast replaces the first line of the first result that has two.
func boast(kept []sdk.Content) {
	for i, e := range kept {
		for j, b := range e.Blocks {
			r, ok := b.(sdk.ToolResponse)
			_, rest, several := strings.Cut(r.ResultText(), "\n")
			if ok && several && rest != "" && !r.Failed() && r.Result[0] == '"' && !e.Pinned() {
				kept[i].Blocks = slices.Clone(e.Blocks)
				kept[i].Blocks[j] = r.WithResultText("[… 9999 lines omitted]\n" + rest)
				return
			}
		}
	}
}

func TestConformanceAcceptsWhatTheHostAccepts(t *testing.T) {
	sdktest.Conformance(t, suffix{}, sdktest.Config{})
}

// complaints takes note of what a test is failed for.
type complaints struct {
	testing.TB
	said, logged []string
}

func (c *complaints) Helper()    {}
func (c *complaints) Log(...any) {}
func (c *complaints) Logf(f string, args ...any) {
	c.logged = append(c.logged, fmt.Sprintf(f, args...))
}
func (c *complaints) Error(args ...any)            { c.said = append(c.said, fmt.Sprint(args...)) }
func (c *complaints) Errorf(f string, args ...any) { c.said = append(c.said, fmt.Sprintf(f, args...)) }

// remembering removes repeated texts of the AI. It looks at new entries only.
type remembering struct{ stale, scribbles, misplaces bool }

func (remembering) Info() sdk.Info {
	return sdk.Info{Name: "remembering", Version: "1.0.0", Trigger: sdk.Continuous(0.8)}
}

func (s remembering) Optimize(_ context.Context, in sdk.OptimizeInput) (sdk.DensityResult, error) {
	type known struct {
		first    map[string]int // where a text stands for the first time
		removals []int
		next     int
	}
	k, _ := in.Memo.Load().(*known)
	switch {
	case k != nil && !s.stale && in.Applied > 0: // what was repeated is gone
		k.next = in.Applied
		if !s.misplaces {
			k.removals = nil
		}
	case k == nil || !s.stale && in.Unchanged < k.next:
		k = &known{first: map[string]int{}}
	}
	for ; k.next < len(in.History); k.next++ {
		e := in.History[k.next]
		if e.Speaker != sdk.AI || len(e.Blocks) != 1 {
			continue
		}
		text, ok := e.Blocks[0].(sdk.Text)
		if _, repeated := k.first[text.Text]; !ok || e.Pinned() {
			continue
		} else if repeated {
			k.removals = append(k.removals, k.next)
		} else {
			k.first[text.Text] = k.next
		}
	}
	if s.scribbles && in.Unchanged > 1 {
		in.History[0].Blocks = nil
	}
	in.Memo.Store(k)
	return sdk.DensityResult{Removals: slices.Clone(k.removals)}, nil
}

func (remembering) Compress(context.Context, sdk.Host, sdk.CompressInput) (sdk.CompressResult, error) {
	return sdk.NoOp(sdk.NoOpNoGain), nil
}

func TestConformanceAcceptsAMemoThatFollowsTheHistory(t *testing.T) {
	sdktest.Conformance(t, remembering{}, sdktest.Config{})
}

func TestConformanceNamesTheHistoryAndTheRule(t *testing.T) {
	for name, tc := range map[string]struct {
		strategy sdk.Strategy
		want     string
	}{
		"a response without its call": {suffix{carelessly: true}, "[orphaned]"},
		"a target that was missed":    {suffix{silently: true}, "[target-missed]"},
		"people who are gone":         {suffix{forgetfully: true}, "the metadata speaks of 0); count what is dropped, or say what was preserved [people-gone]: was"},
		"a mark that is not true":     {suffix{boastfully: true}, `[untrue]: came "[… 9999 lines omitted]"`},
		"a pinned entry that is gone": {suffix{thoroughly: true}, "[pinned]"},
		"a stale memo":                {remembering{stale: true}, "[memo]"},
		"a memo of applied edits":     {remembering{misplaces: true}, "left by edits that were applied"},
		"a change of what was seen": {remembering{scribbles: true},
			"changed its input in place (later calls of the session see it too)"},
	} {
		t.Run(name, func(t *testing.T) {
			c := &complaints{TB: t}
			sdktest.Conformance(c, tc.strategy, sdktest.Config{})
			all := strings.Join(c.said, "\n")
			if !strings.Contains(all, tc.want) || !strings.Contains(all, `history "`) {
				t.Errorf("got %s", all)
			}
		})
	}
}

// That each mutant is found is tested in package conform. These need what is done here: copies, caught panics, another
// standard output, and the host of a test.
func TestConformanceFindsMutants(t *testing.T) {
	race.Skip(t)
	for _, m := range mutants.All() {
		switch m.Name {
		case "keeps-its-first-settings", "trips-over-empty-entries-in-compress", "prints-in-compress", "swallows-failures":
			t.Run(m.Name, func(t *testing.T) {
				t.Parallel()
				s, _ := mutants.New(m.Name)
				c := &complaints{TB: t}
				sdktest.Conformance(c, s, sdktest.Config{})
				if all := strings.Join(c.said, "\n"); !strings.Contains(all, "["+m.Rule.Code+"]") {
					t.Errorf("got %.2000s", all)
				}
			})
		}
	}
}

// What is not true is found with a history of one's own, too.
func TestOptimizeAndCompressReadWhatIsWritten(t *testing.T) {
	history := samples.Mixed(samples.Matters(), 5).History
	lies, _ := mutants.New("counts-one-too-many")
	_, err := sdktest.Config{}.Optimize(t.Context(), lies, history)
	wants(t, err, "[untrue]")
	lies, _ = mutants.New("counts-wrong-in-compress")
	_, err = sdktest.Config{ContextLimit: 5000}.Compress(t.Context(), lies, history)
	wants(t, err, "[untrue]")
}

// idle does nothing.
type idle struct{}

func (idle) Info() sdk.Info {
	return sdk.Info{Name: "idle", Version: "1.0.0", Trigger: sdk.Continuous(0.8)}
}

func (idle) Optimize(context.Context, sdk.OptimizeInput) (sdk.DensityResult, error) {
	return sdk.DensityResult{}, nil
}

func (idle) Compress(context.Context, sdk.Host, sdk.CompressInput) (sdk.CompressResult, error) {
	return sdk.NoOp(sdk.NoOpNoGain), nil
}

func TestConformanceSaysWhenItSawNothing(t *testing.T) {
	c := &complaints{TB: t}
	sdktest.Conformance(c, idle{}, sdktest.Config{})
	if logged := strings.Join(c.logged, "\n"); len(c.said) > 0 ||
		!strings.Contains(logged, "nothing to judge: it prunes nothing in ") || !strings.Contains(logged, "(optimize-valid") {
		t.Errorf("said %q, logged %q", c.said, c.logged)
	}
}
