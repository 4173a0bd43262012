// Package summarytest is what the tests of all strategies share that let an LLM summarise. It is only for the tests
// and benchmarks of this repository: the strategies in plugins/ and package sdk/summary.
//
// [Config] gives a strategy a model and a prompt. [Limited] is a model that enforces its context window. Every such
// strategy must pass [CheckVectors], [CheckProperties], [CheckNoModel] and [CheckEmptySummary]; [Benchmark] measures
// it.
package summarytest
