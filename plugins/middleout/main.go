// Command thresh-strategy-middle-out is the strategy middle-out as a plugin: an LLM summarises the middle of a
// history, while its beginning (the task) and its end (the current work) stay.
//
// The host starts it; users choose it with compression.strategy. All of it is [Strategy.Compress]: middle chooses the
// range, and package sdk/summary does the rest, from the prompt to the check of the summary.
package main

import "github.com/thresh-dev/thresh/sdk"

func main() { sdk.Serve(Strategy{}) }
