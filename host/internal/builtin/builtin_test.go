package builtin

import (
	"testing"

	"github.com/thresh-dev/thresh/sdk"
)

func TestWhatTheStrategiesDeclare(t *testing.T) {
	want := map[string]struct {
		trigger sdk.Trigger
		llm     bool
	}{
		"distill":             {sdk.Continuous(0.51).Early(0.05), false},
		"high-density":        {sdk.Continuous(0.85), false},
		"middle-out":          {sdk.Threshold(0.85), true},
		"one-shot":            {sdk.Threshold(0.85), true},
		"top-down-truncation": {sdk.Threshold(0.85), false},
	}
	if len(strategies) != len(want) {
		t.Errorf("%d strategies, want %d", len(strategies), len(want))
	}
	for name, s := range strategies {
		info := s.Info()
		_, optimizes := s.(sdk.Optimizer)
		if info.Name != name || info.Trigger != want[name].trigger || info.RequiresLLM != want[name].llm ||
			optimizes != (info.Trigger.Mode == sdk.ModeContinuous) {
			t.Errorf("%s: %+v, Optimize: %v", name, info, optimizes)
		}
	}
}
