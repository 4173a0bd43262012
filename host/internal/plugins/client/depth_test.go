package client

import (
	"testing"
)

func TestJSONDepth(t *testing.T) {
	for text, want := range map[string]int{
		``: 0, `1`: 0, `"[[["`: 0, `"\"[["`: 0, `[]`: 1, `[{"a":[]},{}]`: 3, `{"]":{"\\":[1]}}`: 3,
	} {
		if got := jsonDepth([]byte(text)); got != want {
			t.Errorf("%s: %d, want %d", text, got, want)
		}
	}
}
