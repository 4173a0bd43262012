// Package builtin holds the strategies that ship. They are plugins like any other, each a process of its own, but the
// program that is started for one is the host's.
//
// Start at [Main].
package builtin

import (
	"maps"
	"os"
	"slices"
	"sync/atomic"

	"github.com/thresh-dev/thresh/host/internal/plugins/discover"
	"github.com/thresh-dev/thresh/plugins/distill"
	"github.com/thresh-dev/thresh/plugins/highdensity"
	"github.com/thresh-dev/thresh/plugins/middleout"
	"github.com/thresh-dev/thresh/plugins/oneshot"
	"github.com/thresh-dev/thresh/plugins/topdown"
	"github.com/thresh-dev/thresh/sdk"
	"github.com/thresh-dev/thresh/sdk/serve"
)

var strategies = map[string]sdk.Strategy{
	"distill":             distill.Strategy{},
	"high-density":        highdensity.Strategy{},
	"middle-out":          middleout.Strategy{},
	"one-shot":            oneshot.Strategy{},
	"top-down-truncation": topdown.Strategy{},
}

// registered is set by Main. It is global because it is about the running program: one whose main does not call Main
// would start itself as a second host instead of a strategy.
var registered atomic.Bool

// Main makes the program able to be a strategy. Call it first in main: in a process that a host started as a strategy
// it does not return.
func Main() {
	registered.Store(true)
	if name, ok := discover.StrategyName(os.Args[0]); ok && strategies[name] != nil {
		serve.Strategy(strategies[name])
	}
}

// Names returns the sorted names of the strategies that this program can be; none if it did not call [Main].
func Names() []string {
	if !registered.Load() {
		return nil
	}
	return slices.Sorted(maps.Keys(strategies))
}

// Declared returns the settings that a strategy declares.
func Declared(name string) []sdk.ConfigField {
	if s := strategies[name]; s != nil {
		return s.Info().Config
	}
	return nil
}
