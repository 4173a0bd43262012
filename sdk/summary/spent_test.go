package summary_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/internal/testkit/summarytest"
	"github.com/thresh-dev/thresh/sdk"
	"github.com/thresh-dev/thresh/sdk/sdktest"
)

// tokens is a text of so many, as sdktest counts.
func tokens(word string, n int) string { return strings.Repeat(word, n) }

// Of what a snapshot saves, half may be spent on older messages of the user, and a quarter, at two bytes a token, on
// facts.
func TestWhatASummarySpendsOfWhatItSaves(t *testing.T) {
	for name, test := range map[string]struct {
		older, rest, latest int // tokens of a message, of what the AI said, of the last message
		files               int
		keeps               bool // the older message
		facts               int  // bytes, at most; nine tenths of that at the least
	}{
		"a message of less than half":         {older: 4000, rest: 5000, latest: 10, keeps: true},
		"a message of more than half":         {older: 4000, rest: 3000, latest: 10},
		"the last message is paid for anyway": {older: 1500, rest: 3000, latest: 3000, keeps: true},
		"facts of a quarter":                  {older: 10, rest: 4000, latest: 10, files: 50, keeps: true, facts: 4450},
		"facts of 6000 bytes":                 {older: 10, rest: 90_000, latest: 10, files: 50, keeps: true, facts: 6000},
	} {
		t.Run(name, func(t *testing.T) {
			history := []sdk.Content{summarytest.Said(sdk.Human, tokens("old ", test.older)),
				summarytest.Said(sdk.AI, tokens("and ", test.rest))}
			for i := range test.files {
				history = append(history, work(fmt.Sprint(strings.Repeat("d/", 80), i), 1)...)
			}
			history = append(history, summarytest.Said(sdk.Human, tokens("new ", test.latest)))
			c := summarytest.Config(200_000, sdktest.Answers(snapshot))
			c.UserMessageBudget = new(100_000)
			got := sdktest.Compress(t, strategy{}, history, c)
			text := summarytest.Text(got.History[0])
			if keeps := strings.Contains(text, tokens("old ", test.older)); keeps != test.keeps {
				t.Errorf("the older message is kept: %v", keeps)
			}
			at := strings.Index(text, "\n\nRecorded from")
			if at < 0 {
				at = len(text)
			}
			if n := len(text) - at; n > test.facts || n < test.facts*9/10 {
				t.Errorf("facts of %d bytes, want at most %d, of a history of %d tokens", n, test.facts, got.TokensBefore)
			}
		})
	}
}

// Whatever a snapshot counts: a summary that is applied counts less than what it is of.
func TestASummaryThatSavesNothingIsNotApplied(t *testing.T) {
	noop := map[bool]int{}
	// What the acknowledgement quotes of it is no part of the shortest summary.
	task := []sdk.Todo{{Content: tokens("and ", 40), Status: "in_progress"}}
	for size := range 200 {
		c := summarytest.Config(100_000, sdktest.Answers("<state_snapshot>"+tokens("and ", size+50)+"</state_snapshot>"))
		c.Todos = task
		got := sdktest.Compress(t, strategy{}, []sdk.Content{summarytest.Said(sdk.AI, tokens("and ", 200))}, c)
		if noop[got.NoOp != ""]++; got.NoOp == "" && got.TokensAfter >= got.TokensBefore {
			t.Fatalf("%d tokens became %d", got.TokensBefore, got.TokensAfter)
		}
	}
	if len(noop) != 2 {
		t.Errorf("no summary is too long, or each is: %v", noop)
	}
}

func TestATaskListIsShownInPart(t *testing.T) {
	c := summarytest.Config(100_000, sdktest.Answers(snapshot))
	for i := range 150 {
		c.Todos = append(c.Todos, sdk.Todo{Content: fmt.Sprintf("task %d", i), Status: "pending"})
	}
	c.Todos[0].Content = strings.Repeat("x", 600)
	text := summarytest.Texts(sdktest.Compress(t, strategy{}, session(), c).Requests[0].Entries)
	if !strings.Contains(text, "task 99\n(and 50 more)\n") {
		t.Errorf("the request has not the first 100 of 150 tasks:\n%s", text)
	}
	if n := strings.Count(text, "x"); n < 450 || n > 550 {
		t.Errorf("a task of 600 characters is shown with %d, not about 500", n)
	}
}

// A person may speak between a call and its response. If all three are pinned, they stay next to each other.
func TestWhatIsPinnedAroundTheLastMessageStaysTogether(t *testing.T) {
	history := append(session(), work("src/c.go", 40)...)
	n := len(history)
	history = append(history[:n-1:n-1], summarytest.Said(sdk.Human, "Hurry."), history[n-1],
		summarytest.Said(sdk.AI, "Done."))
	for i := n - 2; i < n+1; i++ {
		history[i].Metadata = []byte(`{"pinned":true}`)
	}
	got := sdktest.Compress(t, strategy{}, history, summarytest.Config(100_000, sdktest.Answers(snapshot)))
	if got.NoOp != "" || len(got.History) != 5 {
		t.Fatalf("no-op %q, %d entries", got.NoOp, len(got.History))
	}
	for i, e := range got.History[2:] {
		if !e.Equal(history[n-2+i]) {
			t.Errorf("entry %d is not the pinned one", 2+i)
		}
	}
}
