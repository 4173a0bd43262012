// Package gen generates histories. It is only for the tests and benchmarks of this repository.
//
// [History] is a generator for property tests (pgregory.net/rapid): short histories with everything that real
// transcripts contain (parallel calls, failed and unanswered ones, repeated ids, media, odd Unicode) and, on request,
// everything that they should not contain. [Session] makes one long, plausible coding session for benchmarks; equal
// arguments give equal sessions. [Busy] draws histories in which much can be pruned.
// [Letters] makes short histories for tables of cases.
package gen
