package distill

import (
	"fmt"

	"github.com/thresh-dev/thresh/sdk"
)

// Strategy is distill. It has no state: what Optimize remembers is in the memo that the SDK keeps.
type Strategy struct{}

var (
	_ sdk.Strategy  = Strategy{}
	_ sdk.Optimizer = Strategy{}
)

// settings are what people write under strategies.distill. The last three switch on rules by which high-density prunes.
// They are off by default: they change what was sent, and on recorded sessions that cost more than it saved.
type settings struct {
	SoftWindow float64 `json:"softWindow"`
	StaleReads bool    `json:"staleReads"`
	Inclusions bool    `json:"inclusions"`
	Recency    int     `json:"recency"` // how many results of each tool stay; 0: all
}

// Info names the strategy and its settings.
func (Strategy) Info() sdk.Info {
	return sdk.Info{
		Name:        "distill",
		Version:     "1.0.0",
		Description: "keeps the lines that later calls need and rewrites rarely; needs no LLM",
		Trigger:     sdk.Continuous(threshold).WhenCold(coldThreshold),
		Config: []sdk.ConfigField{{
			Key: "softWindow", Type: sdk.Number, Default: softest, Minimum: new(softest), Maximum: new(1.0),
			Description: "the share that is used of a context window of 150,000 tokens or more",
		}, {
			Key: "staleReads", Type: sdk.Boolean, Default: false,
			Description: "remove reads that a later write made stale",
		}, {
			Key: "inclusions", Type: sdk.Boolean, Default: false,
			Description: "of a file that people included several times, keep the last inclusion",
		}, {
			Key: "recency", Type: sdk.Integer, Default: 0, Minimum: new(0.0),
			Description: "how many results of each tool to keep; 0 keeps all",
		}},
	}
}

// settingsOf returns the settings of a call; what is not set is as Info says.
func settingsOf(c sdk.Config) (settings, error) {
	s := settings{SoftWindow: softest}
	if err := c.Decode(&s); err != nil {
		return s, fmt.Errorf("settings: %w", err)
	}
	return s, nil
}
