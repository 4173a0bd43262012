package main

import "github.com/thresh-dev/thresh/sdk"

// Strategy is high-density: it prunes before every threshold check and needs no LLM. It keeps nothing between calls.
type Strategy struct{}

var (
	_ sdk.Strategy  = Strategy{}
	_ sdk.Optimizer = Strategy{}
)

// Info names the strategy and its trigger (REQ-HD-004.3).
func (Strategy) Info() sdk.Info {
	return sdk.Info{
		Name:        "high-density",
		Version:     "1.0.0",
		Description: "prunes superseded reads, repeated inclusions and old results; shortens tool results; needs no LLM",
		Trigger:     sdk.Continuous(0.85),
	}
}
