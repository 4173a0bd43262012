package summary

import (
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/sdk/marks"
	"github.com/thresh-dev/thresh/sdk/tools"
)

func TestIsLine(t *testing.T) {
	tests := map[string]bool{
		"[t — success, 0 lines]":                                     true,
		"[t: a — b — error, 1 line]":                                 true,
		"[t: " + strings.Repeat("x", 119) + "… — success, 12 lines]": true,
		"[t — success, 1 lines]":                                     false,
		"[t — success, -2 lines]":                                    false,
		"[t — success]":                                              false,
		"[t — fine, 2 lines]":                                        false,
		"[tt — success, 2 lines]":                                    false,
		"[t — success, 2 lines] and more":                            false,
		"[t: a\nb — success, 2 lines]":                               false,
		"[t: " + strings.Repeat("x", 5000) + " — success, 2 lines]":  false,
		"": false,
	}
	for text, want := range tests {
		if got := IsLine("t", text); got != want {
			t.Errorf("%.60q: %v, want %v", text, got, want)
		}
	}
}

// Every line that is made is known again, whatever names, commands and results hold.
func FuzzLine(f *testing.F) {
	f.Add("read_file", "src/index.ts", "a\nb\n")
	f.Add("", " \n", "")
	f.Add("a — b", "x, 2 lines]", "[")
	f.Add("\xff", "\u2028\r", "\xc3")
	f.Fuzz(func(t *testing.T, tool, key, result string) {
		line := makeLine(tool, key, tools.OutcomeRunning, marks.Lines(result))
		if strings.ContainsAny(line, "\r\n") || len(line) > lineBytes {
			t.Errorf("no short line: %q", line)
		}
		if !IsLine(tool, line) {
			t.Errorf("made but not known again: %q", line)
		}
	})
}
