package main_test

import (
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// reporting is a session of two models, of which the recorder kept what the providers reported.
const reporting = `[
{"speaker":"human","blocks":[{"type":"text","text":"a question"}]},
{"speaker":"ai","blocks":[{"type":"text","text":"an answer"}],"metadata":{"model":"m","usage":{"promptTokens":1000}}},
{"speaker":"human","blocks":[{"type":"text","text":"another question"}]},
{"speaker":"ai","blocks":[{"type":"text","text":"another answer"}],"metadata":{"model":"m","usage":{"input_tokens":40,"cache_read_input_tokens":1160}}},
{"speaker":"ai","blocks":[{"type":"text","text":"a title"}],"metadata":{"usage":{"promptTokens":500}}}
]`

func TestTokensComparesItsCountsWithWhatWasReported(t *testing.T) {
	t.Parallel()
	p := newPlaceHere(t)
	p.file("s.json", reporting)
	type calibration struct {
		Model                          string
		Requests, PeakPrompt, Compared int
		PlainError, CalibratedError    float64
		Ratio                          float64
		Overhead                       int
	}
	got := decode[struct {
		Entries     []struct{ Tokens int }
		Calibration []calibration
	}](t, p.run("tokens", "-o", "json", "s.json"))
	if len(got.Entries) != 5 {
		t.Fatalf("%d entries", len(got.Entries))
	}
	n := func(i int) float64 { return float64(got.Entries[i].Tokens) }
	first, second, third := n(0), n(0)+n(1)+n(2), n(0)+n(1)+n(2)+n(3)
	grown := second - first
	ratio := (3000 + 200) / (3000 + grown)
	overhead := 0.8*(1000-first) + 0.2*(1200-ratio*second)
	want := []calibration{
		{Model: "m", Requests: 2, PeakPrompt: 1200, Compared: 1, PlainError: (1200 - second) / 1200,
			CalibratedError: (1200 - (1000 + grown)) / 1200, Ratio: ratio, Overhead: int(math.Round(overhead))},
		{Requests: 1, PeakPrompt: 500, Ratio: 1, Overhead: int(500 - third)},
	}
	if diff := cmp.Diff(want, got.Calibration, cmpopts.EquateApprox(0, 1e-9)); diff != "" {
		t.Error(diff)
	}

	table := p.run("tokens", "s.json").done(t).stdout
	_, tail, _ := strings.Cut(table, "REPORTED FOR")
	if lines := strings.Split(strings.TrimSpace(tail), "\n"); len(lines) != 3 || !strings.HasPrefix(lines[1], "m ") ||
		!strings.HasPrefix(lines[2], "(unknown model) ") {
		t.Errorf("the table:\n%s", table)
	}
}

func TestTokensIsSilentOnReportsWhereThereAreNone(t *testing.T) {
	t.Parallel()
	p := newPlaceHere(t)
	p.file("s.json", pruning)
	if got := decode[object](t, p.run("tokens", "-o", "json", "s.json")); cmp.Diff([]any{}, got["calibration"]) != "" {
		t.Errorf("calibration: %v", got["calibration"])
	}
	if r := p.run("tokens", "s.json").done(t); strings.Contains(r.stdout, "REPORTED") {
		t.Errorf("the table:\n%s", r.stdout)
	}
}

// A file that a session names in two ways is one file: relative paths are meant from the directory in which the agent
// worked, not from where the report is made.
func TestTokensByFileKnowTheAgentsDirectory(t *testing.T) {
	t.Parallel()
	p := newPlaceHere(t)
	p.file("s.json", `{"cwd":"/away","history":[
{"speaker":"ai","blocks":[{"type":"tool_call","id":"1","name":"read_file","parameters":{"file_path":"src/a.go"}}]},
{"speaker":"tool","blocks":[{"type":"tool_response","callId":"1","toolName":"read_file","result":"x"}]},
{"speaker":"ai","blocks":[{"type":"tool_call","id":"2","name":"read_file","parameters":{"file_path":"/away/src/a.go"}}]},
{"speaker":"tool","blocks":[{"type":"tool_response","callId":"2","toolName":"read_file","result":"x"}]}]}`)
	type share struct {
		Name  string
		Calls int
	}
	got := decode[struct{ Files []share }](t, p.run("tokens", "-o", "json", "s.json"))
	if diff := cmp.Diff([]share{{"/away/src/a.go", 2}}, got.Files); diff != "" {
		t.Error(diff)
	}
}
