// Command thresh-strategy-top-down-truncation is the strategy top-down-truncation as a plugin of its own. The same is built into thresh.
package main

import (
	"github.com/thresh-dev/thresh/plugins/topdown"
	"github.com/thresh-dev/thresh/sdk/serve"
)

func main() { serve.Strategy(topdown.Strategy{}) }
