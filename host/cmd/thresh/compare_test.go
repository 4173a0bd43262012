package main_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/thresh-dev/thresh/internal/testkit/repo"
)

type compared struct {
	Prices   []struct{ Name string }
	Variants []struct {
		Name, Strategy, PriceList string
		Settings                  map[string]string
	}
	Sessions []struct {
		Name string
		comparedResults
	}
	Totals     comparedResults
	Incomplete bool
}

type comparedResults struct {
	Nothing  comparedResult
	Variants []comparedResult
}

type comparedResult struct {
	Variant, Error              string
	Done                        bool
	Turns, Sent, Unpruned, Peak int
	Recall                      struct{ Share float64 }
	Costs                       []struct {
		List          string
		USD, Relative float64
	}
}

// samples are the project's own sessions.
func samples(t *testing.T) []string {
	t.Helper()
	t.Helper()
	files := repo.Samples(t)
	if len(files) != 3 {
		t.Fatalf("samples: %v", files)
	}
	return files
}

func TestCompareVariesSettingsWhereTheyMatter(t *testing.T) {
	t.Parallel()
	p := newPlaceHere(t)
	p.file("a.json", pruning)
	p.file("b.jsonl", turns(30))
	args := []string{"compare", "--strategy", "high-density,top-down-truncation", "--set", "model.contextLimit=8000",
		"--prices", "openai-gpt-5,no-cache",
		"--vary", "compression.density.cadence=every-turn,priced", "--vary", "compression.threshold=0.5,0.9", "a.json",
		"b.jsonl"}
	got := decode[compared](t, p.run(append(args, "-o", "json")...))
	var names []string
	for _, v := range got.Variants {
		names = append(names, v.Name)
	}
	want := []string{
		"high-density every-turn threshold=0.5",
		"high-density every-turn threshold=0.9",
		"high-density priced threshold=0.5 (openai-gpt-5)",
		"high-density priced threshold=0.5 (no-cache)",
		"high-density priced threshold=0.9 (openai-gpt-5)",
		"high-density priced threshold=0.9 (no-cache)",
		"top-down-truncation threshold=0.5",
		"top-down-truncation threshold=0.9",
	}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Error(diff)
	}
	if len(got.Sessions) != 2 || got.Sessions[1].Name != "b.jsonl" || got.Incomplete {
		t.Errorf("sessions: %+v", got.Sessions)
	}
	low, high := got.Totals.Variants[6], got.Totals.Variants[7]
	if !low.Done || low.Sent >= high.Sent || high.Sent >= got.Totals.Nothing.Sent || len(low.Costs) != 2 ||
		low.Costs[1].Relative >= 0 {
		t.Errorf("a lower threshold: %+v, a higher one: %+v", low, high)
	}
}

func TestCompareReadsStandardInput(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.file("a.json", pruning)
	cmd := p.command("compare", "-o", "json", "-", "a.json")
	cmd.Stdin = strings.NewReader(pruning)
	got := decode[compared](t, p.finish(cmd))
	if len(got.Sessions) != 2 || got.Sessions[0].Name != "(stdin)" ||
		got.Sessions[0].Variants[0].Sent != got.Sessions[1].Variants[0].Sent {
		t.Errorf("got %+v", got)
	}
}

