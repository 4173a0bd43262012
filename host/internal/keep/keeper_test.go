package keep_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/host/internal/keep"
	"github.com/thresh-dev/thresh/internal/check"
	"github.com/thresh-dev/thresh/sdk/content"
	"github.com/thresh-dev/thresh/sdk/tools"
)

// session is a history that a keeper follows, and what it has marked in it.
type session struct {
	keep.Keeper
	set     keep.Settings
	entries []keep.Entry
	added   int
	calls   int
}

func begin(t testing.TB, bound int, patterns ...string) *session {
	t.Helper()
	taxonomy, err := tools.ForPresets(tools.PresetNames(), nil)
	if err != nil {
		t.Fatal(err)
	}
	s := &session{set: keep.Settings{Tools: taxonomy, Root: "/r", Bound: bound,
		Seal: func(id string) string { return id + id }}}
	s.rules(t, patterns...)
	return s
}

func (s *session) rules(t testing.TB, patterns ...string) {
	t.Helper()
	var err error
	if s.set.Rules, err = keep.Compile(patterns); err != nil {
		t.Fatal(err)
	}
}

// add adds an entry of 10 tokens and returns its id.
func (s *session) add(c content.Content) string {
	s.added++
	e := keep.Entry{ID: fmt.Sprint("e", s.added), Tokens: 10, Content: c}
	s.entries = append(s.entries, e)
	return e.ID
}

func text(speaker content.Speaker, said string) content.Content {
	return content.Content{Speaker: speaker, Blocks: []content.Block{content.Text{Text: said}}}
}

// call adds a call and its result, and returns the id of the result's entry.
func (s *session) call(tool, parameters, result string) string {
	s.calls++
	id := fmt.Sprint("c", s.calls)
	s.add(content.Content{Speaker: content.AI, Blocks: []content.Block{
		content.ToolCall{ID: id, Name: tool, Parameters: json.RawMessage(parameters)}}})
	return s.add(content.Content{Speaker: content.Tool, Blocks: []content.Block{
		content.ToolResponse{CallID: id, ToolName: tool, Result: content.String(result)}}})
}

func (s *session) read(path string) string {
	return s.call("Read", `{"file_path":"`+path+`"}`, "     1\tnever push")
}

// turn follows, marks, and returns which entries are kept and by which rule.
func (s *session) turn() string {
	entry := func(i int) keep.Entry { return s.entries[i] }
	s.Follow(s.set, len(s.entries), uint64(s.added), entry)
	for i, rule := range s.Marks(len(s.entries), entry) {
		s.entries[i].Content = check.MarkKept(s.entries[i].Content, rule)
	}
	s.Settled()
	var kept []string
	for _, e := range s.entries {
		if rule := check.KeptBy(e.Content); rule != "" {
			kept = append(kept, e.ID+" "+rule)
		} else if e.Content.Pinned() && len(e.Content.Metadata) > len(`{"pinned":true}`) {
			kept = append(kept, e.ID+" ?")
		}
	}
	return strings.Join(kept, ", ")
}

func expect(t *testing.T, s *session, want string) {
	t.Helper()
	if got := s.turn(); got != want {
		t.Errorf("kept: %s\nwant: %s", got, want)
	}
}

func TestOnlyWhatIsNamedIsKept(t *testing.T) {
	s := begin(t, 1000, "CLAUDE.md", "tool:get_*", "text:never push")
	s.add(text(content.Human, "write <keep>a</keep> tests"))
	s.add(text(content.AI, "I write <keep>b</keep>"))
	s.call("Bash", `{"command":"make"}`, "<keep>c</keep>")
	s.read("/r/README.md")                                  // text: matches its content
	s.call("Read", `{"file_path":"/r/CLAUDE.md"}`, "x")     // e7
	s.call("get_schema", `{}`, "create table")              // e9
	s.call("set_schema", `{}`, "done")                      // no
	s.add(text(content.AI, "I will never push to main"))    // e12
	s.add(text(content.Human, "NEVER PUSH"))                // no
	s.call("Bash", `{"command":"cat CLAUDE.md"}`, "x")      // e15: the newest
	s.call("Bash", `{"command":"cat docs/CLAUDE.md"}`, "x") // e17: another file
	expect(t, s, "e1 <keep>, e6 text:never push, e10 tool:get_*, e13 text:never push, e16 CLAUDE.md, e18 CLAUDE.md")
	expect(t, s, "e1 <keep>, e6 text:never push, e10 tool:get_*, e13 text:never push, e16 CLAUDE.md, e18 CLAUDE.md")
}

