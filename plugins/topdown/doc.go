// Package topdown is the strategy top-down-truncation: it drops the oldest entries of a history. It is the simplest
// strategy that ships, and the one to read first.
//
// All of it is [Strategy.Compress].
package topdown
