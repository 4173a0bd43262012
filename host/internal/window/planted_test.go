package window_test

import (
	"encoding/json"
	"errors"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/host/internal/lab/transcript"
	"github.com/thresh-dev/thresh/host/internal/prepare"
	"github.com/thresh-dev/thresh/host/internal/window"
	"github.com/thresh-dev/thresh/host/outcome"
	"github.com/thresh-dev/thresh/internal/check"
	"github.com/thresh-dev/thresh/internal/testkit/full"
	"github.com/thresh-dev/thresh/internal/testkit/modelapi"
	"github.com/thresh-dev/thresh/internal/testkit/race"
	"github.com/thresh-dev/thresh/internal/testkit/repo"
	"github.com/thresh-dev/thresh/sdk/content"
)

// rule is a text that must be in every request from an entry on, until another one replaces it.
type rule struct {
	name, text  string
	from, until int
}

// planted is a recorded session with rules in it.
type planted struct {
	entries []content.Content
	rules   []rule
}

// keeps are the settings that the rules need.
var keeps = map[string]any{"compression.keepShare": 1.0,
	"compression.keep": []any{"CLAUDE.md", "docs/**/*.sql", "tool:get_rules", "text:the release is frozen"}}

// plant puts rules into a recorded session: in the first message of a person, in results behind it, and in the middle.
func plant(recorded []content.Content) (p planted) {
	text := func(name string) string {
		return "RULE " + name + ":\tnever push\r\n  “to main”, \\n nor 100% of <b>it</b> ✓"
	}
	put := func(name string, c content.Content) {
		p.rules = append(p.rules, rule{name: name, text: text(name), from: len(p.entries), until: -1})
		p.entries = append(p.entries, c)
	}
	call := func(name, tool, parameters string) {
		id := "planted-" + strings.ReplaceAll(name, " ", "-")
		p.entries = append(p.entries, content.Content{Speaker: content.AI, Blocks: []content.Block{
			content.ToolCall{ID: id, Name: tool, Parameters: json.RawMessage(parameters)}}})
		put(name, content.Content{Speaker: content.Tool, Blocks: []content.Block{
			content.ToolResponse{CallID: id, ToolName: tool, Result: content.String("before\n" + text(name) + "\nbehind")}}})
	}
	first, middle := false, false
	for i, e := range recorded {
		done := i == 0 || e.Speaker != content.Tool && recorded[i-1].Speaker != content.AI // no call is open
		switch {
		case !first && e.Speaker == content.Human && e.HasContent():
			e.Blocks = append(slices.Clone(e.Blocks), content.Text{Text: "By the way:\n<keep>\n" + text("first") + "\n</keep>\n"})
			put("first", e)
			call("file", "Read", `{"file_path":"CLAUDE.md"}`)
			call("shell", "Bash", `{"command":"cat docs/db/schema.sql"}`)
			call("tool", "get_rules", `{}`)
			put("words", says(content.AI, "As the release is frozen: "+text("words")))
			first = true
			continue
		case first && !middle && i >= len(recorded)/2 && done:
			put("middle", says(content.Human, "Also: <keep>"+text("middle")+"</keep>."))
			call("file again", "Read", `{"file_path":"CLAUDE.md"}`)
			p.rules[1].until = len(p.entries) - 1 // the newer reading replaces it
			middle = true
		}
		p.entries = append(p.entries, e)
	}
	return p
}

// TestWhatIsKeptIsInEveryRequest plants rules in recorded sessions and looks for them, byte for byte, in every request of
// every strategy that ships, in windows down to the smallest in which the session fits. What people said is looked for
// too: with strategies that remove no words of people, the newest message always, and each message until the host itself
// had to make room.
func TestWhatIsKeptIsInEveryRequest(t *testing.T) {
	race.Skip(t)
	server := modelapi.Start(t, modelapi.Options{Reply: summary})
	h := writing(t, "openai", server, keeps)
	t.Run("samples", func(t *testing.T) { lookInAll(t, h, repo.Samples(t)) })
	t.Run("recorded", func(t *testing.T) {
		files, err := filepath.Glob(filepath.Join(repo.Shared(t, "sessions", "native"), "*", "*"))
		files = slices.DeleteFunc(files, repo.Unread)
		if err != nil || len(files) == 0 {
			t.Fatalf("no recorded sessions: %v", err)
		}
		lookInAll(t, h, files)
	})
}

