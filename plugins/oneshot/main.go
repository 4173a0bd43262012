// Command thresh-strategy-one-shot is the strategy one-shot as a plugin: an LLM summarises all but the end of a
// history.
//
// The host starts it; users choose it with compression.strategy. All of it is [Strategy.Compress], which chooses the
// range; package sdk/summary does the rest, from the prompt to the check of the summary.
package main

import "github.com/thresh-dev/thresh/sdk"

func main() { sdk.Serve(Strategy{}) }
