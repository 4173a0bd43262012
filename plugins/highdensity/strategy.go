package highdensity

import (
	"context"

	"github.com/thresh-dev/thresh/sdk"
	"github.com/thresh-dev/thresh/sdk/prune"
)

// Strategy is high-density: it prunes before every threshold check and needs no LLM. What it remembers of a session is
// in the memo that the SDK keeps, and is only there to save work: every call gets the whole history as it is then, and
// the host may start a new process for any of them.
type Strategy struct{}

var (
	_ sdk.Strategy  = Strategy{}
	_ sdk.Optimizer = Strategy{}
)

// Info names the strategy. Its trigger is continuous: the host calls Optimize before each threshold check, and
// Compress from 85 % of the context limit on.
func (Strategy) Info() sdk.Info {
	return sdk.Info{
		Name:    "high-density",
		Version: "1.0.0",
		Description: "prunes superseded reads, repeated inclusions and old results; shortens tool results; needs no " +
			"LLM",
		Trigger: sdk.Continuous(0.85),
	}
}

// Optimize prunes as the settings under compression.density say.
func (Strategy) Optimize(ctx context.Context, in sdk.OptimizeInput) (sdk.DensityResult, error) {
	return prune.Optimize(ctx, in)
}
