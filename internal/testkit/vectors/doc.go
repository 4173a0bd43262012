// Package vectors reads the test material in a folder "shared" beside the repository: cases with expected results, and
// recorded sessions. It is for the tests of this repository and for nothing else.
//
// Start with [Decode] for a file of cases, and with [Path] for anything else. Where the folder is absent, both skip the
// test and say so. [Counter] is how the cases count tokens, and [Value] compares JSON by what it says.
package vectors
