// Package history owns a conversation's history: it appends, hands out snapshots, applies what a strategy answered, and
// builds the view that is safe to send to a model.
//
// It is the host's own; agent authors meet it through host.Session. Start at [History], then [Snapshot.PlanOptimize] and
// [Snapshot.PlanCompress]: they are the one place where a plugin's answer is checked against the history it was made for.
//
// Three rules hold at all times. Entries are never changed in place, so a snapshot can be read without a lock for as long
// as anybody likes. A rewrite is all or nothing. What is appended while a strategy works is kept behind what it returns.
package history
