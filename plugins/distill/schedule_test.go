package distill

import (
	"testing"

	"github.com/thresh-dev/thresh/sdk"
)

// The window is 200,000 tokens, of which distill uses 60 %: its own trigger is at 102,000.
func TestTheHostsDepthIsTheTarget(t *testing.T) {
	for name, c := range map[string]struct {
		depth, tokens int
		due           bool
		target, room  float64
	}{
		"its own, before the trigger": {0, 50_000, false, 33_660, 102_000},
		"its own, at the trigger":     {0, 102_000, true, 33_660, 102_000},
		"the host's":                  {5000, 20_000, true, 5000, 51_000},
		"the host's is no deeper":     {50_000, 60_000, true, 33_660, 102_000},
	} {
		in := sdk.CompressInput{CompressParams: sdk.CompressParams{Depth: c.depth, CurrentTokens: c.tokens,
			Threshold: threshold, Reason: sdk.ReasonThreshold}}
		in.ContextLimit = 200_000
		s := newSchedule(in, softest)
		if s.due(in) != c.due || int(s.target+.5) != int(c.target) || int(s.room+.5) != int(c.room) {
			t.Errorf("%s: due %v, %+v", name, s.due(in), s)
		}
	}
}
