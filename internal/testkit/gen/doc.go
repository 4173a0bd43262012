// Package gen makes histories for tests: it is for the tests and benchmarks of this repository and for nothing else.
//
// [History] is a generator for property tests (pgregory.net/rapid): short histories with everything in them that real
// transcripts hold — parallel calls, failed and unanswered ones, ids that repeat, media, odd Unicode — and, if asked
// for, everything that they should not hold. [Session] makes one long, plausible coding session for benchmarks; the
// same arguments give the same session. [Letters] makes the short ones of which a table of cases says what is where.
package gen
