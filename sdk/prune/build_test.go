package prune

import (
	"context"

	"pgregory.net/rapid"

	"github.com/thresh-dev/thresh/internal/testkit/gen"
	"github.com/thresh-dev/thresh/sdk"
)

var call, answer, said = gen.Call, gen.Answer, gen.Said

// strategy only prunes.
type strategy struct{}

func (strategy) Info() sdk.Info {
	return sdk.Info{Name: "prune", Version: "1.0.0", Trigger: sdk.Continuous(0.85)}
}

func (strategy) Optimize(ctx context.Context, in sdk.OptimizeInput) (sdk.DensityResult, error) {
	return Optimize(ctx, in)
}

func (strategy) Compress(context.Context, sdk.Host, sdk.CompressInput) (sdk.CompressResult, error) {
	return sdk.NoOp(sdk.NoOpNoGain), nil
}

// histories draws histories in which much can be pruned, and malformed ones.
func histories() *rapid.Generator[[]sdk.Content] {
	return rapid.OneOf(gen.Busy(), gen.History(gen.Options{Malformed: true, MediaBlocks: true}))
}
