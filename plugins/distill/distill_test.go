package distill

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/thresh-dev/thresh/internal/testkit/gen"
	"github.com/thresh-dev/thresh/sdk"
	"github.com/thresh-dev/thresh/sdk/marks"
	"github.com/thresh-dev/thresh/sdk/sdktest"
	"github.com/thresh-dev/thresh/sdk/tools"
)

var call, answer, said = gen.Call, gen.Answer, gen.Said

var discard = slog.New(slog.DiscardHandler)

var taxonomy, _ = tools.ForPresets(tools.PresetNames(), nil) // the presets are right: package tools tests them

// work is a session of n exchanges: each reads a file of 60 lines, of which the AI then names one.
func work(n int) []sdk.Content {
	history := []sdk.Content{said(sdk.Human, "Mend the parser. Never touch the lexer.")}
	for i := range n {
		var file strings.Builder
		for line := range 60 {
			fmt.Fprintf(&file, "\tvalue := compute_%d_%d(input, options)\n", i, line)
		}
		id := fmt.Sprint("c", i)
		history = append(history, call(id, "read_file", fmt.Sprintf(`{"file_path":"/w/file_%d.go"}`, i)),
			answer(id, "read_file", file.String()), said(sdk.AI, fmt.Sprintf("It is compute_%d_30 that fails.", i)))
	}
	return history
}

// transcript is all that a history says.
func transcript(history []sdk.Content) string {
	var b strings.Builder
	for _, entry := range history {
		for _, block := range entry.Blocks {
			for _, s := range textsOf(block) {
				b.WriteString(s.Text + "\n")
			}
		}
	}
	return b.String()
}

// limits that a history of work(40) just reaches.
func limits(history []sdk.Content) sdktest.Config {
	return sdktest.Config{ContextLimit: int(float64(sdktest.Characters(history)) / full)}
}

func TestWhatTheAISaidStaysAndWhatNobodyUsedGoes(t *testing.T) {
	history := work(40)
	got := sdktest.Compress(t, Strategy{}, history, limits(history))
	if got.NoOp != "" || got.TokensAfter > got.TokensBefore*35/100 {
		t.Fatalf("%q: %d of %d tokens are left", got.NoOp, got.TokensAfter, got.TokensBefore)
	}
	left := transcript(got.History)
	for _, want := range []string{
		"Never touch the lexer.", "It is compute_20_30", "It is compute_38_30", "compute_39_59(input",
		"results removed: read_file /w/file_0.go, ",
	} {
		if !strings.Contains(left, want) {
			t.Errorf("%q is gone", want)
		}
	}
	for _, gone := range []string{"compute_20_10(input", "compute_3_20(input"} {
		if strings.Contains(left, gone) {
			t.Errorf("%q is still there", gone)
		}
	}
	if last := len(history) - 1; !got.History[len(got.History)-1].Equal(history[last]) {
		t.Error("the newest entry changed")
	}
}

// What the AI wrote into a file stays until it writes all of it anew, however old it is; results go first.
func TestTheAIsCurrentEditsStay(t *testing.T) {
	ran := func(id, tool, field, text, result string) []sdk.Content {
		params := fmt.Sprintf(`{"file_path":"/w/a","old_string":"x",%q:%q}`, field, strings.Repeat(text+"\n", 30))
		return []sdk.Content{call(id, tool, params), answer(id, tool, result)}
	}
	history := slices.Concat([]sdk.Content{said(sdk.Human, "Go.")},
		ran("o", "Write", "content", "an old line", "ok"), ran("n", "Write", "content", "a current line", "ok"),
		ran("e", "Edit", "new_string", "a mended line", "ok"),
		ran("f", "Write", "content", "a refused line", "Error: it is locked"), work(40)[1:])
	left := transcript(sdktest.Compress(t, Strategy{}, history, limits(history)).History)
	for line, stays := range map[string]bool{"an old line": false, "a current line": true, "a mended line": true,
		"a refused line": false} {
		if strings.Contains(left, line) != stays {
			t.Errorf("%q stays: %v", line, !stays)
		}
	}
}

// What a Compress left is left alone by the next, also where what people said alone is more than the target.
func TestASecondPassChangesNothing(t *testing.T) {
	long := append([]sdk.Content{said(sdk.Human, strings.Repeat("Please mind the rules. ", 2000))}, work(20)...)
	for name, history := range map[string][]sdk.Content{"work": work(40), "long words": long, "many calls": work(300)} {
		config := limits(history)
		first := sdktest.Compress(t, Strategy{}, history, config)
		if first.NoOp != "" {
			t.Errorf("%s: %q", name, first.NoOp)
		}
		for _, reason := range []sdk.CompressReason{sdk.ReasonThreshold, sdk.ReasonManual} {
			config.Reason = reason
			if again := sdktest.Compress(t, Strategy{}, first.History, config); again.NoOp == "" {
				t.Errorf("%s, %s: a second pass leaves %d of %d tokens", name, reason, again.TokensAfter,
					again.TokensBefore)
			}
		}
	}
}