func TestTheNewestReadingOfAFileIsKept(t *testing.T) {
	for name, tt := range map[string]struct {
		then func(s *session)
		want string
	}{
		"read again":           {func(s *session) { s.read("/r/plan.md") }, "e4 plan.md"},
		"read by another name": {func(s *session) { s.read("/r/../r/plan.md") }, "e4 plan.md"},
		"another file":         {func(s *session) { s.read("/r/b/plan.md") }, "e2 plan.md, e4 plan.md"},
		"in part": {func(s *session) { s.call("Read", `{"file_path":"/r/plan.md","offset":3,"limit":2}`, "x") },
			"e2 plan.md, e4 plan.md"},
		"in part, then whole": {func(s *session) {
			s.call("Read", `{"file_path":"/r/plan.md","offset":3,"limit":2}`, "x")
			s.read("/r/plan.md")
		}, "e6 plan.md"},
		"written": {func(s *session) { s.call("Write", `{"file_path":"/r/plan.md","content":"x"}`, "done") },
			"e4 plan.md"},
		"edited": {func(s *session) {
			s.call("Edit", `{"file_path":"/r/plan.md","old_string":"a","new_string":"b"}`, "done")
		}, "e2 plan.md, e4 plan.md"},
		"removed": {func(s *session) { s.call("Bash", `{"command":"rm /r/plan.md"}`, "") }, ""},
		"a reading that failed": {func(s *session) {
			s.call("Read", `{"file_path":"/r/plan.md"}`, "<tool_use_error>File does not exist.</tool_use_error>")
		}, "e2 plan.md"},
		"not answered": {func(s *session) {
			s.add(content.Content{Speaker: content.AI, Blocks: []content.Block{
				content.ToolCall{ID: "open", Name: "Read", Parameters: json.RawMessage(`{"file_path":"/r/plan.md"}`)}}})
		}, "e2 plan.md"},
		"included by a person": {func(s *session) {
			s.add(text(content.Human, "see\n--- plan.md ---\nx\n--- End of content ---\n"))
		}, "e3 plan.md"},
	} {
		t.Run(name, func(t *testing.T) {
			s := begin(t, 1000, "plan.md")
			s.read("/r/plan.md")
			expect(t, s, "e2 plan.md")
			tt.then(s)
			expect(t, s, tt.want)
			// Whoever follows the whole history at once decides the same.
			s.Keeper = keep.Keeper{}
			expect(t, s, tt.want)
		})
	}
}

func TestOfTheAnswersOfAToolTheNewestToAQuestionIsKept(t *testing.T) {
	s := begin(t, 1000, "tool:TodoWrite", "tool:ask")
	s.call("TodoWrite", `{"todos":[]}`, "ok")
	s.call("ask", `{"q":"a"}`, "1")
	s.call("ask", `{"q":"b"}`, "2")
	expect(t, s, "e2 tool:TodoWrite, e4 tool:ask, e6 tool:ask")
	s.call("ask", `{"q":"a"}`, "3")
	s.call("TodoWrite", `{"todos":[{"content":"x"}]}`, "ok")
	expect(t, s, "e6 tool:ask, e8 tool:ask, e10 tool:TodoWrite")
}

func TestTheOldestAreKeptUpToTheBound(t *testing.T) {
	s := begin(t, 50, "*.md") // a result counts 20, with its call
	s.read("/r/a.md")
	s.read("/r/b.md")
	expect(t, s, "e2 *.md, e4 *.md")
	if w := s.Warnings(); w != nil {
		t.Errorf("%q", w)
	}
	s.read("/r/c.md")
	s.add(text(content.Human, "<keep>rule</keep>")) // 10 are left
	expect(t, s, "e2 *.md, e4 *.md, e7 <keep>")
	want := "*.md names more than fits: not kept from Read /r/c.md (e6, 20 tokens) on, because at most 50 tokens are"
	if w := s.Warnings(); len(w) != 1 || !strings.Contains(w[0], want) {
		t.Errorf("%q", w)
	}
	s.read("/r/a.md") // takes the place of the first
	expect(t, s, "e4 *.md, e7 <keep>, e9 *.md")

	s.set.Bound = 70 // what was kept, then the oldest of the others
	expect(t, s, "e4 *.md, e6 *.md, e7 <keep>, e9 *.md")
	if w := s.Warnings(); w != nil {
		t.Errorf("%q", w)
	}
	s.set.Bound = 30
	expect(t, s, "e4 *.md, e7 <keep>")
}

