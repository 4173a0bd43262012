package summary_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/internal/testkit/gen"
	"github.com/thresh-dev/thresh/internal/testkit/summarytest"
	"github.com/thresh-dev/thresh/sdk"
	"github.com/thresh-dev/thresh/sdk/sdktest"
	"github.com/thresh-dev/thresh/sdk/summary"
)

// numbered answers a request with a snapshot that says which one it was.
func numbered(n int, _ sdk.GenerateRequest) string {
	return fmt.Sprintf("<state_snapshot>as of request %d</state_snapshot>", n)
}

func TestARangeThatFitsOnceResultsAreLinesIsSummarisedInOneRequest(t *testing.T) {
	var history []sdk.Content
	for i := range 10 {
		history = append(history, work(fmt.Sprintf("src/%d.go", i), 100)...)
	}
	m := &summarytest.Limited{Window: 5000, Answer: numbered}
	got := sdktest.Compress(t, strategy{}, history, summarytest.Config(m.Window, m.Generate))
	text := summarytest.Texts(got.Requests[0].Entries)
	if m.Calls() != 1 || got.Metadata.Counts["parts"] != 1 {
		t.Errorf("%d requests, %d parts", m.Calls(), got.Metadata.Counts["parts"])
	}
	if !strings.Contains(text, "[read_file: src/0.go — success, 100 lines]") ||
		!strings.Contains(text, "a line of src/9.go") {
		t.Errorf("the oldest results are not lines, or the newest are:\n%s", text)
	}
	if n := got.Metadata.Counts["resultsReduced"]; n == 0 || n == 10 {
		t.Errorf("%d results were reduced", n)
	}
}

func TestARangeOfFiveWindowsIsFolded(t *testing.T) {
	history := gen.Session(1000, 1)
	tokens := sdktest.Characters(history)
	m := &summarytest.Limited{Window: tokens / 5, Answer: numbered}
	got := sdktest.Compress(t, strategy{}, history, summarytest.Config(m.Window, m.Generate))
	parts := int(got.Metadata.Counts["parts"])
	if parts < 2 || m.Calls() != parts || got.NoOp != "" {
		t.Fatalf("%d parts, %d requests, no-op %q", parts, m.Calls(), got.NoOp)
	}
	for i, r := range got.Requests {
		text := summarytest.Texts(r.Entries)
		if !strings.Contains(text, fmt.Sprintf("part %d of %d", i+1, parts)) {
			t.Errorf("request %d does not say which part it is", i+1)
		}
		if carried := fmt.Sprintf("as of request %d<", i); i > 0 && !strings.Contains(text, carried) {
			t.Errorf("request %d does not have the snapshot so far", i+1)
		}
		if warned := strings.Contains(text, "will not be shown again"); warned != (i+1 < parts) {
			t.Errorf("request %d says that nothing is shown again: %v", i+1, warned)
		}
	}
	if want := fmt.Sprintf("as of request %d<", parts); !strings.Contains(summarytest.Text(got.History[0]), want) {
		t.Errorf("the summary is not the last snapshot:\n%.200s", summarytest.Text(got.History[0]))
	}
	if got.Metadata.Counts["entriesCut"]+got.Metadata.Counts["entriesLeftOut"] != 0 {
		t.Errorf("something was left out: %v", got.Metadata.Counts)
	}
	t.Logf("%d tokens, a window of %d: %d requests", tokens, m.Window, m.Calls())
}

func TestOneEntryLargerThanTheWindowIsCutVisibly(t *testing.T) {
	for name, letter := range map[string]string{"one letter": "a", "wide letters": "語"} {
		t.Run(name, func(t *testing.T) {
			history := append(session(), summarytest.Said(sdk.AI, strings.Repeat(letter, 1_000_000)))
			m := &summarytest.Limited{Window: 20_000, Answer: numbered}
			got := sdktest.Compress(t, strategy{}, history, summarytest.Config(m.Window, m.Generate))
			if text := summarytest.Texts(got.Requests[len(got.Requests)-1].Entries); !strings.Contains(text,
				" characters left out here …]") {
				t.Error("the request does not say that something is missing")
			}
			if got.Metadata.Counts["entriesCut"] != 1 || m.Calls() > 16 {
				t.Errorf("%v after %d requests", got.Metadata.Counts, m.Calls())
			}
		})
	}
}

func TestRequestsAreFewHoweverLargeTheRange(t *testing.T) {
	var history []sdk.Content
	for i := range 20_000 {
		history = append(history, summarytest.Said(sdk.AI, fmt.Sprint("Thought number ", i,
			strings.Repeat(" and so on", 20))))
	}
	m := &summarytest.Limited{Window: 6000, Answer: numbered}
	got := sdktest.Compress(t, strategy{}, history, summarytest.Config(m.Window, m.Generate))
	if m.Calls() > 16 || got.NoOp != "" {
		t.Fatalf("%d requests, no-op %q", m.Calls(), got.NoOp)
	}
	if n := got.Metadata.Counts["entriesLeftOut"]; n == 0 ||
		!strings.Contains(summarytest.Texts(got.Requests[0].Entries),
			fmt.Sprintf("[The oldest %d entries are left out here.]", n)) {
		t.Errorf("%d entries are counted as left out, and the request does not say so", n)
	}
}

func TestASnapshotThatLeavesNoRoomIsAskedForOnceMore(t *testing.T) {
	long := "<state_snapshot>" + strings.Repeat("words ", 5000) + "</state_snapshot>"
	m := &summarytest.Limited{Window: 12_000, Answer: func(n int, r sdk.GenerateRequest) string {
		if n == 1 {
			return long
		}
		return numbered(n, r)
	}}
	got := sdktest.Compress(t, strategy{}, gen.Session(1000, 1), summarytest.Config(m.Window, m.Generate))
	if parts := int(got.Metadata.Counts["parts"]); parts < 2 || m.Calls() != parts+1 {
		t.Errorf("%d parts, %d requests", parts, m.Calls())
	}
	twice := &summarytest.Limited{Window: 12_000, Answer: func(n int, r sdk.GenerateRequest) string {
		if n == 1 || n == 3 {
			return long
		}
		return numbered(n, r)
	}}
	_, err := summarytest.Config(twice.Window, twice.Generate).Compress(t.Context(), strategy{}, gen.Session(1000, 1))
	if !errors.Is(err, summary.ErrTooLong) || twice.Calls() != 3 {
		t.Errorf("two parts that leave no room: %d requests, error %v", twice.Calls(), err)
	}
}

func TestASnapshotThatIsTooLongToCarryIsPartOfTheRecord(t *testing.T) {
	prior := "<state_snapshot>" + strings.Repeat("words ", 9000) + "</state_snapshot>"
	history := append([]sdk.Content{made(prior)}, session()...)
	m := &summarytest.Limited{Window: 12_000, Answer: numbered}
	got := sdktest.Compress(t, strategy{}, history, summarytest.Config(m.Window, m.Generate))
	if text := summarytest.Texts(got.Requests[0].Entries); !strings.Contains(text,
		"earlier snapshot\n<state_snapshot>") || strings.Contains(text, "Update it") {
		t.Errorf("the request is\n%.3000s", text)
	}
}