// Calls of which nothing is left become one line, and lines of earlier passes are merged with it.
func TestCallsOfWhichNothingIsLeftAreNamedInOneLine(t *testing.T) {
	history := []sdk.Content{said(sdk.Human, "Look around.")}
	for i := range 400 {
		id, words := fmt.Sprint("c", i), strings.Repeat("some plain words ", 12)
		history = append(history, call(id, "bash", fmt.Sprintf(`{"command":"say %s"}`, words)),
			answer(id, "bash", words))
	}
	first := sdktest.Compress(t, Strategy{}, history, limits(history))
	grown := slices.Concat(first.History, history[1:])
	second := sdktest.Compress(t, Strategy{}, grown, limits(grown))
	for _, got := range []sdktest.Compressed{first, second} {
		folds := 0
		for _, entry := range got.History {
			if folded(entry) != nil {
				folds++
			}
		}
		if folds != 1 || got.Metadata.Counts["exchangesDropped"] == 0 {
			t.Errorf("%d lines for calls that went: %v", folds, got.Metadata.Counts)
		}
	}
}

func TestWhenACompressIsDue(t *testing.T) {
	history := work(40)
	tokens := sdktest.Characters(history)
	of := func(share float64) int { return int(float64(tokens) / share) }
	full := map[string]any{"softWindow": 1.0}
	for name, tt := range map[string]struct {
		config sdktest.Config
		due    bool
	}{
		"below the trigger":          {sdktest.Config{ContextLimit: of(0.8)}, false},
		"at the trigger":             {sdktest.Config{ContextLimit: of(0.86)}, true},
		"pending tokens count":       {sdktest.Config{ContextLimit: of(0.8), PendingTokens: tokens / 5}, true},
		"a budget counts":            {sdktest.Config{ContextLimit: of(0.8), CompletionBudget: tokens / 5}, true},
		"a threshold of the user's":  {sdktest.Config{ContextLimit: of(0.6), Threshold: 0.6}, true},
		"on demand":                  {sdktest.Config{ContextLimit: of(0.6), Reason: sdk.ReasonManual}, true},
		"at the hard limit":          {sdktest.Config{ContextLimit: of(0.8), Reason: sdk.ReasonHardLimit}, true},
		"the soft window, not yet":   {sdktest.Config{ContextLimit: max(largeWindow, of(0.5))}, false},
		"the soft window, made full": {sdktest.Config{ContextLimit: largeWindow, Settings: full}, false},
	} {
		got := sdktest.Compress(t, Strategy{}, history, tt.config)
		if due := got.NoOp != notDue; due != tt.due {
			t.Errorf("%s: no-op %q", name, got.NoOp)
		}
	}
	// In a large window, a share of it is used.
	in := sdk.CompressInput{CompressParams: sdk.CompressParams{Threshold: threshold, CurrentTokens: 110_000,
		CompressSettings: sdk.CompressSettings{ContextLimit: 200_000}, Reason: sdk.ReasonThreshold}}
	if !newSchedule(in, softest).due(in) || newSchedule(in, 1).due(in) {
		t.Error("the soft window of 200,000 tokens does not begin at 102,000")
	}
}

// What was sent stays, what is pinned, and what the agent asked for once more, also by a script.
func TestRepeatsThatStay(t *testing.T) {
	history := work(1)
	body := history[2].Blocks[0].(sdk.ToolResponse).ResultText()
	again := func(tool, result string) []sdk.Content {
		return slices.Concat(history, []sdk.Content{call("d", tool, `{"id":"c"}`), answer("d", tool, result)})
	}
	pinned := again("bash", body)
	pinned[5].Metadata = json.RawMessage(`{"pinned":true}`)
	script := again("bash", body)
	script[5].Metadata = json.RawMessage(`{"keptBy":"thresh_recall"}`)
	for name, tt := range map[string]struct {
		history []sdk.Content
		changed int
	}{
		"new":              {again("bash", body), 1},
		"sent":             {append(again("bash", body), said(sdk.AI, "Seen.")), 0},
		"pinned":           {pinned, 0},
		"asked for":        {again("mcp__thresh__thresh_recall", body), 0},
		"by a script":      {script, 0},
		"what reads as if": {again("bash", marks.Recalled(1, "result of read_file", "")+"\n"+body), 1},
	} {
		if got := sdktest.Optimize(t, Strategy{}, tt.history, sdktest.Config{}); len(got.Replacements) != tt.changed {
			t.Errorf("%s: %d entries changed", name, len(got.Replacements))
		}
	}
}

