// Command thresh-strategy-high-density is the strategy high-density as a plugin of its own. The same is built into thresh.
package main

import (
	"github.com/thresh-dev/thresh/plugins/highdensity"
	"github.com/thresh-dev/thresh/sdk/serve"
)

func main() { serve.Strategy(highdensity.Strategy{}) }
