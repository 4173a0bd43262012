// Command thresh-strategy-one-shot is the strategy one-shot as a plugin: a model summarises all but the end of a history.
//
// It is for the host to start; people choose it with compression.strategy. All of it is [Strategy.Compress].
package main

import "github.com/thresh-dev/thresh/sdk"

func main() { sdk.Serve(Strategy{}) }
