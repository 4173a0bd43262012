package main

import (
	"context"

	"github.com/thresh-dev/thresh/sdk"
)

// Optimize prunes in three phases: reads that a later write made stale, file inclusions that are repeated later, and
// all but the newest results of each tool. The settings under compression.density switch each phase on or off.
//
// Optimize must be idempotent: when its result is applied, a second Optimize changes nothing. Otherwise a history
// would change at every turn, and with it the provider's prompt cache. It checks ctx between the phases, each of
// which takes milliseconds.
func (Strategy) Optimize(ctx context.Context, in sdk.OptimizeInput) (sdk.DensityResult, error) {
	d := newDraft(in.History)
	var m sdk.DensityMetadata
	if in.Density.ReadWritePruning {
		m.ReadWritePairsPruned = pruneStaleReads(d, in)
	}
	if err := ctx.Err(); err != nil {
		return sdk.DensityResult{}, err
	}
	if in.Density.FileDedupe {
		m.FileDeduplicationsPruned = dedupeInclusions(d, in.WorkspaceRoot)
	}
	if err := ctx.Err(); err != nil {
		return sdk.DensityResult{}, err
	}
	if in.Density.RecencyPruning {
		m.RecencyPruned = pruneByRecency(d, in.Density.RecencyRetention)
	}
	return d.result(m), nil
}
