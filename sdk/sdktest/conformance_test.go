package sdktest_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/sdk"
	"github.com/thresh-dev/thresh/sdk/sdktest"
	"github.com/thresh-dev/thresh/sdk/turns"
)

// suffix keeps the end of a history.
type suffix struct{ carelessly, silently bool }

func (suffix) Info() sdk.Info {
	return sdk.Info{Name: "suffix", Version: "1.0.0", Trigger: sdk.Threshold(0.8)}
}

func (s suffix) Compress(_ context.Context, _ sdk.Host, in sdk.CompressInput) (sdk.CompressResult, error) {
	n := len(in.History)
	cut := n * 3 / 4
	if !s.carelessly {
		cut = turns.CutForward(in.History, cut)
	}
	if cut == 0 || cut == n {
		return sdk.NoOp(sdk.NoOpNoGain), nil
	}
	missed := !s.silently && float64(in.Tokens(cut, n)) > in.Target()
	return sdk.Applied(in.History[cut:], sdk.CompressMetadata{TargetMissed: missed}), nil
}

func TestConformanceAcceptsWhatTheHostAccepts(t *testing.T) {
	sdktest.Conformance(t, suffix{}, sdktest.Config{})
}

// complaints takes note of what a test is failed for.
type complaints struct {
	testing.TB
	said []string
}

func (c *complaints) Helper()                      {}
func (c *complaints) Error(args ...any)            { c.said = append(c.said, fmt.Sprint(args...)) }
func (c *complaints) Errorf(f string, args ...any) { c.said = append(c.said, fmt.Sprintf(f, args...)) }

func TestConformanceNamesTheHistoryAndTheRule(t *testing.T) {
	for name, tc := range map[string]struct {
		strategy sdk.Strategy
		want     string
	}{
		"a response without its call": {suffix{carelessly: true}, "lost its call"},
		"a target that was missed":    {suffix{silently: true}, "TargetMissed is not set"},
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
