// Command thresh-strategy-top-down-truncation is the strategy top-down-truncation as a plugin: it drops the oldest
// entries of a history. It is the simplest strategy that ships, and the one to read first.
//
// The host starts it; users choose it with compression.strategy. All of it is [Strategy.Compress].
package main

import "github.com/thresh-dev/thresh/sdk"

func main() { sdk.Serve(Strategy{}) }
