// Package summarytest is what the tests of strategies that have a model summarise share, package sdk/summary's among
// them. It is for the tests and benchmarks of this repository and for nothing else.
//
// [Config] surrounds a strategy with a model; [Limited] is a model that takes its window seriously. [CheckVectors],
// [CheckProperties], [CheckNoModel], [CheckEmptySummary] and [Benchmark] are what every such strategy must stand.
package summarytest
