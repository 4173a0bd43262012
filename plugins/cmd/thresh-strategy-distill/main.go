// Command thresh-strategy-distill is the strategy distill as a plugin of its own. The same is built into thresh.
package main

import (
	"github.com/thresh-dev/thresh/plugins/distill"
	"github.com/thresh-dev/thresh/sdk/serve"
)

func main() { serve.Strategy(distill.Strategy{}) }
