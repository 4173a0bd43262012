package main

import "github.com/thresh-dev/thresh/sdk"

func main() { sdk.Serve(Strategy{}) }
