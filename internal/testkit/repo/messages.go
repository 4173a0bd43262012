package repo

import (
	"bytes"
	"encoding/json"
	"os"
	"testing"
)

// Messages returns those of a recorded session, in the form of its provider.
func Messages(tb testing.TB, file string) (all []json.RawMessage) {
	tb.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		tb.Fatal(err)
	}
	var whole struct{ Traj []json.RawMessage }
	if json.Unmarshal(data, &whole) == nil && whole.Traj != nil {
		return whole.Traj
	}
	for d := json.NewDecoder(bytes.NewReader(data)); d.More(); {
		var line struct {
			Type    string
			Payload json.RawMessage
			Message map[string]json.RawMessage
		}
		if err := d.Decode(&line); err != nil {
			tb.Fatal(err)
		}
		switch line.Type {
		case "response_item":
			all = append(all, line.Payload)
		case "user", "assistant":
			m, err := json.Marshal(map[string]json.RawMessage{"role": line.Message["role"], "content": line.Message["content"]})
			if err != nil {
				tb.Fatal(err)
			}
			all = append(all, m)
		}
	}
	return all
}
