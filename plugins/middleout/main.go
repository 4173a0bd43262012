// Command thresh-strategy-middle-out is the strategy middle-out as a plugin: a model summarises the middle of a history.
//
// It is for the host to start; people choose it with compression.strategy. All of it is [Strategy.Compress].
package main

import "github.com/thresh-dev/thresh/sdk"

func main() { sdk.Serve(Strategy{}) }
