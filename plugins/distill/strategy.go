package main

import "github.com/thresh-dev/thresh/sdk"

// Strategy is distill. It has no state: what Optimize remembers is in the memo that the SDK keeps.
type Strategy struct{}

var (
	_ sdk.Strategy  = Strategy{}
	_ sdk.Optimizer = Strategy{}
)

// settings are what people write under strategies.distill.
type settings struct {
	SoftWindow float64 `json:"softWindow"`
}

// Info names the strategy and its setting.
func (Strategy) Info() sdk.Info {
	return sdk.Info{
		Name:        "distill",
		Version:     "1.0.0",
		Description: "keeps the lines that later calls need and rewrites rarely; needs no LLM",
		Trigger:     sdk.Continuous(threshold),
		Config: []sdk.ConfigField{{
			Key: "softWindow", Type: sdk.Number, Default: softest, Minimum: new(softest), Maximum: new(1.0),
			Description: "the share that is used of a context window of 150,000 tokens or more",
		}},
	}
}
