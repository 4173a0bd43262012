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

// settings are what people write under strategies.distill.
type settings struct {
	SoftWindow float64 `json:"softWindow"`
}

// Info names the strategy and its settings.
func (Strategy) Info() sdk.Info {
	return sdk.Info{
		Name:        "distill",
		Version:     "1.1.0",
		Description: "keeps the agent's words and lines that later calls need, rewrites rarely; needs no LLM",
		Trigger:     sdk.Continuous(threshold).WhenCold(coldThreshold),
		Config: []sdk.ConfigField{{
			Key: "softWindow", Type: sdk.Number, Default: softest, Minimum: new(softest), Maximum: new(1.0),
			Description: "the share that is used of a context window of 150,000 tokens or more",
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
