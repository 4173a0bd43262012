package keep_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/host/internal/keep"
	"github.com/thresh-dev/thresh/internal/check"
	"github.com/thresh-dev/thresh/sdk/content"
)

// stubs are what agents answer instead of a file: the sentences of the agents, and one that nobody knows.
var stubs = []string{"", " \n", "File does not exist.", "[Old tool result content cleared]",
	"File unchanged since last read. The content from the earlier Read tool_result in this conversation is still current.",
	"Wasted call — file unchanged since your last Read. Refer to that earlier tool_result instead.",
	"<system-reminder>Warning: the file exists but the contents are empty.</system-reminder>",
	"[File plan.md unchanged since last read in this session — the full content was provided earlier]",
	"     1\tnever\n\n[7 more lines in file. Use offset=2 to continue.]", "Nothing new in that file, thank you."}

const plan = "     1\tnever push\n     2\tuse tabs\n"

// A stub is no reading: the newest whole reading stays until there is a newer one.
func TestAStubTakesThePlaceOfNoReading(t *testing.T) {
	for _, stub := range stubs {
		for _, tool := range []string{`Read {"file_path":"/r/plan.md"}`, `Bash {"command":"cat /r/plan.md"}`} {
			s := begin(t, 1000, "plan.md", "tool:ask")
			name, parameters, _ := strings.Cut(tool, " ")
			s.call(name, parameters, plan)
			s.call("ask", `{}`, plan)
			s.turn()
			s.call(name, parameters, stub)
			s.call("ask", `{}`, stub)
			if got := s.turn(); !strings.HasPrefix(got, "e2 plan.md, e4 tool:ask") {
				t.Errorf("%s %q: kept %s", tool, stub, got)
			}
			s.call(name, parameters, plan)
			s.call("ask", `{}`, plan)
			expect(t, s, "e10 plan.md, e12 tool:ask")
		}
	}
}

// In any sequence of readings, stubs and answers, with any bound under which one reading fits, the newest whole reading
// that was kept is in the view, or a newer one, and whoever follows all of it at once keeps one too.
func TestAKeptFileIsAlwaysInTheView(t *testing.T) {
	for seed := range uint64(150) {
		r := rand.New(rand.NewPCG(seed, 1))
		s := begin(t, 20+r.IntN(80), "plan.md", "other*.md")
		whole := map[string]bool{}
		for range 30 {
			switch r.IntN(5) {
			case 0:
				whole[s.call("Read", `{"file_path":"/r/plan.md"}`, plan)] = true
				s.entries[len(s.entries)-1].Tokens = 10 + r.IntN(2)*1000 // some cannot be kept
			case 1, 2:
				s.call("Read", `{"file_path":"/r/plan.md"}`, stubs[r.IntN(len(stubs))])
			case 3:
				s.read(fmt.Sprint("/r/other", r.IntN(4), ".md"))
			default:
				s.call("Read", `{"file_path":"/r/plan.md","offset":2,"limit":1}`, "     2\tuse tabs")
			}
			before := keptOf(s, whole)
			s.turn()
			if after := keptOf(s, whole); before > 0 && after < before {
				t.Fatalf("seed %d: the reading in e%d was kept, now e%d", seed, before, after)
			}
		}
		before := keptOf(s, whole)
		s.Keeper = keep.Keeper{}
		s.turn()
		if after := keptOf(s, whole); before > 0 && after == 0 {
			t.Fatalf("seed %d: no reading is kept", seed)
		}
	}
}

// keptOf returns the number of the newest of some entries that is kept; 0 if none is.
func keptOf(s *session, some map[string]bool) (newest int) {
	for i, e := range s.entries {
		if some[e.ID] && check.KeptBy(e.Content) != "" {
			newest = i + 1
		}
	}
	return newest
}

func TestAReadingThatDoesNotFitReleasesNone(t *testing.T) {
	s := begin(t, 50, "plan.md")
	s.read("/r/plan.md")
	expect(t, s, "e2 plan.md")
	s.read("/r/plan.md")
	s.entries[len(s.entries)-1].Tokens = 100
	expect(t, s, "e2 plan.md")
	if w := s.Warnings(); len(w) != 1 || !strings.Contains(w[0], "not kept from Read /r/plan.md (e4, 110 tokens) on") {
		t.Errorf("%q", w)
	}
	s.read("/r/plan.md")
	expect(t, s, "e6 plan.md")
	if w := s.Warnings(); w != nil {
		t.Errorf("%q", w)
	}
	s.call("Bash", `{"command":"rm /r/plan.md"}`, "")
	expect(t, s, "")
}

