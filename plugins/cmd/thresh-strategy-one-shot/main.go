// Command thresh-strategy-one-shot is the strategy one-shot as a plugin of its own. The same is built into thresh.
package main

import (
	"github.com/thresh-dev/thresh/plugins/oneshot"
	"github.com/thresh-dev/thresh/sdk/serve"
)

func main() { serve.Strategy(oneshot.Strategy{}) }
