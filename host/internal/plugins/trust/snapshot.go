package trust

import (
	"bytes"
	"encoding/json"

	"github.com/thresh-dev/thresh/sdk"
)

// Snapshot is what a binary reported about itself. The same bytes must report the same at every start, or what a person
// looked at before locking a plugin would mean nothing.
type Snapshot struct {
	// Sum is the binary's [discover.Binary.Sum]; "": nothing is known.
	Sum  string
	Info json.RawMessage
}

// infoRecord is a [sdk.Info] as the lock file stores it. Changing a field changes what existing lock files are
// compared with. The file's name has the plugin's name.
type infoRecord struct {
	Version          string            `json:"version"`
	Description      string            `json:"description,omitempty"`
	Trigger          sdk.TriggerMode   `json:"trigger"`
	DefaultThreshold float64           `json:"defaultThreshold"`
	EarlyThreshold   float64           `json:"earlyThreshold,omitempty"`
	RequiresLLM      bool              `json:"requiresLLM,omitempty"`
	NeedsNetwork     bool              `json:"needsNetwork,omitempty"`
	Settings         []sdk.ConfigField `json:"settings,omitempty"`
}

// Record encodes info for storage and for comparison byte by byte. It fails for numbers that JSON does not have (NaN,
// infinities).
func Record(info sdk.Info) (json.RawMessage, error) {
	return json.Marshal(infoRecord{
		Version: info.Version, Description: info.Description,
		Trigger: info.Trigger.Mode, DefaultThreshold: info.Trigger.DefaultThreshold,
		EarlyThreshold: info.Trigger.EarlyThreshold,
		RequiresLLM:    info.RequiresLLM, NeedsNetwork: info.NeedsNetwork, Settings: info.Config,
	})
}

// Contradicts reports whether info, as [Record] returned it, differs from what the same binary reported before. Without
// a known sum, nothing contradicts.
func (s Snapshot) Contradicts(sum string, info json.RawMessage) bool {
	return s.Sum != "" && s.Sum == sum && !bytes.Equal(s.Info, info)
}

// compact undoes the indentation of a lock file: the JSON is as Record returned it.
func compact(raw json.RawMessage) json.RawMessage {
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return raw
	}
	return b.Bytes()
}
