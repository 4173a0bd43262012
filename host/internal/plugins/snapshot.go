package plugins

import (
	"bytes"
	"encoding/json"

	"github.com/thresh-dev/thresh/sdk/contract"
)

// snapshot is what a binary said about itself: the same bytes must say the same whenever they are started.
type snapshot struct {
	sum  string // the binary's SHA-256, in hexadecimal; "": nothing is known
	info json.RawMessage
}

// infoRecord is an [contract.Info] as the lock file holds it.
type infoRecord struct {
	Version          string                 `json:"version"`
	Description      string                 `json:"description,omitempty"`
	Trigger          contract.TriggerMode   `json:"trigger"`
	DefaultThreshold float64                `json:"defaultThreshold"`
	RequiresLLM      bool                   `json:"requiresLLM,omitempty"`
	NeedsNetwork     bool                   `json:"needsNetwork,omitempty"`
	Settings         []contract.ConfigField `json:"settings,omitempty"`
}

// record writes info down. It fails for numbers that JSON does not have.
func record(info contract.Info) (json.RawMessage, error) {
	return json.Marshal(infoRecord{
		Version: info.Version, Description: info.Description,
		Trigger: info.Trigger.Mode, DefaultThreshold: info.Trigger.DefaultThreshold,
		RequiresLLM: info.RequiresLLM, NeedsNetwork: info.NeedsNetwork, Settings: info.Config,
	})
}

// compact is record's form of JSON that was indented in a file.
func compact(raw json.RawMessage) json.RawMessage {
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return raw
	}
	return b.Bytes()
}
