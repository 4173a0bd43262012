// Command thresh-strategy-high-density is the strategy high-density as a plugin: it keeps a history dense without an
// LLM.
//
// The host starts it; users choose it with compression.strategy. Before every threshold check it prunes by the rules of
// package prune (strategy.go). Where that is not enough, Compress runs: start reading at [Strategy.Compress]. Its steps
// are the methods of plan (plan.go).
package main

import "github.com/thresh-dev/thresh/sdk"

func main() { sdk.Serve(Strategy{}) }
