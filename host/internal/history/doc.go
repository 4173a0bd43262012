// Package history owns a conversation's history. It appends entries, hands out snapshots, checks and applies what a
// strategy answered, and builds the view that is safe to send to a model.
//
// It is for package prepare and for the engine; agent authors reach it through host.Session. Start at [History]. Then
// read [Snapshot.PlanOptimize] and [Snapshot.PlanCompress], the only places where a strategy's answer meets the
// history for which it was made.
//
// How the files relate: history.go appends; plan.go turns an answer into a checked [Plan], which apply.go applies;
// change.go and touch.go tell what a plan does, for reports and for the decision whether to apply it; view.go,
// view_build.go and exchange.go make a history valid for providers, and shown.go keeps what of a view can be used for
// the next; sums.go adds up tokens; curate.go selects what a Compress is given.
//
// Three rules hold at all times:
//
//   - Entries are immutable. A rewrite makes new entries, so that a snapshot can be read without a lock for as long
//     as needed.
//   - A rewrite is all or nothing.
//   - Entries that are appended while a strategy works stay, after what the strategy returns.
//
// Revision counts every change of a history, epoch only rewrites. A plan can be applied while the epoch is the one
// for which it was made. Within an epoch, the beginning of the history never changes.
//
// [History] has one lock, which is never held while a strategy works. View holds it while it counts the few entries
// that it makes.
package history
