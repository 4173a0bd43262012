package summary_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/internal/testkit/summarytest"
	"github.com/thresh-dev/thresh/sdk"
	"github.com/thresh-dev/thresh/sdk/sdktest"
)

const second = "<state_snapshot><overall_goal>ship it twice</overall_goal></state_snapshot>"

func TestAnEarlierSummaryIsUpdatedAndCarriedOn(t *testing.T) {
	c := summarytest.Config(100_000, sdktest.Answers(snapshot))
	c.TranscriptPath = "/log/t.jsonl"
	first := sdktest.Compress(t, strategy{}, session(), c)

	history := append(first.History, work("src/c.go", 60)...)
	history = append(history, summarytest.Said(sdk.Human, "And the docs."))
	history = append(history, work("src/d.go", 60)...)
	got := sdktest.Compress(t, strategy{}, history, summarytest.Config(100_000, sdktest.Answers(second)))

	request := summarytest.Texts(got.Requests[0].Entries)
	if n := strings.Count(request, snapshot); n != 1 {
		t.Errorf("the earlier snapshot stands %d times in the request", n)
	}
	before, after, _ := strings.Cut(request, "Update it")
	if strings.Contains(before, snapshot) || !strings.Contains(after, "snapshot so far\n"+snapshot+"\n</record") {
		t.Errorf("the request does not ask to update the snapshot:\n%s", request)
	}
	if strings.Contains(request, "Understood.") {
		t.Error("the acknowledgement is taken for a part of the conversation")
	}
	text := summarytest.Text(got.History[0])
	at := 0
	for _, want := range []string{second, "Never touch go.mod.", "Now the tests, please.", "And the docs.",
		"- src/d.go\n- src/c.go\n- src/b.go\n- src/a.go", "transcript available at: /log/t.jsonl"} {
		next := strings.Index(text[at:], want)
		if next < 0 {
			t.Fatalf("%q is not in the summary, or before what it follows:\n%s", want, text)
		}
		at += next
	}
	if strings.Contains(text, snapshot) || strings.Count(text, "Never touch") != 1 {
		t.Errorf("the earlier summary is still in it:\n%s", text)
	}
}

func TestWhatWasSaidLastSurvivesEverySummary(t *testing.T) {
	history := session()
	request := "The one request: " + strings.Repeat("a word and ", 100)
	history[4] = summarytest.Said(sdk.Human, request)
	for i := range 3 {
		history = append(history, work(fmt.Sprintf("src/%d.go", i), 100)...)
		c := summarytest.Config(100_000, sdktest.Answers(snapshot))
		c.UserMessageBudget = new(0) // nothing but the last is kept
		history = sdktest.Compress(t, strategy{}, history, c).History
		if len(history) != 2 || !strings.Contains(summarytest.Text(history[0]), request) ||
			strings.Contains(summarytest.Text(history[0]), "go.mod") {
			t.Fatalf("after %d summaries: %s", i+1, summarytest.Text(history[0]))
		}
		if !strings.Contains(summarytest.Text(history[1]), "The one request") {
			t.Fatalf("the acknowledgement of the summary after %d does not have it: %s", i,
				summarytest.Text(history[1]))
		}
	}
}

func TestASummaryOfAnotherProgramIsUpdatedToo(t *testing.T) {
	const foreign = "This session continues another one, in which the parser was written."
	history := append([]sdk.Content{summarytest.Said(sdk.Human, foreign)}, work("src/c.go", 60)...)
	history[0].Metadata = []byte(`{"isSummary":true}`)
	got := sdktest.Compress(t, strategy{}, history, summarytest.Config(100_000, sdktest.Answers(snapshot)))
	if !strings.Contains(summarytest.Texts(got.Requests[0].Entries), "snapshot so far\n"+foreign+"\n</record") {
		t.Errorf("it is not updated:\n%s", summarytest.Texts(got.Requests[0].Entries))
	}
	if strings.Contains(summarytest.Text(got.History[0]), foreign) {
		t.Errorf("it is taken for the user's words:\n%s", summarytest.Text(got.History[0]))
	}
}

