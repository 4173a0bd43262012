// Package prune leaves out of a history what its later entries made dispensable. It is for authors of strategies; a
// strategy calls [Optimize] in its own:
//
//	func (Strategy) Optimize(ctx context.Context, in sdk.OptimizeInput) (sdk.DensityResult, error) {
//		return prune.Optimize(ctx, in)
//	}
//
// state.go takes entries in one by one and can go back; reads.go, inclusions.go and recency.go are what an entry does
// by each of the three rules; edits.go makes the answer.
package prune

import (
	"context"

	"github.com/thresh-dev/thresh/sdk"
)

// Optimize prunes by three rules: reads that a later write made stale, file inclusions that are repeated later, and all
// but the newest results of each tool. in.Density switches each rule on or off.
//
// It works on what is new: in.Memo holds the state of the last call, which is rolled back to what is unchanged of the
// history and extended by the rest. Without a memo it is extended from nothing, by the same code, so that the answer
// does not depend on what was remembered.
//
// Optimize must be idempotent: when its result is applied, a second Optimize changes nothing. Otherwise a history
// would change at every turn, and with it the provider's prompt cache.
func Optimize(ctx context.Context, in sdk.OptimizeInput) (sdk.DensityResult, error) {
	set := settings{in.Density, in.WorkspaceRoot, in.Tools}
	s, ok := in.Memo.Load().(*state)
	// To go back far costs as much as to begin again. The latter also releases the memory of what is gone.
	if !ok || s.set != set || in.Unchanged < s.known()/2 {
		s = newState(set)
	}
	if err := s.extend(ctx, in.History, min(in.Unchanged, s.known()), in.Log); err != nil {
		in.Memo.Store(nil) // the state is between two histories
		return sdk.DensityResult{}, err
	}
	in.Memo.Store(s)
	return s.result(), nil
}