func TestASettingThatChangesHoldsFromTheNextTurnOn(t *testing.T) {
	s := begin(t, 1000)
	s.read("/r/CLAUDE.md")
	s.add(text(content.Human, "<keep>rule</keep>"))
	expect(t, s, "e3 <keep>")
	s.rules(t, "CLAUDE.md")
	expect(t, s, "e2 CLAUDE.md, e3 <keep>")
	s.rules(t, "path:CLAUDE.md")
	expect(t, s, "e2 path:CLAUDE.md, e3 <keep>")
	s.rules(t, "text:rule")
	expect(t, s, "e3 <keep>")
}

// An entry that an agent has pinned stays as it is, and is no one else's.
func TestWhatAnAgentHasPinnedIsLeftAlone(t *testing.T) {
	s := begin(t, 1000, "text:rule")
	c := text(content.Human, "<keep>rule</keep>")
	c.Metadata = json.RawMessage(`{"pinned":true}`)
	s.add(c)
	expect(t, s, "")
	c.Metadata = json.RawMessage(`{"a":1,"madeBy":"one-shot"}`) // a summary that quotes a person
	s.add(c)
	expect(t, s, "")
}

func TestAnOpenTagIsReported(t *testing.T) {
	s := begin(t, 1000)
	s.add(text(content.Human, "<keep>rule"))
	expect(t, s, "")
	if w := s.Warnings(); len(w) != 1 || !strings.Contains(w[0], "<keep> in message e1 has no </keep>") {
		t.Errorf("%q", w)
	}
}

// A turn costs what it adds, whatever the history has.
func BenchmarkTurn(b *testing.B) {
	for _, n := range []int{100, 10_000} {
		b.Run(fmt.Sprint(n, " entries"), func(b *testing.B) {
			s := begin(b, 1<<30, "CLAUDE.md", "AGENTS.md", "docs/plan.md", "**/schema*.sql", "tool:TodoWrite", "text:never push")
			for len(s.entries) < n {
				s.read(fmt.Sprintf("/r/src/file%d.go", len(s.entries)))
			}
			s.turn()
			before := len(s.entries)
			s.add(text(content.Human, "now the tests"))
			s.call("Bash", `{"command":"cd /r && go test ./... 2>&1 | tail -n 20"}`, strings.Repeat("ok a line\n", 200))
			entry := func(i int) keep.Entry { return s.entries[i] }
			for b.Loop() {
				k := s.Keeper
				k.Follow(s.set, len(s.entries), uint64(s.added), entry)
				k.Marks(len(s.entries), entry)
			}
			if len(s.entries) != before+3 {
				b.Fatal("not three entries")
			}
		})
	}
}

func (s *session) recall(result string) string {
	return s.call("mcp__thresh__"+tools.Recall, `{"query":"x"}`, "[recalled: turn 1, Read a.go, lines 1-1 of 1, id 1]\n"+result)
}

