package main

import "github.com/thresh-dev/thresh/sdk/serve"

// main serves the strategy to the host that started the process. Started by hand, the program says what it is.
func main() { serve.Strategy(Strategy{}) }
