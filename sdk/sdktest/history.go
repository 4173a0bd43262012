package sdktest

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/thresh-dev/thresh/internal/conform"
	"github.com/thresh-dev/thresh/sdk"
)

// ParseHistory reads a history in the native form: an array of entries, or an object with such an array in "history".
// The error names the entry that is none, from 0.
func ParseHistory(data []byte) ([]sdk.Content, error) {
	var raws []json.RawMessage
	list := bytes.TrimSpace(data)
	if len(list) > 0 && list[0] == '{' {
		var wrapped struct {
			History json.RawMessage `json:"history"`
		}
		if err := json.Unmarshal(list, &wrapped); err != nil {
			return nil, fmt.Errorf("history: %w", err)
		}
		// Absent, not null: null is an empty history.
		if wrapped.History == nil {
			return nil, fmt.Errorf(`history: the object has no field "history"`)
		}
		list = wrapped.History
	}
	// Entries stay raw at first, so the error can name the one that is wrong.
	if err := json.Unmarshal(list, &raws); err != nil {
		return nil, fmt.Errorf("history: %w", err)
	}
	entries := make([]sdk.Content, len(raws))
	for i, raw := range raws {
		if err := json.Unmarshal(raw, &entries[i]); err != nil {
			return nil, fmt.Errorf("history: entry %d: %w", i, err)
		}
	}
	return entries, nil
}

// Apply returns the history after the edits of a result, which must be one that [CheckDensity] accepts.
// Its entries say where they stood in the input.
func Apply(history []sdk.Content, r sdk.DensityResult) []sdk.Content {
	return conform.Apply(history, r)
}