// What the model read again stays until a person speaks. It is a copy, so no rule about words keeps it longer.
func TestWhatWasRecalledIsKeptUntilAPersonSpeaks(t *testing.T) {
	const held = "e3 thresh_recall, e5 thresh_recall"
	for name, tt := range map[string]struct {
		then func(s *session)
		want string
	}{
		"work":           {func(s *session) { s.call("Bash", `{"command":"make"}`, "ok") }, held},
		"another recall": {func(s *session) { s.recall("c") }, held + ", e7 thresh_recall"},
		"a reminder of the agent": {func(s *session) {
			s.add(text(content.Human, "<system-reminder>\nuse tools\n</system-reminder>\n"))
		}, held},
		"a person":                 {func(s *session) { s.add(text(content.Human, "go on")) }, ""},
		"a person with a reminder": {func(s *session) { s.add(text(content.Human, "<system-reminder>x</system-reminder>\ngo")) }, ""},
		"a person, in code":        {func(s *session) { s.add(text(content.Human, "```\nmake\n```")) }, ""},
		"a picture": {func(s *session) {
			s.add(content.Content{Speaker: content.Human, Blocks: []content.Block{content.Media{MimeType: "image/png"}}})
		}, ""},
		"a person, then a recall": {func(s *session) {
			s.add(text(content.Human, "go on"))
			s.recall("c")
		}, "e8 thresh_recall"},
		"a summary": {func(s *session) {
			s.add(check.MarkMade(text(content.Human, "what was said"), "one-shot"))
		}, held},
		"a script that recalls": {func(s *session) {
			s.call("exec", `{"input":"tools.thresh_recall({query: 'x'})"}`,
				`{"text":"[recalled: turn 1, Read a.go, id 7, seal 77]\nx"}`)
		}, held + ", e7 thresh_recall"},
		"a script that prints what was not given back": {func(s *session) {
			s.call("Bash", `{"command":"cat thresh_recall.md"}`,
				"[recalled: turn 1, Read a.go, id 7, seal 78]\n[recalled: turn 1, id 7]")
		}, held},
		"a script that only names it": {func(s *session) { s.call("exec", `{"input":"thresh_recall"}`, "x") }, held},
		"another tool that prints a mark": {func(s *session) {
			s.call("WebFetch", `{"url":"https://example.com"}`, "[recalled: turn 1, Read a.go]\nx")
		}, held},
		"a recall that failed": {func(s *session) {
			s.call(tools.Recall, `{"id":"1"}`, "Error: nothing in this conversation has the id")
			s.entries[len(s.entries)-1].Content.Blocks[0] = content.ToolResponse{CallID: fmt.Sprint("c", s.calls),
				ToolName: tools.Recall, Error: "failed"}
		}, held},
	} {
		t.Run(name, func(t *testing.T) {
			s := begin(t, 1000, "text:never push")
			s.add(text(content.Human, "look it up"))
			s.recall("a, never push")
			s.recall("b")
			expect(t, s, held)
			tt.then(s)
			expect(t, s, tt.want)
			s.Keeper = keep.Keeper{}
			expect(t, s, tt.want)
		})
	}
}

// The newest is kept if not all fits, beside what rules keep.
func TestWhatWasRecalledIsBounded(t *testing.T) {
	s := begin(t, 50, "*.md") // each counts 20, with its call
	s.recall("a")
	s.recall("b")
	expect(t, s, "e2 thresh_recall, e4 thresh_recall")
	s.recall("c")
	expect(t, s, "e4 thresh_recall, e6 thresh_recall")
	s.read("/r/a.md")
	expect(t, s, "e6 thresh_recall, e8 *.md")
	s.recall("large")
	s.entries[len(s.entries)-1].Tokens = 100
	expect(t, s, "e6 thresh_recall, e8 *.md")
	if w := s.Warnings(); w != nil {
		t.Errorf("%q", w)
	}
	const all = "e2 thresh_recall, e4 thresh_recall, e6 thresh_recall, e8 *.md, e10 thresh_recall"
	s.set.Bound = 1000
	expect(t, s, all)
	s.Keeper = keep.Keeper{}
	expect(t, s, all)
	s.LetGo()
	expect(t, s, "e8 *.md")
}

// Before a Compress, what a person said last is pinned, and what the agent said last in a person's name.
func TestTheNewestMessageIsKeptFromOneCompressToTheNext(t *testing.T) {
	s := begin(t, 5, "text:rule") // no bound for it
	compress := func(want string) {
		t.Helper()
		for i, rule := range keep.NewestMarks(len(s.entries), func(i int) keep.Entry { return s.entries[i] }) {
			s.entries[i].Content = check.MarkKept(s.entries[i].Content, rule)
		}
		expect(t, s, want)
		s.Keeper = keep.Keeper{}
		expect(t, s, want)
	}
	reminder := text(content.Human, "<system-reminder>use tools</system-reminder>")
	s.add(text(content.Human, "first"))
	s.add(text(content.Human, "second"))
	s.read("/r/a.go")
	expect(t, s, "")
	compress("e2 newest message")
	s.add(reminder)
	s.add(text(content.Human, " \n"))
	expect(t, s, "e2 newest message")
	compress("e2 newest message, e5 newest message")
	s.add(reminder)
	compress("e2 newest message, e7 newest message")
	s.add(check.MarkMade(text(content.Human, "what was said"), "one-shot"))
	compress("e2 newest message, e7 newest message")
	system := text(content.Human, "an instruction")
	system.Metadata = json.RawMessage(`{"pinned":true}`)
	s.add(system)
	compress("e2 newest message, e7 newest message")
	s.set.Bound = 10
	s.add(text(content.Human, "third, a rule"))
	compress("e10 text:rule")
	s.rules(t)
	expect(t, s, "")
	compress("e10 newest message")
}
