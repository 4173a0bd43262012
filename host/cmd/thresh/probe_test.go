package main_test

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/internal/testkit/modelapi"
	"github.com/thresh-dev/thresh/internal/testkit/repo"
)

var (
	probeQuestions = regexp.MustCompile(`(?m)^- ([0-9a-f]{8}): `)
	probeAnswers   = regexp.MustCompile(`(?m)^=== [0-9a-f]{8} answer ([0-9a-f]{8})$`)
)

// obliging does what a sheet asks for: one question, which every context answers.
func obliging(prompt string) string {
	list := func(field, element string, found [][]string) string {
		var parts []string
		for _, f := range found {
			parts = append(parts, fmt.Sprintf(element, f[1]))
		}
		return fmt.Sprintf(`{%q:[%s]}`, field, strings.Join(parts, ","))
	}
	switch {
	case strings.Contains(prompt, "You write questions"):
		return `{"questions":[{"kind":"decisions","question":"Why?","reference":"so","partly":"half","entry":0}]}`
	case strings.Contains(prompt, "You take over"):
		return list("answers", `{"id":%q,"answer":"so"}`, probeQuestions.FindAllStringSubmatch(prompt, -1))
	}
	return list("grades", `{"id":%q,"grade":"full","wrong":false}`, probeAnswers.FindAllStringSubmatch(prompt, -1))
}

type probeReport struct {
	Questions, Dropped, Open int
	Variants                 []struct {
		Variant string
		Score   struct{ Mean float64 }
	}
	Missing []struct{ Output string }
}

func TestNothingIsSentToAModelWithoutConsent(t *testing.T) {
	t.Parallel()
	p := newLLMPlaceHere(t, "anthropic", modelapi.Options{Reply: func(r *modelapi.Request) modelapi.Reply {
		return modelapi.Reply{Text: obliging(r.Asked().Messages[0].Text)}
	}})
	p.file("s.jsonl", conversation(80))
	probe := func(more ...string) result {
		return p.run(append([]string{
			"probe", "--profile", "writer", "--strategy", "top-down-truncation", "--log-level", "error",
			"--set", "model.contextLimit=10000", "s.jsonl",
		}, more...)...)
	}
	probe().failed(t, 1, "to be asked: ", "tokens in", "USD", "nothing was sent", "--yes")
	probe("--yes", "--usd", "0.0001").failed(t, 1, "to be asked: ", "nothing was sent", "--usd 0.0001")
	if n := len(p.asked()); n > 0 {
		t.Fatalf("%d calls without consent", n)
	}
	r := probe("--yes", "--usd", "1", "-o", "json")
	report := decode[probeReport](t, r)
	if len(report.Variants) != 2 || report.Questions == 0 || report.Open != 0 || len(report.Missing) != 0 {
		t.Errorf("the report is %s", r.stdout)
	}
	n := len(p.asked())
	text := probe().done(t).stdout
	if !strings.Contains(text, "top-down-truncation") || !strings.Contains(text, "graders agreed") {
		t.Errorf("again: %s", text)
	}
	if again := len(p.asked()); again != n || n == 0 {
		t.Errorf("%d calls, then %d", n, again)
	}
}

// The cost of what is probed is what a comparison says, also of a recording that has what was read from the cache.
func TestAProbeCostsWhatAComparisonSays(t *testing.T) {
	t.Parallel()
	p := newPlaceHere(t)
	data, err := os.ReadFile(repo.Samples(t)[0])
	if err != nil {
		t.Fatal(err)
	}
	p.file("s.jsonl", strings.ReplaceAll(string(data), `"model":"scripted"`, `"model":"claude-sonnet-4-5"`))
	args := []string{"--strategy", "top-down-truncation", "--set", "model.contextLimit=40000", "--log-level", "error", "-o",
		"json", "s.jsonl"}
	probed := decode[struct {
		Variants []struct{ Relative float64 }
	}](t, p.run(append([]string{"probe", "--write", "d"}, args...)...))
	compared := decode[struct {
		Totals struct {
			Variants []struct{ Costs []struct{ Relative float64 } }
		}
	}](t, p.run(append([]string{"compare"}, args...)...))
	cost := compared.Totals.Variants[0].Costs[0].Relative
	if len(probed.Variants) != 2 || math.Abs(probed.Variants[1].Relative-cost) > 1e-6 || cost == 0 {
		t.Errorf("probe says %+v, a comparison %v", probed.Variants, cost)
	}
}

// With --search, the model of a profile searches with the tool of agents, and what that costs is said.
func TestAModelOfAProfileSearches(t *testing.T) {
	t.Parallel()
	p := newLLMPlaceHere(t, "openai", modelapi.Options{Reply: func(r *modelapi.Request) modelapi.Reply {
		all := r.Asked().Messages
		if r.Model && len(all) == 1 {
			return modelapi.Reply{Calls: slices.Repeat([]modelapi.Call{{Name: "thresh_recall", Arguments: `{"query":"line"}`}}, 4)}
		}
		return modelapi.Reply{Text: obliging(all[0].Text)}
	}})
	p.file("s.jsonl", conversation(80))
	probe := func(more ...string) result {
		return p.run(append([]string{
			"probe", "--profile", "writer", "--strategy", "top-down-truncation", "--search", "--log-level", "error",
			"--set", "model.contextLimit=10000", "s.jsonl",
		}, more...)...)
	}
	probe().failed(t, 1, "to be asked: ", "with a search for each question", "nothing was sent")
	r := probe("--yes", "-o", "json").done(t)
	var report struct {
		Open     int
		Variants []struct {
			Variant     string
			Searches    *struct{ Mean float64 }
			TokensFound *struct{ Mean float64 }
		}
	}
	if err := json.Unmarshal([]byte(r.stdout), &report); err != nil {
		t.Fatal(err)
	}
	with := report.Variants[2]
	if with.Variant != "top-down-truncation + search" || with.Searches.Mean != 3 || with.TokensFound.Mean == 0 || report.Open != 0 {
		t.Errorf("the report is %s", r.stdout)
	}
	if !strings.Contains(r.stderr, "thresh: searches: ") {
		t.Errorf("it says %s", r.stderr)
	}
	if text := probe().done(t).stdout; !strings.Contains(text, "SEARCHES") || !strings.Contains(text, " 3.0 ") {
		t.Errorf("again: %s", text)
	}
}
