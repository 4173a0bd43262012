// Package vectors reads test material that is not part of the repository, from a directory named "shared" next to it:
// test vectors (cases with expected results) and recorded sessions. It is only for the tests of this repository.
//
// Start with [Decode] for a file of cases and with [Path] for anything else. If the directory is missing, both skip
// the test and say so. [Counter] counts tokens in the way that a case names, and [Value] compares JSON by its
// meaning.
package vectors