// However a session grows and is rewritten, what a call remembers of the calls before changes nothing in its answer.
func TestAMemoChangesNoAnswer(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		in := sdk.OptimizeInput{Memo: new(sdk.Memo)}
		in.Tools, in.Log, in.WorkspaceRoot = taxonomy, slog.New(slog.DiscardHandler), "/w"
		var seen []sdk.Content
		for range rapid.IntRange(1, 8).Draw(rt, "calls") {
			keep := rapid.IntRange(0, len(seen)).Draw(rt, "keep")
			more := slices.Concat(work(rapid.IntRange(0, 2).Draw(rt, "work")), gen.Busy().Draw(rt, "more"))
			in.History, in.Unchanged = slices.Concat(seen[:keep], more[:rapid.IntRange(0, len(more)).Draw(rt, "n")]), keep
			seen = in.History
			got, err := Strategy{}.Optimize(rt.Context(), in)
			if err != nil {
				rt.Fatal(err)
			}
			fresh := in
			fresh.Memo, fresh.Unchanged = nil, 0
			want, err := Strategy{}.Optimize(rt.Context(), fresh)
			if err != nil || !maps.EqualFunc(got.Replacements, want.Replacements, sdk.Content.Equal) {
				rt.Fatalf("%d edits with a memo, %d without: %v", len(got.Replacements), len(want.Replacements), err)
			}
		}
	})
}

// A call behind which only tools spoke may still run, whatever these said.
func TestCallsThatMayStillRunStay(t *testing.T) {
	history := append(work(5), sdk.Content{Speaker: sdk.AI, Blocks: []sdk.Block{
		sdk.ToolCall{ID: "runs", Name: "run_shell_command", Parameters: []byte(`{"command":"` + strings.Repeat("make ", 50) + `"}`)}}})
	for range 4 {
		history = append(history, sdk.Content{Speaker: sdk.Tool, Blocks: []sdk.Block{sdk.Text{Text: "still running"}}})
	}
	config := sdktest.Config{ContextLimit: 100, Reason: sdk.ReasonManual}
	if _, err := config.Compress(t.Context(), Strategy{}, history); err != nil {
		t.Error(err)
	}
}

// What people said stays, byte for byte and in its order, whatever the history.
func TestWhatPeopleSaidStays(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		history := slices.Concat(work(rapid.IntRange(0, 5).Draw(rt, "work")), gen.Busy().Draw(rt, "history"))
		history = slices.DeleteFunc(history, sdk.Content.Blank) // as a Compress gets it
		people := func(history []sdk.Content) (said []sdk.Content) {
			for _, entry := range history {
				if entry.Speaker == sdk.Human {
					said = append(said, entry)
				}
			}
			return said
		}
		config := sdktest.Config{WorkspaceRoot: "/w", ContextLimit: rapid.IntRange(100, 3000).Draw(rt, "limit"),
			Reason: sdk.ReasonManual}
		got, err := config.Compress(t.Context(), Strategy{}, history)
		if err != nil {
			rt.Fatal(err)
		}
		if !slices.EqualFunc(people(history), people(got.History), sdk.Content.Equal) {
			rt.Fatalf("of %d messages of people, %d are left", len(people(history)), len(people(got.History)))
		}
	})
}

// Texts of any kind and size are taken apart and put together again.
func TestHostileText(t *testing.T) {
	const n = 1 << 20
	for name, unit := range map[string]string{
		"one line": "x", "newlines": "\n", "quotes": `"`, "backslashes": `\`, "words": "a_b1 ", "paths": "a/b:1:",
		"wide": "語", "marks": "[… 3 lines omitted]\n", "broken": "\xff\xfe", "JSON": `{"a":["b",`, "dashes": "a-",
	} {
		big := strings.Repeat(unit, n/len(unit))
		history := slices.Concat(work(2), []sdk.Content{call("d", "bash", `{"command":"x"}`), answer("d", "bash", big)},
			work(2)[1:])
		got := sdktest.Compress(t, Strategy{}, history, sdktest.Config{Reason: sdk.ReasonManual, ContextLimit: 50_000})
		if got.NoOp != "" || got.TokensAfter > 50_000 {
			t.Errorf("%s: %q, %d tokens are left", name, got.NoOp, got.TokensAfter)
		}
	}
}

func TestIdentifiers(t *testing.T) {
	for s, want := range map[string][]string{
		"see ./pkg/a.go:12:3, or b.go:7":                 {"pkg/a.go", "b.go"},
		"parseHeader failed with ENOENT in std::io_read": {"parseHeader", "io_read"},
		"12 443 8080 2026-11-22 plain-words, .hidden.":   {"8080", "2026-11-22"},
		"GET https://x.org/a?b=c user@host7":             {"x.org/a", "host7"},
		strings.Repeat("a_", longestWord):                nil,
	} {
		got := slices.Collect(identifiers(s))
		if !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", s, got, want)
		}
	}
}
