package window

import (
	"cmp"
	"context"
	"time"

	"github.com/thresh-dev/thresh/host/internal/store"
)

// SetSnapshotEvery makes sessions write a snapshot after so many records.
func (h *Host) SetSnapshotEvery(records int) { h.keeper.SnapshotEvery = records }

// SetLeaseTime makes leases last so long.
func (h *Host) SetLeaseTime(d time.Duration) { h.keeper.LeaseTime = d }

// Delete deletes the session in its host.
func (s *Session) Delete(ctx context.Context) error { return s.host.Delete(ctx, s.key.Owner, s.key.ID) }

// SetStore keeps the host's sessions in a store; nil in none.
func (h *Host) SetStore(s store.Store) { h.store, h.keeper.Store = s, s }

// Memory is what the sessions of the host take, about.
func (h *Host) Memory() int64 { return h.keeper.Memory() }

// Sleep releases the session's memory.
func (s *Session) Sleep() { s.Journal.Sleep() }

// Released reports whether the session's memory was released.
func (s *Session) Released() bool { return s.Journal.Released() }

// PlanNothing plans a rewrite of the history as it is now that changes nothing, and returns what applies it.
func (s *Session) PlanNothing(ctx context.Context) (apply func() error) {
	plan, err := s.history.Snapshot().PlanOptimize(ctx, nil, counting{s.currentCounter()}.All)
	return func() error { return cmp.Or(err, s.Journal.Rewrite(plan, "optimize", "test")) }
}

// WaitInBackground waits for what the host does besides its calls.
func (h *Host) WaitInBackground() { h.background.Wait() }
