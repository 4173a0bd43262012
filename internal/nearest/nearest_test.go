package nearest_test

import (
	"slices"
	"testing"

	"github.com/thresh-dev/thresh/internal/nearest"
)

func TestNearest(t *testing.T) {
	known := []string{"compression.threshold", "compression.strategy", "log.level", "off"}
	tests := map[string]string{
		"compression.treshold": "compression.threshold",
		"Compression.Strategy": "compression.strategy",
		"of":                   "off",
		"on":                   "", // two of two letters are wrong
		"plugins.dirs":         "",
		"":                     "",
	}
	for given, want := range tests {
		if got := nearest.One(given, known); got != want {
			t.Errorf("One(%q) = %q, want %q", given, got, want)
		}
	}
	if got := nearest.Some("e12", slices.Values([]string{"e2", "e13", "e1", "e12x", "q", "e13"}), 3); !slices.Equal(got,
		[]string{"e1", "e12x", "e13"}) {
		t.Errorf("Some: got %q", got)
	}
}

// Whatever text comes in, what is shown is short, valid and, but for Clip and ClipMiddle, free of control characters.
