package main

import (
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/host/internal/lab/transcript"
)

func TestManyNotesAreCut(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	newApp(place{}, nil, nil, &out).notes("s.json", make([]transcript.Note, 5000))
	if text := out.String(); strings.Count(text, "\n") != maxNotes+1 ||
		!strings.Contains(text, "s.json: and 4980 more\n") {
		t.Error(text)
	}
}

func TestLongLinesBreakAtSpaces(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"": "", "fits in ten": "fits in\nten", "  a line\n\nanother one\n": "  a line\n\nanother\none\n",
		"0123456789 0123456789012 é ü": "0123456789\n0123456789012\né ü", "ééééé éééé": "ééééé éééé",
	} {
		if got := fold(in, 10); got != want {
			t.Errorf("%q: %q", in, got)
		}
	}
}
