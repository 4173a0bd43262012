package summary_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/thresh-dev/thresh/internal/testkit/gen"
	"github.com/thresh-dev/thresh/internal/testkit/summarytest"
	"github.com/thresh-dev/thresh/sdk"
	"github.com/thresh-dev/thresh/sdk/summary"
)

// replies are what a model may answer, the good and the bad.
var replies = []string{
	snapshot, snapshot, snapshot, second, "<scratchpad>" + snapshot + "</scratchpad>" + second, "prose", "",
	"<state_snapshot>" + strings.Repeat("many words ", 300) + "</state_snapshot>",
}

func TestRunProperties(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		history := summarytest.Histories(gen.Options{Malformed: true, MediaBlocks: true}).Draw(rt, "history")
		n := len(history)
		from := summary.Cut(history, rapid.IntRange(0, n).Draw(rt, "from"))
		to := summary.Cut(history, rapid.IntRange(from, n).Draw(rt, "to"))
		if to <= from {
			return
		}
		m := &summarytest.Limited{
			Window: rapid.IntRange(4500, 30_000).Draw(rt, "window"),
			Answer: func(int, sdk.GenerateRequest) string { return rapid.SampledFrom(replies).Draw(rt, "reply") },
		}
		c := summarytest.Config(m.Window, m.Generate)
		c.Model.MaxOutput = rapid.IntRange(0, 3000).Draw(rt, "maxOutput")
		c.UserMessageBudget = new(rapid.IntRange(0, 500).Draw(rt, "budget"))
		c.Todos = []sdk.Todo{{Content: "go on", Status: "pending"}}
		got, err := c.Compress(t.Context(), strategy{from: from, to: to}, history)
		if m.Calls() > 16+1 {
			rt.Fatalf("%d requests", m.Calls())
		}
		for _, r := range got.Requests {
			if text := summarytest.Texts(r.Entries); strings.Contains(text, "aGVsbG8=") ||
				strings.Contains(text, "JVBERi0=") {
				rt.Fatal("a request holds an attachment")
			}
		}
		if err != nil {
			if strings.Contains(err.Error(), "is not a state snapshot") ||
				strings.Contains(err.Error(), "summary is empty") ||
				strings.Contains(err.Error(), "too long") {
				return // what the model answered, which is an error
			}
			rt.Fatal(err)
		}
		if got.NoOp != "" {
			return
		}
		summarytest.CheckReplaced(rt, history, got, from, to)
		if !summary.IsSummary(got.History[from]) {
			rt.Fatal("it is not marked as a summary")
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
