package sdktest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/thresh-dev/thresh/sdk"
	"github.com/thresh-dev/thresh/sdk/content"
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

// withOrigins returns a copy of a history whose entries say where they stand, as those do that the host sends.
func withOrigins(history []sdk.Content) []sdk.Content {
	out := make([]sdk.Content, len(history))
	for i, e := range history {
		out[i] = cloneEntry(e).WithOrigin(i)
	}
	return out
}

// cloneEntry copies everything that a strategy could write to. Texts are immutable in Go and are shared.
func cloneEntry(e sdk.Content) sdk.Content {
	e.Blocks = slices.Clone(e.Blocks)
	for i, b := range e.Blocks {
		e.Blocks[i] = content.Clone(b)
	}
	e.Metadata = bytes.Clone(e.Metadata)
	return e
}

// Apply returns the history after the edits of a result, which must be one that [CheckDensity] accepts.
// Its entries say where they stood in the input.
func Apply(history []sdk.Content, r sdk.DensityResult) []sdk.Content {
	removed := make(map[int]bool, len(r.Removals))
	for _, i := range r.Removals {
		removed[i] = true
	}
	out := make([]sdk.Content, 0, len(history))
	for i, e := range history {
		if removed[i] {
			continue
		}
		if replacement, ok := r.Replacements[i]; ok {
			e = replacement
		}
		out = append(out, e.WithOrigin(i))
	}
	return out
}
