// Package history owns a conversation's history. It appends entries, hands out snapshots, checks and applies what a
// strategy answered, and builds the view that is safe to send to a model.
//
// It is for package prepare and for package window. Start at [History], then [Snapshot.PlanOptimize] and
// [Snapshot.PlanCompress], the only places where a strategy's answer meets the history for which it was made.
//
// Three rules hold at all times:
//
//   - Entries are immutable: a snapshot can be read without a lock.
//   - A rewrite is all or nothing.
//   - Entries appended while a strategy works are kept, after what the strategy returns.
//
// Revision counts every change of a history, epoch only rewrites. A plan can be applied in the epoch for which it was
// made. Within an epoch, the beginning of the history never changes.
//
// [History] has one lock, which is never held while a strategy works. View holds it while it counts the few entries
// that it makes.
package history
