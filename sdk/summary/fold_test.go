package summary_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/internal/gen"
	"github.com/thresh-dev/thresh/sdk"
	"github.com/thresh-dev/thresh/sdk/sdktest"
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
	m := &limited{window: 5000, answer: numbered}
	got := sdktest.Compress(t, all(m.window), history, config(m.generate))
	text := requestText(got.Requests[0])
	if m.calls != 1 || got.Metadata.Counts["parts"] != 1 {
		t.Errorf("%d requests, %d parts", m.calls, got.Metadata.Counts["parts"])
	}
	if !strings.Contains(text, "[read_file: src/0.go — success, 100 lines]") || !strings.Contains(text, "a line of src/9.go") {
		t.Errorf("the oldest results are not lines, or the newest are:\n%s", text)
	}
	if n := got.Metadata.Counts["resultsReduced"]; n == 0 || n == 10 {
		t.Errorf("%d results were reduced", n)
	}
}

func TestARangeOfFiveWindowsIsFolded(t *testing.T) {
	history := gen.Session(1000, 1)
	tokens := sdktest.Characters(history)
	m := &limited{window: tokens / 5, answer: numbered}
	got := sdktest.Compress(t, all(m.window), history, config(m.generate))
	parts := int(got.Metadata.Counts["parts"])
	if parts < 2 || m.calls != parts || got.NoOp != "" {
		t.Fatalf("%d parts, %d requests, no-op %q", parts, m.calls, got.NoOp)
	}
	for i, r := range got.Requests {
		text := requestText(r)
		if !strings.Contains(text, fmt.Sprintf("part %d of %d", i+1, parts)) {
			t.Errorf("request %d does not say which part it is", i+1)
		}
		if carried := fmt.Sprintf("as of request %d<", i); i > 0 && !strings.Contains(text, carried) {
			t.Errorf("request %d does not have the snapshot so far", i+1)
		}
	}
	if want := fmt.Sprintf("as of request %d<", parts); !strings.Contains(textOf(got.History[0]), want) {
		t.Errorf("the summary is not the last snapshot:\n%.200s", textOf(got.History[0]))
	}
	if got.Metadata.Counts["entriesCut"]+got.Metadata.Counts["entriesLeftOut"] != 0 {
		t.Errorf("something was left out: %v", got.Metadata.Counts)
	}
	t.Logf("%d tokens, a window of %d: %d requests", tokens, m.window, m.calls)
}

func TestOneEntryLargerThanTheWindowIsCutVisibly(t *testing.T) {
	for name, letter := range map[string]string{"one letter": "a", "wide letters": "語"} {
		t.Run(name, func(t *testing.T) {
			history := append(session(), said(sdk.AI, strings.Repeat(letter, 1_000_000)))
			m := &limited{window: 20_000, answer: numbered}
			got := sdktest.Compress(t, all(m.window), history, config(m.generate))
			if text := requestText(got.Requests[len(got.Requests)-1]); !strings.Contains(text, " characters left out here …]") {
				t.Error("the request does not say that something is missing")
			}
			if got.Metadata.Counts["entriesCut"] != 1 || m.calls > 16 {
				t.Errorf("%v after %d requests", got.Metadata.Counts, m.calls)
			}
		})
	}
}

func TestRequestsAreFewHoweverLargeTheRange(t *testing.T) {
	var history []sdk.Content
	for i := range 20_000 {
		history = append(history, said(sdk.AI, fmt.Sprint("Thought number ", i, strings.Repeat(" and so on", 20))))
	}
	m := &limited{window: 6000, answer: numbered}
	got := sdktest.Compress(t, all(m.window), history, config(m.generate))
	if m.calls > 16 || got.NoOp != "" {
		t.Fatalf("%d requests, no-op %q", m.calls, got.NoOp)
	}
	if n := got.Metadata.Counts["entriesLeftOut"]; n == 0 || !strings.Contains(requestText(got.Requests[0]), fmt.Sprintf("[The oldest %d entries are left out here.]", n)) {
		t.Errorf("%d entries are counted as left out, and the request does not say so", n)
	}
}

func TestASnapshotThatLeavesNoRoomIsAskedForOnceMore(t *testing.T) {
	long := "<state_snapshot>" + strings.Repeat("words ", 5000) + "</state_snapshot>"
	m := &limited{window: 12_000, answer: func(n int, r sdk.GenerateRequest) string {
		if n == 1 {
			return long
		}
		return numbered(n, r)
	}}
	got := sdktest.Compress(t, all(m.window), gen.Session(1000, 1), config(m.generate))
	if parts := int(got.Metadata.Counts["parts"]); parts < 2 || m.calls != parts+1 {
		t.Errorf("%d parts, %d requests", parts, m.calls)
	}
}

func TestASnapshotThatIsTooLongToCarryIsPartOfTheRecord(t *testing.T) {
	prior := "<state_snapshot>" + strings.Repeat("words ", 9000) + "</state_snapshot>"
	history := append([]sdk.Content{said(sdk.Human, prior)}, session()...)
	m := &limited{window: 12_000, answer: numbered}
	got := sdktest.Compress(t, all(m.window), history, config(m.generate))
	if text := requestText(got.Requests[0]); !strings.Contains(text, "earlier snapshot\n<state_snapshot>") || strings.Contains(text, "Update it") {
		t.Errorf("the request is\n%.3000s", text)
	}
}
