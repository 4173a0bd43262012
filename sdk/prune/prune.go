// Package prune leaves out of a history what its later entries made dispensable. It is for authors of strategies; a
// strategy calls [Optimize] in its own:
//
//	func (Strategy) Optimize(ctx context.Context, in sdk.OptimizeInput) (sdk.DensityResult, error) {
//		return prune.Optimize(ctx, in)
//	}
//
// state.go takes entries in one by one; reads.go, inclusions.go and recency.go are what an entry does by each of the
// three rules; edits.go makes the answer, and applied.go takes in that the host applied it.
package prune

import (
	"context"

	"github.com/thresh-dev/thresh/sdk"
)

// Optimize prunes by three rules: reads that a later write made stale, file inclusions that are repeated later, and all
// but the newest results of each tool. in.Density switches each rule on or off.
//
// It works on what is new: in.Memo holds the state of the last call, which is extended by the entries that follow. The
// edits of that call's answer are taken into it if they were applied ([sdk.OptimizeInput.Applied]). After any other
// rewrite, and without a memo, Optimize begins with nothing, by the same code, so the answer does not depend on
// what was remembered. A strategy that adds edits of its own to the answer sets in.Applied to 0, as they are not known
// here.
//
// Optimize must be idempotent: when its result is applied, a second Optimize changes nothing. Otherwise a history
// would change at every turn, and with it the provider's prompt cache.
func Optimize(ctx context.Context, in sdk.OptimizeInput) (sdk.DensityResult, error) {
	set := settings{in.Density, in.WorkspaceRoot, in.Tools}
	s, ok := in.Memo.Load().(*state)
	switch {
	case !ok || s.set != set:
		ok = false
	case in.Applied > 0:
		ok = s.applied() && s.known() == in.Applied
	default:
		ok = s.known() <= in.Unchanged // it is more after a call that was cancelled
	}
	if !ok {
		s = newState(set)
	}
	if err := s.extend(ctx, in.History, in.Log); err != nil {
		return sdk.DensityResult{}, err
	}
	in.Memo.Store(s)
	return s.result(), nil
}
