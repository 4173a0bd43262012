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
)

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

// That each mutant is found is tested in package conform. These need what is done here: copies, caught panics,
// sessions, another standard output, and the host of a test.
func TestConformanceNamesTheCheckTheHistoryAndTheRule(t *testing.T) {
	mutant := func(name string) sdk.Strategy {
		s, ok := mutants.New(name)
		if !ok {
			t.Fatal(name)
		}
		return s
	}
	for want, s := range map[string]sdk.Strategy{
		`settings-calls: history "all of it, 1"`:                       mutant("keeps-its-first-settings"),
		`"entries without blocks": the strategy panics (in honest.go:`: mutant("trips-over-empty-entries-in-compress"),
		`stdout: history "plain session": it writes to standard output, which belongs to the handshake; log to standard ` +
			`error (in Go also: in.Log) [stdout]: came "compressing`: mutant("prints-in-compress"),
		"no-op hides it (when the model breaks off in mid-answer)":           mutant("swallows-failures"),
		"the metadata speaks of 0); count what is dropped, or say what was ": mutant("drops-people-silently"),
		"[memo]":                                remembering{stale: true},
		"left by edits that were applied":       remembering{misplaces: true},
		"later calls of the session see it too": remembering{scribbles: true},
	} {
		t.Run(want, func(t *testing.T) {
			t.Parallel()
			race.Skip(t)
			c := &complaints{TB: t}
			sdktest.Conformance(c, s, sdktest.Config{})
			if all := strings.Join(c.said, "\n"); !strings.Contains(all, want) {
				t.Errorf("got %.2000s", all)
			}
		})
	}
}

func TestConformanceRefusesSettingsThatAreNotDeclared(t *testing.T) {
	c := &complaints{TB: t}
	sdktest.Conformance(c, remembering{}, sdktest.Config{Settings: map[string]any{"other": 1}})
	if len(c.said) != 1 || !strings.Contains(c.said[0], `"other"`) {
		t.Errorf("got %q", c.said)
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