func TestOfSeveralSummariesTheNewestIsUpdated(t *testing.T) {
	history := []sdk.Content{made(snapshot)}
	history = append(history, work("src/c.go", 60)...)
	history = append(history, made(second))
	got := sdktest.Compress(t, strategy{}, history, summarytest.Config(100_000, sdktest.Answers(snapshot)))
	text := summarytest.Texts(got.Requests[0].Entries)
	if !strings.Contains(text, "snapshot so far\n"+second) || !strings.Contains(text, "earlier snapshot\n"+snapshot) {
		t.Errorf("the request is\n%s", text)
	}
}

// A pinned last message stands behind the summary, with what is pinned after it, and is not said twice. Other pinned
// entries stand before it.
func TestAPinnedLastMessageStandsBehindTheSummary(t *testing.T) {
	pin := func(entry *sdk.Content) { entry.Metadata = []byte(`{"pinned":true}`) }
	request := "The one request: " + strings.Repeat("a word and ", 100)
	history := append(session(), summarytest.Said(sdk.Human, request))
	at := len(history) - 1
	history[at].Blocks = append(history[at].Blocks, sdk.Media{MimeType: "image/png", Data: "QUJDRA==", Encoding: "base64"})
	for i := range 3 {
		history = append(history, work(fmt.Sprintf("src/%d.go", i), 100)...)
	}
	pin(&history[0])
	pin(&history[at])
	pin(&history[at+2]) // the result of the first call after it
	for range 2 {
		got := sdktest.Compress(t, strategy{}, history, summarytest.Config(100_000, sdktest.Answers(snapshot)))
		if len(got.History) != 6 || !got.History[0].Pinned() || !strings.Contains(summarytest.Text(got.History[1]), snapshot) ||
			summarytest.Text(got.History[3]) != request || !got.History[5].Pinned() {
			t.Fatalf("%d entries: %s", len(got.History), summarytest.Texts(got.History))
		}
		summary := got.History[1]
		if text := summarytest.Text(summary) + summarytest.Text(got.History[2]); strings.Contains(text, "The one request") ||
			len(summary.Blocks) != 1 {
			t.Errorf("it stands in the summary too: %s", text)
		}
		history = append(got.History, work("src/x.go", 200)...)
	}
}

func TestAttachmentsOfTheLastMessageStay(t *testing.T) {
	picture := sdk.Media{MimeType: "image/png", Data: "QUJDRA==", Encoding: "base64", Filename: "plan.png"}
	history := session()
	history[4].Blocks = append(history[4].Blocks, picture)
	for range 2 {
		history = append(history, work("src/x.go", 100)...)
		got := sdktest.Compress(t, strategy{}, history, summarytest.Config(100_000, sdktest.Answers(snapshot)))
		if history = got.History; len(history[0].Blocks) != 2 || history[0].Blocks[1].(sdk.Media).Data != picture.Data {
			t.Fatalf("the summary is %s", history[0].AppendJSON(nil))
		}
	}
	history = append(history, summarytest.Said(sdk.Human, "Forget the picture."))
	history = append(history, work("src/x.go", 100)...)
	if got := sdktest.Compress(t, strategy{}, history, summarytest.Config(100_000,
		sdktest.Answers(snapshot))); len(got.History[0].Blocks) != 1 {
		t.Error("the attachment of an older message stays")
	}
}

func TestTheUsersWordsStayWithinTheirBudget(t *testing.T) {
	var history []sdk.Content
	for i := range 10 {
		history = append(history, summarytest.Said(sdk.Human,
			fmt.Sprintf("Wish %d: %s", i, strings.Repeat("please ", 50))))
		history = append(history, work(fmt.Sprintf("src/%d.go", i), 60)...)
	}
	c := summarytest.Config(100_000, sdktest.Answers(snapshot))
	c.UserMessageBudget = new(350) // a wish counts 94 and its heading 8
	got := sdktest.Compress(t, strategy{}, history, c)
	text := summarytest.Text(got.History[0])
	for i := range 10 {
		if has := strings.Contains(text, fmt.Sprintf("Wish %d:", i)); has != (i >= 7) {
			t.Errorf("wish %d is kept: %v", i, has)
		}
	}
	if kept, summarized := got.Metadata.Counts["userMessagesKept"],
		got.Metadata.Counts["userMessagesSummarized"]; kept != 3 || summarized != 7 {
		t.Errorf("%d are counted as kept, %d as summarised", kept, summarized)
	}
	if !strings.Contains(text, "(other messages are in the snapshot only)") {
		t.Error("the summary does not say that there were more")
	}
}
