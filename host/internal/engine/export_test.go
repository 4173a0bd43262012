package engine

import "time"

// SetSnapshotEvery makes sessions write a snapshot after so many records.
func (h *Host) SetSnapshotEvery(records int) { h.snapshotEvery = records }

// SetLeaseTime makes leases last so long.
func (h *Host) SetLeaseTime(d time.Duration) { h.leaseTime = d }
