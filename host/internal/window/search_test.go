package window_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/host/internal/journal"
	"github.com/thresh-dev/thresh/host/internal/search"
	"github.com/thresh-dev/thresh/host/internal/store"
	"github.com/thresh-dev/thresh/host/internal/window"
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

func find(t *testing.T, s *window.Session, words string) []search.Passage {
	t.Helper()
	found, err := s.Search(t.Context(), search.Query{Words: words})
	must(t, err, nil)
	return found.Passages
}

// What the model still has is not found, and all else is.
func TestSearchFindsWhatIsNoLongerSent(t *testing.T) {
	race.Skip(t)
	for _, way := range []string{"high-density", "top-down-truncation", "distill"} {
		kept := store.NewMemory()
		s, err := openOn(t, kept, map[string]any{"model.contextLimit": 8000, "compression.strategy": way,
			"compression.density.recencyPruning": true}).Open(window.Opening{Key: store.Key{ID: "s"}})
		must(t, err, nil)
		if got := find(t, s, "anything"); len(got) > 0 {
			t.Errorf("a new session has %+v", got)
		}
		gone := 0
		for turn := range 30 {
			add(t, s, factTurn(turn)...)
			ready := prepareTurn(t, s)
			if turn%10 != 9 {
				continue
			}
			sent := sentText(t, ready.Contents())
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
		all, err := journal.Search(t.Context(), kept, []store.Key{{ID: "s"}}, taxonomy,
			search.Query{Words: fact(29, 3)})
		if len(all.Found) != 1 || err != nil {
			t.Errorf("recorded: %+v, %v", all, err)
		}
	}
}

// A string in quotes is found as it is written, also within words; words find names however they are written.
func TestSearchReadsCode(t *testing.T) {
	kept := store.NewMemory()
	s, err := openOn(t, kept, nil).Open(window.Opening{Key: store.Key{ID: "s"}})
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
		got, err := journal.Search(t.Context(), kept, []store.Key{{ID: "s"}}, taxonomy,
			search.Query{Words: words})
		must(t, err, nil)
		if found := got.Found; want == "" && len(found) > 0 || want != "" && (len(found) == 0 ||
			!strings.Contains(found[0].Text, want)) {
			t.Errorf("%s: %+v", words, got)
		}
	}
}

// Every store finds the same, in the same order: what was cut off in the middle of indexing is caught up, and an index
// of another form is made again. A fork has what was there before it, and nothing of what came after.
func TestStoresFindTheSame(t *testing.T) {
	taxonomy, err := tools.ForPresets(tools.PresetNames(), nil)
	must(t, err, nil)
	var want []string
	wanted := ""
	for name, open := range stores(t) {
		both := open(t)
		h := openOn(t, both[0], nil)
		s, err := h.Open(window.Opening{Key: store.Key{ID: "s"}})
		must(t, err, nil)
		for turn := range 80 { // more than is indexed at once
			add(t, s, factTurn(turn)...)
		}
		at := s.Position()
		add(t, s, factTurn(80)...)
		fork, err := h.Open(window.Opening{Key: store.Key{ID: "f"},
			Fork: &journal.Fork{Parent: "s", At: at, Entries: 240, Whole: true}})
		must(t, err, nil)
		add(t, fork, factTurn(81)...)
		look := func(in store.Store, id, words string) (found []string) {
			t.Helper()
			all, err := journal.Search(t.Context(), in, []store.Key{{ID: id}}, taxonomy,
				search.Query{Words: words, Limit: 20, Tokens: 50_000})
			must(t, err, nil)
			for _, p := range all.Found {
				found = append(found, fmt.Sprintf("%s %s:%d+%d %.4f", p.Key.ID, p.Entry, p.Line, p.Lines, p.Score))
			}
			return found
		}
		cut := &cutOff{Store: both[1], left: 1}
		if _, err := journal.Search(t.Context(), cut, []store.Key{{ID: "s"}}, taxonomy,
			search.Query{Words: "turn"}); err == nil || cut.left >= 0 {
			t.Errorf("%s: indexing was not cut off: %v", name, err)
		}
		var got []string
		for _, words := range []string{fact(3, 3), fact(39, 29) + " " + fact(2, 100), "file7.go compute", "value turn 12",
			`"of turn 80"`, "look at"} {
			got = append(got, words)
			got = append(got, look(both[0], "s", words)...)
		}
		if want == nil {
			want, wanted = got, name
		} else if strings.Join(got, "\n") != strings.Join(want, "\n") {
			t.Errorf("%s and %s differ:\n%s\n\n%s", name, wanted, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
		if ofS, ofF := look(both[0], "s", fact(81, 0)), look(both[0], "f", fact(80, 0)); len(ofS)+len(ofF) > 0 {
			t.Errorf("%s: the session and its fork found %q and %q of each other", name, ofS, ofF)
		}
		if len(look(both[1], "f", fact(81, 0))) != 1 || len(look(both[1], "f", fact(79, 0))) != 1 {
			t.Errorf("%s: the fork does not find its own", name)
		}
		other := store.Part{Until: 1 << 62, Pieces: map[int][]byte{0: []byte("another form")}}
		if ok, err := both[0].Index(t.Context(), store.Key{ID: "s"}, other); !ok || err != nil {
			t.Fatal(ok, err)
		}
		if again := look(both[1], "s", "value turn 12"); strings.Join(again, "\n") !=
			strings.Join(got[slices.Index(got, "value turn 12")+1:][:len(again)], "\n") || len(again) == 0 {
			t.Errorf("%s: made again, the index finds %q", name, again)
		}
	}
}

// cutOff fails when it was given so many parts of an index.
type cutOff struct {
	store.Store
	left int
}

func (c *cutOff) Index(ctx context.Context, key store.Key, part store.Part) (bool, error) {
	if c.left--; c.left < 0 {
		return false, errors.New("killed")
	}
	return c.Store.Index(ctx, key, part)
}

// After a turn that removed something, what was added is indexed without a search.
func TestWhatWasRemovedIsIndexed(t *testing.T) {
	kept := store.NewMemory()
	h := openOn(t, kept, map[string]any{"model.contextLimit": 30_000, "compression.strategy": "top-down-truncation"})
	s, err := h.Open(window.Opening{Key: store.Key{ID: "s"}})
	must(t, err, nil)
	for turn := range 60 {
		add(t, s, factTurn(turn)...)
		prepareTurn(t, s)
	}
	h.WaitInBackground()
	words, err := search.Query{Words: fact(0, 0)}.Parse()
	must(t, err, nil)
	parts, err := kept.Find(t.Context(), store.Key{ID: "s"}, words.Pieces())
	must(t, err, nil)
	index, ok := words.NewIndex(parts)
	any := func(int, search.Spot) bool { return true }
	if !ok || len(words.Rank([]search.Index{index}, false, any).Next(2)) != 1 {
		t.Errorf("%d parts, %v", len(parts), ok)
	}
}
