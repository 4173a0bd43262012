package engine_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/host/internal/engine"
	"github.com/thresh-dev/thresh/host/internal/search"
	"github.com/thresh-dev/thresh/host/internal/store"
	"github.com/thresh-dev/thresh/internal/testkit/race"
	"github.com/thresh-dev/thresh/sdk/content"
	"github.com/thresh-dev/thresh/sdk/tools"
)

// factTurn is a turn in which a person asks for a file, and the AI reads it. Each line has a word that occurs nowhere
// else: see fact.
func factTurn(n int) []content.Content {
	id, path := fmt.Sprintf("call%d", n), fmt.Sprintf("host/internal/file%d.go", n)
	var file strings.Builder
	for line := range 30 {
		fmt.Fprintf(&file, "\tvalue := compute(%q) // of turn %d\n", fact(n, line), n)
	}
	return []content.Content{
		says(content.Human, "Look at "+fact(n, 100)+" please"),
		{Speaker: content.AI, Blocks: []content.Block{content.Text{Text: "I read it for " + fact(n, 101)},
			content.ToolCall{ID: id, Name: "read_file", Parameters: json.RawMessage(fmt.Sprintf(`{"path":%q}`, path))}}},
		{Speaker: content.Tool, Blocks: []content.Block{
			content.ToolResponse{CallID: id, ToolName: "read_file"}.WithResultText(file.String())}},
	}
}

func fact(turn, line int) string { return fmt.Sprintf("fact%sx%s", letters(turn), letters(line)) }

func letters(n int) string { return string(rune('a'+n/26%26)) + string(rune('a'+n%26)) }

func sentText(t *testing.T, history []content.Content) string {
	t.Helper()
	raw, err := json.Marshal(history)
	must(t, err, nil)
	return string(raw)
}

func find(t *testing.T, s *engine.Session, words string) []search.Passage {
	t.Helper()
	found, err := s.Search(t.Context(), search.Query{Words: words})
	must(t, err, nil)
	return found
}

// What the model still has is not found, and all else is.
func TestSearchFindsWhatIsNoLongerSent(t *testing.T) {
	race.Skip(t)
	for _, way := range []string{"high-density", "top-down-truncation", "distill"} {
		kept := store.NewMemory()
		s, err := openOn(t, kept, map[string]any{"model.contextLimit": 8000, "compression.strategy": way,
			"compression.density.recencyPruning": true}).Session(engine.SessionOptions{ID: "s"})
		must(t, err, nil)
		gone := 0
		for turn := range 30 {
			add(t, s, factTurn(turn)...)
			ready := prepareTurn(t, s)
			if turn%10 != 9 {
				continue
			}
			sent := sentText(t, ready.History)
			for of := range turn {
				for _, line := range []int{0, 29, 100, 101} {
					want := !strings.Contains(sent, fact(of, line))
					got := find(t, s, fact(of, line))
					if want != (len(got) > 0) {
						t.Fatalf("%s, turn %d: %s is sent: %v, passages found: %d", way, turn, fact(of, line), !want, len(got))
					}
					if !want {
						continue
					}
					gone++
					p := got[0]
					if !strings.Contains(p.Text, fact(of, line)) || p.Turn != of+1 || p.Tokens == 0 {
						t.Fatalf("%s: found %+v", fact(of, line), p)
					}
					if line < 100 && (p.Tool != "read_file" || p.Argument != fmt.Sprintf("host/internal/file%d.go", of) ||
						p.Kind != content.KindToolResponse || p.Of != 30) {
						t.Fatalf("%s: found %+v", fact(of, line), p)
					}
					around, err := s.Lines(t.Context(), p.Entry, p.Block, p.Line, p.Line+p.Lines-1)
					if around.Text != p.Text || err != nil {
						t.Fatalf("lines %d to %d are %q, %v", p.Line, p.Line+p.Lines-1, around.Text, err)
					}
				}
			}
		}
		if gone == 0 {
			t.Errorf("%s removed nothing", way)
		}
		taxonomy, err := tools.ForPresets(tools.PresetNames(), nil)
		must(t, err, nil)
		all, err := engine.SearchRecorded(t.Context(), kept, []store.Key{{ID: "s"}}, taxonomy,
			search.Query{Words: fact(29, 3)})
		if len(all) != 1 || err != nil {
			t.Errorf("recorded: %+v, %v", all, err)
		}
	}
}

// A string in quotes is found as it is written, also within words; words find names however they are written.
func TestSearchReadsCode(t *testing.T) {
	kept := store.NewMemory()
	s, err := openOn(t, kept, nil).Session(engine.SessionOptions{ID: "s"})
	must(t, err, nil)
	for _, text := range []string{
		"func getUserById(id int) => (*User, error)", "see host/internal/store.go:42 there", `a "quoted" \ text`,
		"日本語のテスト", strings.Repeat("x", 1<<20), strings.Repeat("the same line\n", 100_000),
	} {
		add(t, s, says(content.Human, text), says(content.AI, "ok"))
	}
	taxonomy, err := tools.ForPresets(tools.PresetNames(), nil)
	must(t, err, nil)
	for words, want := range map[string]string{
		"user by id": "getUserById", "get_user_by_id": "getUserById", "GetUserByID": "getUserById",
		"store.go": "store.go:42", "host/internal/store.go": "store.go:42", `"rById(id"`: "getUserById",
		`"=> (*"`: "getUserById", `"getuserbyid"`: "", `"\"quoted\" \\ "`: "quoted", "本語": "日本語", `"語の"`: "日本語",
		"same line": "the same line", strings.Repeat("x", 100): "xxx", "nothing": "",
	} {
		got, err := engine.SearchRecorded(t.Context(), kept, []store.Key{{ID: "s"}}, taxonomy,
			search.Query{Words: words})
		must(t, err, nil)
		if want == "" && len(got) > 0 || want != "" && (len(got) == 0 || !strings.Contains(got[0].Text, want)) {
			t.Errorf("%s: %+v", words, got)
		}
	}
}
