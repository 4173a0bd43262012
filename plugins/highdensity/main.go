// Command thresh-strategy-high-density is the strategy high-density as a plugin: it keeps a history dense without an
// LLM.
//
// The host starts it; users choose it with compression.strategy. Start reading at [Strategy.Optimize], which prunes
// before every threshold check, and [Strategy.Compress], which runs when pruning was not enough.
//
// Optimize works on what is new. state.go takes entries in one by one and can go back; optimize_readwrite.go,
// optimize_inclusions.go and optimize_recency.go are what an entry does by each of the three rules; edits.go makes the
// answer. The steps of Compress are the methods of plan (plan.go).
package main

import "github.com/thresh-dev/thresh/sdk"

func main() { sdk.Serve(Strategy{}) }
