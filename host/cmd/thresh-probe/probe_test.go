package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/host/internal/window"

	"github.com/thresh-dev/thresh/internal/testkit/modelapi"
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

func TestMain(m *testing.M) {
	window.ReexecMain()
	os.Exit(m.Run())
}

// place is where the command runs in a test.
type place struct {
	*testing.T
	program
}

func newPlace(t *testing.T) *place {
	dir := t.TempDir()
	return &place{t, program{dir: dir, env: append(os.Environ(), "HOME="+dir, "XDG_CONFIG_HOME="+dir,
		"XDG_CACHE_HOME="+dir, "COLUMNS=200", "THRESH_PLUGINS_ISOLATION=off")}}
}

// file writes a file and returns its name.
func (p *place) file(name, text string) string {
	p.Helper()
	path := filepath.Join(p.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		p.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		p.Fatal(err)
	}
	return name
}

// run runs the command.
func (p *place) run(args ...string) (stdout, stderr string, err error) {
	var out, notes bytes.Buffer
	at := p.program
	at.out, at.err = &out, &notes
	cmd := newCommand(&at)
	cmd.SetArgs(args)
	err = cmd.ExecuteContext(p.Context())
	return out.String(), notes.String(), err
}

// report runs the command, which must succeed, and reads its JSON.
func report[T any](p *place, args ...string) (r T) {
	p.Helper()
	stdout, stderr, err := p.run(append(args, "-o", "json")...)
	if err != nil {
		p.Fatalf("%q: %v\n%s", args, err, stderr)
	}
	if err := json.Unmarshal([]byte(stdout), &r); err != nil {
		p.Fatalf("%v in %.300s", err, stdout)
	}
	return r
}

// refuses makes sure that the command fails, and says each of want.
func (p *place) refuses(args []string, want ...string) {
	p.Helper()
	_, stderr, err := p.run(args...)
	if err == nil {
		p.Errorf("%q: no error", args)
		return
	}
	for _, part := range want {
		if !strings.Contains(stderr+err.Error(), part) {
			p.Errorf("%q: no %q in %s%v", args, part, stderr, err)
		}
	}
}

// model gives the place a profile "judge" whose model answers as reply says.
func (p *place) model(kind string, reply func(*modelapi.Request) modelapi.Reply) *modelapi.Server {
	const key = "sk-planted-4f7d2b90c1e8a653"
	server := modelapi.Start(p.T, modelapi.Options{Reply: reply, Key: key})
	p.env = append(p.env, "JUDGE_KEY="+key)
	p.file("thresh/thresh.yaml", fmt.Sprintf("profiles: {judge: {provider: {kind: %s, baseURL: %q, model: judge-1, "+
		"keyEnv: JUDGE_KEY, contextLimit: 200000, maxOutput: 4000, retries: 1, prices: {input: 3, output: 15}}}}\n",
		kind, server.URL))
	return server
}

// conversation is a session of 80 long entries.
func conversation() string {
	var b strings.Builder
	for i := range 40 {
		fmt.Fprintf(&b, `{"speaker":"human","blocks":[{"type":"text","text":"%squestion %d"}]}`+"\n",
			strings.Repeat("considering that, ", 60), i)
		fmt.Fprintf(&b, `{"speaker":"ai","blocks":[{"type":"text","text":"%sline %d"}]}`+"\n",
			strings.Repeat("a long answer, ", 60), i)
	}
	return b.String()
}

var small = []string{"--strategy", "top-down-truncation", "--set", "model.contextLimit=10000"}

func TestNothingIsSentToAModelWithoutConsent(t *testing.T) {
	p := newPlace(t)
	server := p.model("anthropic", func(r *modelapi.Request) modelapi.Reply {
		return modelapi.Reply{Text: obliging(r.Asked().Messages[0].Text)}
	})
	args := append([]string{p.file("s.jsonl", conversation()), "--profile", "judge"}, small...)
	p.refuses(args, "to be asked: ", "tokens in", "USD", "nothing was sent", "--yes")
	p.refuses(append(args, "--yes", "--usd", "0.0001"), "to be asked: ", "nothing was sent", "--usd 0.0001")
	if n := len(server.Requests()); n > 0 {
		t.Fatalf("%d calls without consent", n)
	}
	r := report[probeReport](p, append(args, "--yes", "--usd", "1")...)
	if len(r.Variants) != 2 || r.Questions == 0 || r.Open != 0 || len(r.Missing) != 0 {
		t.Errorf("the report is %+v", r)
	}
	n := len(server.Requests())
	if text, _, err := p.run(args...); err != nil || !strings.Contains(text, "graders agreed") {
		t.Errorf("again: %s, %v", text, err)
	}
	if again := len(server.Requests()); again != n || n == 0 {
		t.Errorf("%d calls, then %d", n, again)
	}
}

