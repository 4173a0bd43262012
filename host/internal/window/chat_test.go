package window_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/host/internal/window"
	"github.com/thresh-dev/thresh/host/outcome"
	"github.com/thresh-dev/thresh/internal/check"
	"github.com/thresh-dev/thresh/internal/testkit/gen"
	"github.com/thresh-dev/thresh/internal/testkit/modelapi"
	"github.com/thresh-dev/thresh/sdk/content"
)

// chats are conversations, and the context limit in which they are held.
var chats = map[string]struct {
	limit   int
	entries []content.Content
}{
	"ten questions, long answers": {8_000, asked(10, func(int) int { return 900 })},
	"thirty questions":            {8_000, asked(30, func(i int) int { return 100 + i%4*200 })},
	"some answers of two words":   {4_000, asked(30, func(i int) int { return 2 + i%3*150 })},
	"tools between": {6_000, func() (all []content.Content) {
		for i, c := range asked(30, func(int) int { return 250 }) {
			if all = append(all, c); i%4 == 0 {
				id := fmt.Sprint("c", i)
				all = append(all, gen.Call(id, "read_file", fmt.Sprintf(`{"file_path":"f%d.go"}`, i)),
					gen.Answer(id, "read_file", prose(100, i)))
			}
		}
		return all
	}()},
}

// asked is n questions with answers of so many words.
func asked(n int, length func(i int) int) (all []content.Content) {
	for i := range n {
		all = append(all, gen.Said(content.Human, fmt.Sprintf("Question %d: what about %s?", i, prose(20, i))),
			gen.Said(content.AI, fmt.Sprintf("Answer %d. %s", i, prose(length(i), 7*i))))
	}
	return all
}

func prose(n, seed int) string {
	of := strings.Fields("the tide moves water by day and a moon pulls on every sea while winds from land shape small waves")
	out := make([]string, n)
	for i := range out {
		out[i] = of[(seed+i*i+i/7)%len(of)]
	}
	return strings.Join(out, " ")
}

// Whatever a strategy leaves out of a chat, questions do not follow each other as if no one had answered them.
func TestAChatKeepsMarksOfWhatWasSaid(t *testing.T) {
	server := modelapi.Start(t, modelapi.Options{Reply: summary})
	h := writing(t, "openai", server, nil)
	for _, strategy := range []string{"distill", "high-density", "top-down-truncation", "middle-out", "one-shot"} {
		for name, c := range chats {
			t.Run(strategy+"/"+name, func(t *testing.T) {
				s, err := h.Open(window.Opening{Settings: map[string]any{
					"compression.strategy": strategy, "model.contextLimit": c.limit}})
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { s.Close() })
				at := map[string]int{} // by id, the position of an entry that was added
				add := func(i int) {
					if _, err := s.Add(t.Context(), window.Entries(c.entries[i])); err != nil {
						t.Fatal(err)
					}
					owned := owned(t, s).Entries
					at[owned[len(owned)-1].ID] = i
				}
				var took outcome.Gone
				count := func(o outcome.Outcome) {
					if o.Gone != nil {
						took.Human, took.AI = took.Human+o.Gone.Human, took.AI+o.Gone.AI
					}
				}
				for i := range c.entries[:len(c.entries)-1] {
					if add(i); c.entries[i+1].Speaker != content.AI {
						continue
					}
					p, err := s.Prepare(t.Context(), window.Sending{})
					if err != nil {
						t.Fatalf("before entry %d: %v", i+1, err)
					}
					if count(p.Outcome); p.Outcome.Tokens > c.limit {
						t.Errorf("before entry %d: %d tokens", i+1, p.Outcome.Tokens)
					}
					gapsMarked(t, s, c.entries[:i+1], at)
				}
				for range 2 {
					o, err := s.Compress(t.Context(), nil)
					if err != nil {
						t.Fatal(err)
					}
					count(o)
					gapsMarked(t, s, c.entries[:len(c.entries)-1], at)
				}
				var gone outcome.Gone
				stays := map[int]bool{}
				for _, e := range owned(t, s).Entries {
					if i, ok := at[e.ID]; ok {
						stays[i] = true
					}
				}
				for i, e := range c.entries[:len(c.entries)-1] {
					switch _, said := e.Blocks[0].(content.Text); {
					case !said || stays[i]:
					case e.Speaker == content.Human:
						gone.Human++
					default:
						gone.AI++
					}
				}
				if gone != took {
					t.Errorf("%+v is gone, and the turns say %+v", gone, took)
				}
				t.Log("\n" + inShort(t, s, at))
			})
		}
	}
}

// gapsMarked checks the gaps of a history: each in which something was said has one mark that counts it, or a summary.
func gapsMarked(t *testing.T, s *window.Session, added []content.Content, at map[string]int) {
	t.Helper()
	next := 0
	var said check.Gap
	marks, summaries := 0, 0
	end := func(to int) {
		t.Helper()
		var gone check.Gap
		for _, c := range added[next:to] {
			gone.Add(c)
		}
		if summaries == 0 && (gone != said || marks > 1 || marks == 0 && gone != check.Gap{}) {
			t.Errorf("entries %d to %d: %+v is gone, %d marks say %+v", next, to, gone, marks, said)
		}
		if summaries > 0 && marks > 0 {
			t.Errorf("entries %d to %d: a summary and %d marks", next, to, marks)
		}
		marks, summaries, said = 0, 0, check.Gap{}
	}
	for _, e := range owned(t, s).Entries {
		i, known := at[e.ID]
		_, mark := check.GapOf(e.Content)
		switch {
		case known:
			end(i)
			next = i + 1
		case mark:
			marks++
			said.Add(e.Content)
		case check.Frames(e.Content):
			summaries++
		}
	}
	end(len(added))
}

// inShort is a history with a line for each entry.
func inShort(t *testing.T, s *window.Session, at map[string]int) string {
	var b strings.Builder
	all := owned(t, s)
	for _, e := range all.Entries {
		place := "made"
		if i, ok := at[e.ID]; ok {
			place = fmt.Sprint(i)
		}
		text, ok := e.Content.Blocks[0].(content.Text)
		if !ok {
			text.Text = e.Content.Blocks[0].Kind()
		}
		fmt.Fprintf(&b, "%4s %-5s %5d %.70s\n", place, e.Content.Speaker, e.Tokens, strings.ReplaceAll(text.Text, "\n", " "))
	}
	fmt.Fprintf(&b, "%d entries, %d tokens", len(all.Entries), all.Tokens)
	return b.String()
}