func TestAWrongComparisonEndsBeforeItBegins(t *testing.T) {
	t.Parallel()
	p := newPlaceHere(t)
	many := "compression.density.recencyRetention=1" + strings.Repeat("0", 5)
	for i := range 300 {
		many += fmt.Sprintf(",%d", i)
	}
	for name, c := range map[string]struct {
		args []string
		code int
		want []string
	}{
		"no file":              {nil, 1, []string{"found no sessions", "name a FILE or a directory"}},
		"standard input twice": {[]string{"-", "-"}, 2, []string{"standard input", "once"}},
		"no such column": {[]string{"a", "--columns", "sent,reall"}, 2,
			[]string{"--columns", `"reall"`, "did you mean recall?"}},
		"no such form":      {[]string{"a", "-o", "yaml"}, 2, []string{"--output", "yaml"}},
		"a page on stdout":  {[]string{"a", "--report", "-"}, 2, []string{"--report", "standard output"}},
		"less than nothing": {[]string{"a", "--parallel", "-1"}, 2, []string{"--parallel", "-1"}},
		"nothing to vary":   {[]string{"a", "--vary", "compression.threshold"}, 2, []string{"--vary", "KEY=VALUE"}},
		"no value":          {[]string{"a", "--vary", "compression.threshold="}, 2, []string{"--vary", "KEY=VALUE"}},
		"a wrong key": {[]string{"a", "--vary", "compression.treshold=0.5"}, 2,
			[]string{"--vary", "compression.treshold", "did you mean compression.threshold?"}},
		"a wrong value": {[]string{"a", "--vary", "compression.density.cadence=gated,never"}, 2,
			[]string{"--vary", "cadence", `"never"`, "every-turn"}},
		"values that do not go together": {[]string{"a", "--vary", "model.contextLimit=1000,9000",
			"--vary", "model.completionBudget=2000"}, 2,
			[]string{"model.completionBudget", "leaves nothing"}},
		"a key twice": {[]string{"a", "--vary", "compression.threshold=0.5",
			"--vary", "compression.threshold=0.6"}, 2, []string{"compression.threshold", "more than once"}},
		"a value twice": {[]string{"a", "--vary", "compression.threshold=0.5,0.5"}, 2,
			[]string{`"0.5"`, "more than once"}},
		"a host's setting": {[]string{"a", "--vary", "plugins.startTimeout=1s,2s"}, 2,
			[]string{"plugins.startTimeout", "whole host", "--set"}},
		"strategies":    {[]string{"a", "--vary", "compression.strategy=x,y"}, 2, []string{"--strategy"}},
		"too many":      {[]string{"a", "--vary", many}, 2, []string{"more than 200 variants"}},
		"an empty name": {[]string{"a", "--strategy", "high-density,"}, 2, []string{"--strategy", "empty"}},
		"a strategy twice": {[]string{"a", "--strategy", "high-density,high-density"}, 2,
			[]string{"--strategy", "more than once"}},
		"no such strategy": {[]string{"a", "--strategy", "high-density,nosuch"}, 1,
			[]string{`"nosuch"`, "one-shot, top-down-truncation", p.plugins}},
		"no such prices": {[]string{"a", "--prices", "anthropic-sonet"}, 2, []string{"--prices", "anthropic-sonnet"}},
	} {
		t.Run(name, func(t *testing.T) {
			p.run(append([]string{"compare"}, c.args...)...).failed(t, c.code, c.want...) // "a" is never looked for
		})
	}
}

func TestCompareGoesOnWithoutWhatCannotBeRead(t *testing.T) {
	t.Parallel()
	p := newPlaceHere(t)
	p.file("good.json", pruning)
	p.file("bad.json", pruning[:100])
	r := p.run("compare", "bad.json", "good.json", "missing.json")
	if r.code != 1 || !strings.Contains(r.stdout, "high-density") || strings.Count(r.stderr, "\n") != 3 ||
		!strings.Contains(r.stderr, "bad.json") || !strings.Contains(r.stderr, "missing.json") {
		t.Errorf("exit status %d\n%s\n%s", r.code, r.stdout, r.stderr)
	}
	p.run("compare", "bad.json").failed(t, 1, "bad.json")

	// A session that can be read and not be replayed fails in its row.
	p.file("odd.json", `[{"speaker":"human","blocks":[{"type":"text","text":"x"}]},{"speaker":"robot","blocks":[{"type":"text","text":"x"}]}]`)
	r = p.run("compare", "--set", "compression.density.cadence=gated", "odd.json", "good.json")
	if r.code != 1 || !strings.Contains(r.stdout, "high-density (1 of 2)") ||
		!strings.Contains(r.stdout, `unknown speaker "robot"`) {
		t.Errorf("exit status %d\n%s\n%s", r.code, r.stdout, r.stderr)
	}
}

