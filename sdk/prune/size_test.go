package prune

import (
	"runtime"
	"testing"

	"github.com/thresh-dev/thresh/internal/testkit/gen"
	"github.com/thresh-dev/thresh/sdk"
	"github.com/thresh-dev/thresh/sdk/tools"
)

// What a state says that it takes is about what the heap grows by, whichever rules are on.
func TestAStateSaysWhatItTakes(t *testing.T) {
	taxonomy, err := tools.ForPresets(tools.PresetNames(), nil)
	if err != nil {
		t.Fatal(err)
	}
	in := sdk.OptimizeInput{Call: sdk.Call{History: gen.Session(5000, 1), Tools: taxonomy}}
	for name, density := range map[string]sdk.DensityConfig{
		"default": sdk.DefaultDensityConfig(),
		"recency": {ReadWritePruning: true, FileDedupe: true, RecencyPruning: true, RecencyRetention: 3},
	} {
		in.Density, in.Memo = density, new(sdk.Memo)
		before := heap()
		if _, err := Optimize(t.Context(), in); err != nil {
			t.Fatal(err)
		}
		took := heap() - before
		says := int64(in.Memo.Load().(*state).MemoBytes())
		if says < took*7/10 || says > took*3/2 {
			t.Errorf("%s: the state says that it takes %d bytes, the heap grew by %d", name, says, took)
		}
		runtime.KeepAlive(in)
	}
}
