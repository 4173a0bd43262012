// Command thresh-strategy-high-density is the strategy high-density as a plugin: it keeps a history dense without an LLM.
//
// It is for the host to start; people choose it with compression.strategy. Reading begins at [Strategy.Optimize], which
// prunes before every threshold check, and [Strategy.Compress], which runs when that was not enough. Each phase of
// Optimize has its own file, optimize_*.go; the steps of Compress are the methods of plan.
package main

import "github.com/thresh-dev/thresh/sdk"

func main() { sdk.Serve(Strategy{}) }