func TestWhatOneRuleLetsGoAnotherKeeps(t *testing.T) {
	s := begin(t, 1000, "plan.md", "text:never push")
	s.read("/r/plan.md")
	expect(t, s, "e2 plan.md")
	s.call("Read", `{"file_path":"/r/plan.md"}`, "     1\tuse tabs\n")
	expect(t, s, "e2 text:never push, e4 plan.md")
}

// The share goes to people first, then to the smallest.
func TestWhoseTheShareIs(t *testing.T) {
	s := begin(t, 50, "text:rule")
	for range 5 {
		s.add(text(content.AI, "a rule"))
	}
	expect(t, s, "e1 text:rule, e2 text:rule, e3 text:rule, e4 text:rule, e5 text:rule")
	s.add(text(content.Human, "<keep>never push</keep>"))
	expect(t, s, "e1 text:rule, e2 text:rule, e3 text:rule, e4 text:rule, e6 <keep>")
	if w := s.Warnings(); len(w) != 1 || !strings.Contains(w[0], "text:rule names more than fits") {
		t.Errorf("%q", w)
	}
	s.Keeper = keep.Keeper{}
	expect(t, s, "e1 text:rule, e2 text:rule, e3 text:rule, e4 text:rule, e6 <keep>")

	s = begin(t, 50, "text:rule")
	s.add(text(content.AI, "a large rule"))
	s.entries[0].Tokens = 45
	s.add(text(content.AI, "a small rule"))
	s.add(text(content.AI, "another small rule"))
	expect(t, s, "e2 text:rule, e3 text:rule")
}

// Of parallel results those count that a rule names; the others stay with them, up to as much again.
func TestOfParallelResultsEachCounts(t *testing.T) {
	for others, want := range map[int]string{1: "e2 plan.md", 9: ""} {
		s := begin(t, 100, "plan.md")
		var calls, results []content.Block
		for i := range 1 + others {
			id, path := fmt.Sprint("p", i), "/r/plan.md"
			if i > 0 {
				path = fmt.Sprint("/r/a", i)
			}
			calls = append(calls, content.ToolCall{ID: id, Name: "Read",
				Parameters: json.RawMessage(`{"file_path":"` + path + `"}`)})
			results = append(results, content.ToolResponse{CallID: id, ToolName: "Read",
				Result: content.String(strings.Repeat("     1\tnever push\n", 10))})
		}
		s.add(content.Content{Speaker: content.AI, Blocks: calls})
		s.add(content.Content{Speaker: content.Tool, Blocks: results})
		s.entries[1].Tokens = 80 * (1 + others)
		expect(t, s, want)
	}
}

// What a person answers counts, as far as it cannot be the model's.
func TestWhatAPersonAnswersIsKept(t *testing.T) {
	const answer = `Your questions have been answered: "Which way?"="<keep>never push</keep>". You can now continue.`
	for name, tt := range map[string]struct{ tool, parameters, answer, want, warning string }{
		"an answer":         {"AskUserQuestion", `{"questions":[{"question":"Which way?"}]}`, answer, "e2 <keep>", ""},
		"of the choices":    {"AskUserQuestion", `{"questions":[{"question":"<keep>a</keep>?"}]}`, answer, "", "someone else's"},
		"written otherwise": {"AskUserQuestion", `{"questions":[{"question":"\u003ckeep>"}]}`, answer, "", "someone else's"},
		"without an end":    {"AskUserQuestion", `{}`, `"a"="<keep>b"`, "", "no </keep>"},
		"in Codex": {"request_user_input", `{}`, `{"answers":{"a":["<keep>never push</keep>"]}}`,
			"e2 <keep>", ""},
		"of another tool": {"Bash", `{"command":"cat a"}`, answer, "", ""},
		"typed meanwhile": {"Bash", `{"command":"make"}`, "ok\n\n<system-reminder>\nThe user sent a new message while you " +
			"were working:\n<keep>a</keep>\n</system-reminder>", "", "someone else's"},
	} {
		t.Run(name, func(t *testing.T) {
			s := begin(t, 1000)
			s.call(tt.tool, tt.parameters, tt.answer)
			expect(t, s, tt.want)
			if w := fmt.Sprint(s.Warnings()); tt.warning == "" && w != "[]" || !strings.Contains(w, tt.warning) {
				t.Error(w)
			}
		})
	}
}

// Each <keep> that keeps nothing is reported, the first by their names.
func TestEachLostTagIsReported(t *testing.T) {
	s := begin(t, 1000)
	for range 5 {
		s.add(text(content.Human, "see `<keep>a</keep>`"))
	}
	s.add(text(content.Human, "<bash-stdout><keep>a</keep></bash-stdout>"))
	expect(t, s, "")
	if w := s.Warnings(); len(w) != 2 || !strings.Contains(w[0], "in message e1, e2, e3 and 2 more is in code") ||
		!strings.Contains(w[1], "in message e6 is in text that may be someone else's") {
		t.Errorf("%q", w)
	}
}