func lookInAll(t *testing.T, h *window.Host, files []string) {
	for _, file := range files {
		recorded, err := transcript.ReadFile(file, transcript.Options{})
		if err != nil {
			t.Fatal(err)
		}
		p := plant(recorded.Entries)
		tokens, err := tokensOf(t, p.entries)
		if err != nil {
			t.Fatal(err)
		}
		if tokens > full.Or(50_000, 150_000) || len(p.rules) < 5 {
			t.Logf("SKIPPED: %s has %d tokens and %d rules", filepath.Base(file), tokens, len(p.rules))
			continue
		}
		for _, strategy := range []string{"distill", "high-density", "top-down-truncation", "middle-out", "one-shot"} {
			t.Run(path.Join(strategy, filepath.Base(file)), func(t *testing.T) {
				t.Parallel()
				var found looked
				fits, below := tokens, 0 // the smallest window that fits, the largest that does not
				for fits-below > fits/full.Or(4, 10) {
					limit := (fits + below) / 2
					if below == 0 {
						limit = fits / 2
					}
					l, ok := look(t, h, p, strategy, limit, recorded.Dir)
					if found.add(l); ok {
						fits = limit
					} else {
						below = limit
					}
				}
				t.Logf("%d of %d rules and %d of %d newest messages in %d requests; %d of %d messages; fits %d of %d tokens",
					found.rules, found.rulesOf, found.newest, found.requests, found.requests, found.people, found.peopleOf, fits,
					tokens)
			})
		}
	}
}

// looked counts what was looked for and found.
type looked struct{ requests, rules, rulesOf, newest, people, peopleOf int }

func (l *looked) add(o looked) {
	l.requests, l.rules, l.rulesOf, l.newest = l.requests+o.requests, l.rules+o.rules, l.rulesOf+o.rulesOf, l.newest+o.newest
	l.people, l.peopleOf = l.people+o.people, l.peopleOf+o.peopleOf
}

// look plays a session and looks for its rules in each request; ok is false if one did not fit, which is the last.
func look(t *testing.T, h *window.Host, p planted, strategy string, limit int, root string) (l looked, ok bool) {
	t.Helper()
	set := map[string]any{"compression.strategy": strategy, "model.contextLimit": limit}
	if root != "" {
		set["workspace.root"] = root
	}
	s := begin(t, h, set)
	defer s.Close()
	newest, madeRoom := "", false
	var people []string
	ask := func(i int) bool {
		ready, err := s.Prepare(t.Context(), window.Sending{})
		var overflow *prepare.ContextOverflowError
		if errors.As(err, &overflow) {
			if len(overflow.Kept) > 0 && !strings.Contains(err.Error(), "compression.keep") {
				t.Errorf("the error does not say what to do: %v", err)
			}
			return false
		}
		if err != nil {
			t.Fatalf("before entry %d: %v", i, err)
		}
		all := everything(ready.Contents())
		l.requests++
		for _, r := range p.rules {
			if r.from >= i || r.until >= 0 && r.until < i {
				continue
			}
			l.rulesOf++
			if strings.Contains(all, r.text) {
				l.rules++
			} else {
				t.Errorf("%s, %d tokens, before entry %d: the rule %q is gone", strategy, limit, i, r.name)
			}
		}
		madeRoom = madeRoom || slices.ContainsFunc(ready.Outcome.Ladder, func(step outcome.LadderStep) bool {
			return step.Rung == outcome.RungHuman
		})
		keepsPeople := strategy == "distill" || strategy == "high-density"
		if keepsPeople {
			for _, said := range people {
				l.peopleOf++
				if strings.Contains(all, said) {
					l.people++
				} else if !madeRoom {
					t.Errorf("%s, %d tokens, before entry %d: a message is not as it was: %.60q", strategy, limit, i, said)
				}
			}
		}
		if strings.Contains(all, newest) {
			l.newest++
		} else {
			t.Errorf("%s, %d tokens, before entry %d: the newest message is not as it was", strategy, limit, i)
		}
		return true
	}
	for i, e := range p.entries {
		if e.Speaker == content.AI && (i == 0 || p.entries[i-1].Speaker != content.AI) && !ask(i) {
			return l, false
		}
		if _, err := s.Add(t.Context(), window.Entries(e)); errors.Is(err, window.ErrInvalidEntry) {
			continue // recorders keep what no agent sends
		} else if err != nil {
			t.Fatal(err)
		}
		if e.Speaker == content.Human && e.HasContent() && !check.Summary(e) {
			newest = everything([]content.Content{e})
			people = append(people, newest)
		}
	}
	return l, ask(len(p.entries))
}

// everything is what a model reads of entries.
func everything(entries []content.Content) string {
	var b strings.Builder
	for _, e := range entries {
		for _, block := range e.Blocks {
			switch block := block.(type) {
			case content.Text:
				b.WriteString(block.Text)
			case content.ToolResponse:
				b.WriteString(block.ResultText())
			}
			b.WriteByte('\n')
		}
	}
	return b.String()
}
