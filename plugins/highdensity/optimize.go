package main

import (
	"context"

	"github.com/thresh-dev/thresh/sdk"
)

// Optimize prunes in three phases: reads that a later write made stale, inclusions that come again later, and results
// beyond the newest of each tool. The input stays as it is; applying the result and optimising again changes nothing.
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
