package prepare

import (
	"context"

	"github.com/thresh-dev/thresh/host/outcome"
	"github.com/thresh-dev/thresh/sdk"
)

// Missing is a strategy that cannot be had at the moment: its file is gone, its process does not start, crashed too
// often, or lacks what its settings should say. Every call fails.
type Missing struct {
	info sdk.Info
	err  error
}

// NewMissing returns a strategy that fails with err. known is what it reported when it could be had; of one that never
// reported anything only the hard limit is known.
func NewMissing(name string, known sdk.Info, err error) *Missing {
	if known.Name == "" {
		known = sdk.Info{Name: name, Trigger: sdk.Trigger{DefaultThreshold: 1}}
	}
	return &Missing{known, err}
}

func (m *Missing) Info() sdk.Info { return m.info }

func (m *Missing) Optimize(context.Context, OptimizeCall) (OptimizeAnswer, error) {
	return OptimizeAnswer{}, m.err
}

func (m *Missing) Compress(context.Context, CompressCall, sdk.Host) (CompressAnswer, error) {
	return CompressAnswer{}, m.err
}

func (m *Missing) Rewritten(Call) {}

// missing reports whether the turn goes on without its strategy. The error is why there is none.
func (t *turn) missing(ctx context.Context) (bool, error) {
	m, is := t.req.Strategy.(*Missing)
	if !is {
		return false, nil
	}
	if t.info.Trigger.Mode != sdk.ModeContinuous {
		t.outcome.Optimize.Skipped = outcome.SkippedNotContinuous
	}
	return true, t.fails(ctx, CallStart, m.err)
}

// withoutStrategy makes a request fit that a strategy should have made smaller.
func (t *turn) withoutStrategy(ctx context.Context) error {
	if t.fits() {
		return nil
	}
	return t.makeFit(ctx)
}
