package distill

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/thresh-dev/thresh/sdk"
	"github.com/thresh-dev/thresh/sdk/marks"
	"github.com/thresh-dev/thresh/sdk/prune"
	"github.com/thresh-dev/thresh/sdk/sdktest"
	"github.com/thresh-dev/thresh/sdk/summary"
)

// However often a result loses lines, its marks say how many lines it had.
func TestMarksCountWhatWent(t *testing.T) {
	cut := 0
	rapid.Check(t, func(rt *rapid.T) {
		was := map[string]string{}
		history := []sdk.Content{said(sdk.Human, "Go.")}
		for i := range rapid.IntRange(4, 8).Draw(rt, "exchanges") {
			var b strings.Builder
			for line := range rapid.IntRange(1, 30).Draw(rt, "lines") {
				name := fmt.Sprintf("name_%d_%d ", i, line)
				word := rapid.SampledFrom([]string{"", "}", "some plain words ", name}).Draw(rt, "word")
				b.WriteString(strings.Repeat(word, rapid.SampledFrom([]int{1, 3, 60, 200}).Draw(rt, "times")) + "\n")
			}
			id := fmt.Sprint("c", i)
			was[id] = strings.Repeat("\n", rapid.IntRange(0, 1).Draw(rt, "blank")) + b.String()
			history = append(history, call(id, "bash", fmt.Sprintf(`{"command":"run_%d"}`, i)), answer(id, "bash", was[id]),
				said(sdk.AI, fmt.Sprintf("It is name_%d_3.", i)))
		}
		for range 3 {
			config := limits(history)
			config.Reason = sdk.ReasonHardLimit
			config.ContextLimit = config.ContextLimit * rapid.IntRange(2, 10).Draw(rt, "limit") / 10
			got, err := config.Compress(rt.Context(), Strategy{}, history)
			if err != nil {
				rt.Fatal(err)
			}
			if got.NoOp == "" {
				history = slices.Clone(got.History)
			}
			for _, entry := range history {
				r, ok := entry.Blocks[0].(sdk.ToolResponse)
				if !ok || r.ResultText() == was[r.CallID] || summary.IsLine(r.ToolName, r.ResultText()) {
					continue
				}
				cut++
				if n, ok := marks.LinesOf(r.Result, marks.In(entry)[0]); !ok || n != marks.Lines(was[r.CallID]) {
					rt.Fatalf("%d lines of %d: %q", n, marks.Lines(was[r.CallID]), r.ResultText())
				}
			}
		}
	})
	if cut == 0 {
		t.Error("nothing was cut")
	}
}

// The line for calls that went says which failed, which have no result, and of which nobody knows because it was pruned
// before.
func TestFailuresAreTold(t *testing.T) {
	plain := strings.Repeat("some plain words ", 40)
	history := []sdk.Content{said(sdk.Human, "Go."), call("p", "Bash", `{"command":"see host_17","why":"`+plain[:600]+`"}`),
		answer("p", "Bash", prune.Pointer), call("q", "Bash", `{"command":"wait","why":"`+plain[:600]+`"}`)}
	for i := range 60 {
		id := fmt.Sprint("c", i)
		result, tool, params := plain, "Bash", `{"command":"say so"}`
		if i%2 == 0 {
			result, tool, params = "<tool_use_error>String to replace not found in file.\n"+plain, "Edit",
				`{"file_path":"/w/a; b — c]","old_string":"x","new_string":"y"}`
		}
		history = append(history, call(id, tool, params), answer(id, tool, result))
	}
	history = append(history, work(12)[1:]...)
	config := limits(history)
	got := sdktest.Compress(t, Strategy{}, history, config)
	var left []told
	for _, entry := range got.History {
		left = append(left, folded(entry)...)
	}
	for _, want := range []string{"Edit /w/a b - c — error", "Bash say so", "Bash see host_17 — outcome unknown",
		"Bash wait — no result"} {
		if !slices.ContainsFunc(left, func(t told) bool { return t.name == want }) {
			t.Errorf("%q is not told: %v", want, left)
		}
	}
	if slices.ContainsFunc(left, func(t told) bool { return t.name == "Edit /w/a b - c" }) {
		t.Error("a failed edit is told as if it had been made")
	}
}

// A model that writes a line like those for calls that went has made no calls by that: its words stay its own.
func TestWhatTheAISaysLikeALineForCallsIsNone(t *testing.T) {
	claim := foldStart + "Edit /w/never.go; Bash go test ./... " + foldEnd
	history := []sdk.Content{said(sdk.Human, "Go.")}
	for i := range 400 {
		id, words := fmt.Sprint("c", i), strings.Repeat("some plain words ", 12)
		history = append(history, call(id, "bash", fmt.Sprintf(`{"command":"say %s"}`, words)), answer(id, "bash", words))
		if i == 200 {
			history = append(history, said(sdk.AI, claim))
		}
	}
	got := sdktest.Compress(t, Strategy{}, history, limits(history))
	lines := 0
	for _, entry := range got.History {
		s, ok := entry.Blocks[0].(sdk.Text)
		if !ok || !strings.HasPrefix(s.Text, foldStart) {
			continue
		}
		if lines++; strings.Contains(s.Text, "never.go") && s.Text != claim {
			t.Errorf("it is told as if it had been done: %.300s", s.Text)
		}
	}
	if lines == 0 {
		t.Error("no calls went")
	}
}
