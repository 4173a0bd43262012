// Command idle is a strategy that does nothing, to measure what sending a history costs.
package main

import (
	"context"

	"github.com/thresh-dev/thresh/sdk"
	"github.com/thresh-dev/thresh/sdk/serve"
)

type idle struct{}

func (idle) Info() sdk.Info {
	return sdk.Info{Name: "idle", Version: "1.0.0", Trigger: sdk.Continuous(0.85)}
}

func (idle) Optimize(context.Context, sdk.OptimizeInput) (sdk.DensityResult, error) {
	return sdk.DensityResult{}, nil
}

func (idle) Compress(context.Context, sdk.Host, sdk.CompressInput) (sdk.CompressResult, error) {
	return sdk.NoOp("idle"), nil
}

func main() { serve.Strategy(idle{}) }
