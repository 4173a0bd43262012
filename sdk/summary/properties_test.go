package summary_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/thresh-dev/thresh/internal/gen"
	"github.com/thresh-dev/thresh/sdk"
	"github.com/thresh-dev/thresh/sdk/summary"
)

// replies are what a model may answer, the good and the bad.
var replies = []string{
	summarytest.Snapshot, summarytest.Snapshot, summarytest.Snapshot, second, "<scratchpad>" + summarytest.Snapshot + "</scratchpad>" + second, "prose", "", "VERIFIED",
	"<state_snapshot>" + strings.Repeat("many words ", 300) + "</state_snapshot>",
}

func TestRunProperties(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		history := gen.History(gen.Options{Malformed: true, MediaBlocks: true}).Draw(rt, "history")
		if rapid.Bool().Draw(rt, "long") {
			history = append(gen.Session(rapid.IntRange(20, 150).Draw(rt, "entries"), rapid.Uint64Range(1, 50).Draw(rt, "seed")), history...)
		}
		n := len(history)
		from := summary.Cut(history, rapid.IntRange(0, n).Draw(rt, "from"))
		to := summary.Cut(history, rapid.IntRange(from, n).Draw(rt, "to"))
		if to <= from {
			return
		}
		s := strategy{
			from: from, to: to,
			model: &sdk.Model{
				ContextLimit: rapid.IntRange(4500, 30_000).Draw(rt, "window"),
				MaxOutput:    rapid.IntRange(0, 3000).Draw(rt, "maxOutput"),
			},
			budget: rapid.IntRange(0, 500).Draw(rt, "budget"),
			verify: rapid.Bool().Draw(rt, "verify"),
		}
		m := &summarytest.Limited{Window: s.model.ContextLimit, Answer: func(int, sdk.GenerateRequest) string {
			return rapid.SampledFrom(replies).Draw(rt, "reply")
		}}
		c := config(m.Generate)
		c.Todos = []sdk.Todo{{Content: "go on", Status: "pending"}}
		got, err := c.Compress(t.Context(), s, history)
		if m.Calls() > 16+2 {
			rt.Fatalf("%d requests", m.Calls())
		}
		for _, r := range got.Requests {
			if text := summarytest.Texts(r.Entries); strings.Contains(text, "aGVsbG8=") || strings.Contains(text, "JVBERi0=") {
				rt.Fatal("a request holds an attachment")
			}
		}
		if err != nil {
			if strings.Contains(err.Error(), "is no state snapshot") || strings.Contains(err.Error(), "summary is empty") || strings.Contains(err.Error(), "too long") {
				return // what the model answered, which is an error
			}
			rt.Fatal(err)
		}
		if got.NoOp != "" {
			return
		}
		if got.TokensAfter >= got.TokensBefore {
			rt.Fatalf("%d tokens became %d", got.TokensBefore, got.TokensAfter)
		}
		if len(got.History) != n-(to-from)+2 {
			rt.Fatalf("%d entries became %d", n, len(got.History))
		}
		for i, e := range got.History {
			switch {
			case i < from && !e.Equal(history[i]), i > from+1 && !e.Equal(history[i+to-from-2]):
				rt.Fatalf("entry %d of the result is another one", i)
			}
		}
		if !summary.IsSummary(got.History[from]) {
			rt.Fatal("nobody will know that it is a summary")
		}
		everSaid := ""
		for _, e := range got.History {
			everSaid += summarytest.Text(e) + "\n"
		}
		if last := summary.LastMessage(history); last >= 0 {
			for _, b := range history[last].Blocks {
				if text, ok := b.(sdk.Text); ok && !strings.Contains(everSaid, strings.TrimSpace(text.Text)) {
					rt.Fatalf("what was said last is gone: %q", text.Text)
				}
			}
		}
		humans := 0
		for _, e := range history[from:to] {
			if e.Speaker == sdk.Human && !summary.IsSummary(e) && strings.TrimSpace(summarytest.Text(e)) != "" {
				humans++
			}
		}
		if c := got.Metadata.Counts; int(c["userMessagesKept"]+c["userMessagesSummarized"]) != humans {
			rt.Fatalf("%d messages, but %v", humans, c)
		}
	})
}