func TestABrokenPluginIsLeftOutOrARow(t *testing.T) {
	t.Parallel()
	p := newPlaceHere(t, "exits-at-start")
	p.file("a.json", pruning)
	r := p.run("compare", "a.json").done(t)
	if strings.Contains(r.stdout, "exits-at-start") ||
		!strings.Contains(r.stderr, "left out "+filepath.Join(p.plugins, "thresh-strategy-exits-at-start")) {
		t.Errorf("on standard output:\n%s\non standard error:\n%s", r.stdout, r.stderr)
	}
	r = p.run("compare", "--strategy", "high-density,exits-at-start", "a.json")
	if r.code != 1 || strings.Contains(r.stdout, "\nexits-at-start  ") ||
		!strings.Contains(r.stdout, "\nexits-at-start: ") {
		t.Errorf("exit status %d\n%s\n%s", r.code, r.stdout, r.stderr)
	}
}

// TestCtrlCInTheMiddleOfAComparison comes while the second of four replays is under way.
func TestCtrlCInTheMiddleOfAComparison(t *testing.T) {
	t.Parallel()
	p := newPlace(t, "gate")
	p.file("a.json", pruning)
	p.file("b.json", pruning)
	p.file("out.html", "an earlier one")
	if err := syscall.Mkfifo(p.path("work", "gate"), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := p.command(
		"compare", "--strategy", "high-density,gate", "--set", "compression.density.cadence=every-turn", "--parallel", "1",
		"--report", "out.html", "a.json", "b.json",
	)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	gate, err := os.OpenFile(p.path("work", "gate"), os.O_WRONLY, 0) // waits until the strategy is at work
	if err != nil {
		t.Fatal(err)
	}
	defer gate.Close()
	p.interrupt(cmd.Process.Pid)
	_ = cmd.Wait()
	if got := cmd.ProcessState.ExitCode(); got != 1 ||
		!strings.Contains(stderr.String(), "interrupted after 1 of 4 replays") ||
		strings.Count(stderr.String(), "\n") != 2 {
		t.Errorf("exit status %d:\n%s", got, stderr.String())
	}
	for _, want := range []string{"high-density (1 of 2)", "stopped before its end"} {
		if !strings.Contains(stdout.String(), want) {
			t.Errorf("no %q in\n%s", want, stdout.String())
		}
	}
	if page, err := os.ReadFile(p.path("work", "out.html")); err != nil || string(page) != "an earlier one" ||
		!strings.Contains(stderr.String(), "no report is written") {
		t.Errorf("an earlier page is %q, %v", page, err)
	}
	p.calm(stderr.String())
	p.alone()
}

func TestCompareExplainsAndCompletesItself(t *testing.T) {
	t.Parallel()
	p := newPlaceHere(t)
	help := p.run("compare", "--help").done(t).stdout
	for _, want := range []string{"Usage:\n  thresh compare [FILE…] [flags]", "Examples:\n  ",
		"--vary KEY=V1,V2", "--strategy NAMES", "anthropic-sonnet, openai-gpt-5, no-cache", "--set KEY=VALUE"} {
		if !strings.Contains(help, want) {
			t.Errorf("no %q in\n%s", want, help)
		}
	}
	for args, want := range map[string]string{
		"--strategy high-density,": "high-density,distill\n",
		"--prices no-cache,":       "no-cache,anthropic-sonnet\n",
		"--vary compr":             "compression.density.cadence=\n",
	} {
		flag, given, _ := strings.Cut(args, " ")
		if r := p.run("__complete", "compare", flag, given).done(t); !strings.Contains(r.stdout, want) {
			t.Errorf("%s completes to\n%s", args, r.stdout)
		}
	}
}

// What is said about each session while it is replayed would be said for each variant, too.
func TestCompareRepeatsNoWarningsOfSessions(t *testing.T) {
	t.Parallel()
	p := newPlaceHere(t)
	r := p.run(append([]string{"compare", "--set", "model.contextLimit=30000", "--strategy", "distill"}, samples(t)...)...).
		done(t)
	if strings.Contains(r.stderr, "over the threshold of") {
		t.Errorf("on standard error:\n%s", r.stderr)
	}
}

// Where no file can be read, the error is all that is said.
func TestCompareWithoutAFileToRead(t *testing.T) {
	t.Parallel()
	r := newPlace(t).run("compare", "missing.json")
	if r.code != 1 || r.stdout != "" || !strings.HasPrefix(r.stderr, "thresh: ") ||
		!strings.Contains(r.stderr, "missing.json") || strings.Contains(r.stderr, "not run") {
		t.Errorf("%d, %q, %q", r.code, r.stdout, r.stderr)
	}
}
