// Command thresh-strategy-middle-out is the strategy middle-out as a plugin of its own. The same is built into thresh.
package main

import (
	"github.com/thresh-dev/thresh/plugins/middleout"
	"github.com/thresh-dev/thresh/sdk/serve"
)

func main() { serve.Strategy(middleout.Strategy{}) }