// With --search, the model of a profile searches with the tool of agents, and what that costs is said.
func TestAModelOfAProfileSearches(t *testing.T) {
	p := newPlace(t)
	p.model("openai", func(r *modelapi.Request) modelapi.Reply {
		all := r.Asked().Messages
		if r.Model && len(all) == 1 {
			return modelapi.Reply{Calls: slices.Repeat([]modelapi.Call{{Name: "thresh_recall", Arguments: `{"query":"line"}`}}, 4)}
		}
		return modelapi.Reply{Text: obliging(all[0].Text)}
	})
	args := append([]string{p.file("s.jsonl", conversation()), "--profile", "judge", "--search"}, small...)
	p.refuses(args, "to be asked: ", "with a search for each question", "nothing was sent")
	r := report[struct {
		Open     int
		Variants []struct {
			Variant     string
			Searches    *struct{ Mean float64 }
			TokensFound *struct{ Mean float64 }
		}
	}](p, append(args, "--yes")...)
	with := r.Variants[2]
	if with.Variant != "top-down-truncation + search" || with.Searches.Mean != 3 || with.TokensFound.Mean == 0 || r.Open != 0 {
		t.Errorf("the report is %+v", r)
	}
	if text, _, err := p.run(args...); err != nil || !strings.Contains(text, "SEARCHES") || !strings.Contains(text, " 3.0 ") {
		t.Errorf("again: %s, %v", text, err)
	}
}

func TestSheetsAreWrittenOnceAndAddedUp(t *testing.T) {
	p := newPlace(t)
	p.file("s.jsonl", conversation())
	write := append([]string{"--write", "d", "s.jsonl"}, small...)
	first, _, err := p.run(write...)
	if err != nil || !strings.Contains(first, "missing: 1-questions/") || !strings.Contains(first, "to be worked through now") {
		t.Fatalf("%s, %v", first, err)
	}
	for _, args := range [][]string{write, {"--grade", "d"}} {
		if again, _, err := p.run(args...); again != first || err != nil {
			t.Errorf("%q: %s, %v", args, again, err)
		}
	}
	p.refuses([]string{"--grade", "d", "--strategy", "distill"}, "distill", "top-down-truncation")
	report[probeReport](p, append([]string{"--write", "s", "--search", "s.jsonl"}, small...)...)
	r := report[probeReport](p, "--grade", "s", "--strategy", "top-down-truncation + search")
	if len(r.Variants) != 1 || r.Variants[0].Variant != "top-down-truncation + search" {
		t.Errorf("the report is %+v", r)
	}
	p.refuses([]string{"search", "s", "question", "words"}, "is no sheet for answers")
}

func TestWrongFlagsAreErrors(t *testing.T) {
	p := newPlace(t)
	for line, want := range map[string]string{
		"a.json":                                    "--strategy",
		"--strategy distill":                        "FILE",
		"--strategy distill, a.json":                "NAME,NAME",
		"--strategy none --write d a.json":          "no strategy \"none\"; found: distill",
		"--strategy distill --write d a.json":       "a.json: no such file",
		"--strategy one-shot --write d a.json":      "profile",
		"--strategy distill a.json":                 "--write DIR",
		"--write d --grade d":                       "--write begins and --grade goes on",
		"--write= --strategy distill a.json":        "name of a directory",
		"--grade d a.json":                          "no FILE",
		"--grade d --moments=3":                     "--grade takes what --write planned",
		"--grade d --yes":                           "--yes",
		"--grade nowhere":                           "has written nothing there",
		"--moments=-1 --strategy distill a.json":    "-1",
		"--usd=NaN --strategy distill a.json":       "NaN",
		"-o yaml a.json":                            "yaml",
		"search sheet question":                     "at least 3",
		"--set nothing --strategy distill a.json":   "nothing",
		"calibration missing.json":                  "no such file",
		"calibration --set model.encoding=x a.json": "cl100k_base",
	} {
		p.refuses(strings.Fields(line), want)
	}
}

func TestCalibrationComparesCountsWithReports(t *testing.T) {
	p := newPlace(t)
	p.file("s.json", `[
{"speaker":"human","blocks":[{"type":"text","text":"a question"}]},
{"speaker":"ai","blocks":[{"type":"text","text":"an answer"}],"metadata":{"model":"m","usage":{"promptTokens":1000}}},
{"speaker":"human","blocks":[{"type":"text","text":"another question"}]},
{"speaker":"ai","blocks":[{"type":"text","text":"another answer"}],
 "metadata":{"model":"m","usage":{"input_tokens":40,"cache_read_input_tokens":1160}}},
{"speaker":"ai","blocks":[{"type":"text","text":"a title"}],"metadata":{"usage":{"promptTokens":500}}}
]`)
	got := report[[]modelCalibration](p, "calibration", "s.json")
	if len(got) != 2 || got[0].Model != "m" || got[0].Requests != 2 || got[0].PeakPrompt != 1200 || got[0].Compared != 1 ||
		got[0].PlainError < 0.9 || got[0].CalibratedError > 0.2 || got[1].Model != "" || got[1].Compared != 0 {
		t.Errorf("%+v", got)
	}
	if text, _, err := p.run("calibration", "s.json"); err != nil || !strings.Contains(text, "(unknown model)") {
		t.Errorf("%s, %v", text, err)
	}
}
