package distill

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/thresh-dev/thresh/sdk"
	"github.com/thresh-dev/thresh/sdk/marks"
	"github.com/thresh-dev/thresh/sdk/sdktest"
)

// ran is a call and its result.
func ran(tool, parameters, result string) []sdk.Content {
	id := fmt.Sprint(tool, len(parameters), len(result))
	return []sdk.Content{call(id, tool, parameters), answer(id, tool, result)}
}

// each makes a text of n lines.
func each(n int, line func(i int) string) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(line(i) + "\n")
	}
	return b.String()
}

// What differs from every earlier result stays, however much its lines look like theirs. What is one run of one earlier
// result goes, and the mark says which lines of which.
func TestWhatIsLeftOutStandsInOneResult(t *testing.T) {
	const tests = `{"command":"go test -v ./..."}`
	suite := func(failed func(i int) bool) string {
		return each(14, func(i int) string {
			word := "PASS"
			if failed(i) {
				word = "FAIL"
			}
			return fmt.Sprintf("--- %s: TestNumber%dOfTheParserForHeaders (0.00s)", word, i)
		})
	}
	du := func(factor int) string {
		return each(40, func(i int) string { return fmt.Sprintf("%d\t./src/components/folder_%02d", factor*(i+3), i) })
	}
	names := func(i int) string { return fmt.Sprintf("src/components/part_%02d/index.ts", i) }
	log := func(hour int) string {
		return each(30, func(i int) string { return fmt.Sprintf("%d:%02d:07 worker %d is idle and waits", hour, i, i) })
	}
	numbered := func(first, n int) string {
		return each(n, func(i int) string { return fmt.Sprintf("%6d→\tvalue := compute_%d(input)", first+i, i) })
	}
	const ls = `{"command":"git ls-files"}`
	for name, tt := range map[string]struct {
		before []sdk.Content
		tool   string
		params string
		result string
		want   string // "": it stays
	}{
		"tests that pass, fail, and half fail": {slices.Concat(
			ran("Bash", tests, suite(func(int) bool { return false })),
			ran("Bash", tests, suite(func(int) bool { return true }))),
			"Bash", tests, suite(func(i int) bool { return i%3 == 0 }), ""},
		"du with other sizes": {ran("Bash", `{"command":"du"}`, du(7)), "Bash", `{"command":"du"}`, du(11), ""},
		"a list in reverse": {ran("Bash", ls, each(40, names)), "Bash", `{"command":"sort -r"}`,
			each(40, func(i int) string { return names(39 - i) }), ""},
		"a log of another hour": {ran("Bash", `{"command":"log"}`, log(10)), "Bash", `{"command":"log"}`, log(11), ""},
		"some names of a list": {ran("Bash", ls, each(40, names)), "Bash", `{"command":"git diff --name-only"}`,
			each(20, func(i int) string { return names(2 * i) }), ""},
		"what a call was given": {ran("Write", `{"file_path":"/w/a.ts","content":"`+
			strings.ReplaceAll(each(40, names), "\n", `\n`)+`"}`, "written"), "Bash", ls, each(40, names), ""},
		"the same with other line numbers": {ran("Read", `{"file_path":"/w/a.go"}`, numbered(1, 30)),
			"Read", `{"file_path":"/w/a.go"}`, numbered(5, 30), ""},

		"two lines of a result": {ran("Bash", ls, each(40, names)), "Bash", `{"command":"x"}`,
			each(2, func(i int) string { return names(i) + strings.Repeat(" ", 300) }), ""},
		"a short result": {ran("Bash", ls, each(12, names)), "Bash", ls, each(12, names), ""},

		"the same again": {ran("Bash", ls, each(40, names)), "Bash", ls, each(40, names),
			"[… 40 lines omitted: lines 1-40 of the result of Bash git ls-files above]\n"},
		"in another command": {ran("Bash", `{"command":"ls [a-z]*\n\u001b"}`, "total\n"+each(40, names)), "Bash", ls,
			each(40, names), "[… 40 lines omitted: lines 2-41 of the result of Bash ls (a-z)* above]\n"},
		"in the result before the last": {slices.Concat(ran("Bash", ls, each(40, names)), ran("Bash", ls, du(7))),
			"Bash", ls, each(40, names),
			"[… 40 lines omitted: lines 1-40 of the 2nd last result of Bash git ls-files above]\n"},
		"a part without a line break at its end": {ran("Bash", ls, "first\n"+each(40, names)), "Bash", `{"command":"x"}`,
			"new\n" + strings.TrimSuffix(each(30, names), "\n"),
			"new\n[… 30 lines omitted: lines 2-31 of the result of Bash git ls-files above]"},
	} {
		t.Run(name, func(t *testing.T) {
			history := slices.Concat([]sdk.Content{said(sdk.Human, "Go.")}, tt.before, ran(tt.tool, tt.params, tt.result))
			got := sdktest.Optimize(t, Strategy{}, history, sdktest.Config{WorkspaceRoot: "/w"})
			if tt.want == "" {
				tt.want = tt.result
			}
			last := got.History[len(got.History)-1].Blocks[0].(sdk.ToolResponse)
			if last.ResultText() != tt.want {
				t.Errorf("got %q", last.ResultText())
			}
		})
	}
}

// Whatever results repeat, each mark stands for lines that are where it says, and with these the result is what it was.
func TestMarksStandForWhatWasThere(t *testing.T) {
	found := 0
	rapid.Check(t, func(rt *rapid.T) {
		var memo sdk.Memo
		history := []sdk.Content{said(sdk.Human, "Go.")}
		original := map[int]string{}
		for i := range rapid.IntRange(2, 8).Draw(rt, "exchanges") {
			file := rapid.SampledFrom([]string{"a", "b"}).Draw(rt, "file")
			tool, params := "Read", `{"file_path":"/w/`+file+`.go"}`
			if rapid.Bool().Draw(rt, "shell") {
				tool, params = "Bash", `{"command":"cat"}`
			}
			first := rapid.IntRange(1, 12).Draw(rt, "first")
			var b strings.Builder
			for range rapid.IntRange(1, 4).Draw(rt, "pieces") {
				from := rapid.IntRange(0, 30).Draw(rt, "from")
				for n := range rapid.IntRange(1, 30).Draw(rt, "lines") {
					if tool == "Read" {
						fmt.Fprintf(&b, "%3d→", first+strings.Count(b.String(), "\n"))
					}
					fmt.Fprintf(&b, "\tvalue := compute_%d(input, options)\n", (from+n)%40)
				}
			}
			id := fmt.Sprint("c", i)
			history = append(history, call(id, tool, params), answer(id, tool, b.String()))
			original[len(history)-1] = b.String()
			if i > 0 && rapid.Bool().Draw(rt, "said") {
				history = append(history, said(sdk.AI, "Seen."))
			}
			in := sdk.OptimizeInput{Memo: &memo}
			in.History, in.Tools, in.WorkspaceRoot, in.Log = history, taxonomy, "/w", discard
			in.Unchanged = rapid.SampledFrom([]int{0, len(history) - 2}).Draw(rt, "unchanged")
			if i == 0 {
				in.Unchanged = 0
			}
			got, err := Strategy{}.Optimize(rt.Context(), in)
			if err != nil {
				rt.Fatal(err)
			}
			if rapid.Bool().Draw(rt, "applied") {
				history = slices.Clone(history)
				for at, entry := range got.Replacements {
					history[at] = entry
				}
				memo = sdk.Memo{}
			}
			results := marks.Results(len(history), func(i int) *sdk.Content { return &history[i] }, taxonomy)
			for k, r := range results {
				text := history[r.Entry].Blocks[r.Block].(sdk.ToolResponse).ResultText()
				var whole strings.Builder
				for line := range strings.Lines(text) {
					ref, ok := marks.ReadReference(line)
					if !ok {
						whole.WriteString(line)
						continue
					}
					found++
					nth := 0
					for j := k - 1; j >= 0; j-- {
						if results[j].Label != ref.Label {
							continue
						}
						if nth++; nth == ref.Nth {
							there := marks.ResultLines(history[results[j].Entry].Blocks[0].(sdk.ToolResponse).Result)
							lines, ok := ref.Resolve(there)
							if !ok {
								rt.Fatalf("%q: the lines are not there", line)
							}
							whole.WriteString(strings.Join(lines, "\n") + "\n")
						}
					}
				}
				if whole.String() != original[r.Entry] {
					rt.Fatalf("%q became %q", original[r.Entry], text)
				}
			}
		}
	})
	if found == 0 {
		t.Error("no mark was made")
	}
}

// Texts that are made to be dear cost time that grows with them: with its square, this would take hours.
func TestRepeatsOfHostileText(t *testing.T) {
	for name, unit := range map[string]string{
		"newlines": "\n", "one line again and again": "x\n", "two lines": "a line\nanother\n", "numbers": "12:\n",
		"blocks": each(50, func(i int) string { return fmt.Sprint("line ", i*i%17) }),
		"marks":  "[… 3 lines omitted]\n", "one long line": "x",
	} {
		big := strings.Repeat(unit, (1<<20)/len(unit))
		history := []sdk.Content{said(sdk.Human, "Go.")}
		for range 4 {
			history = append(history, ran("Read", `{"file_path":"/w/a.go"}`, big)...)
		}
		t.Log(name)
		sdktest.Optimize(t, Strategy{}, history, sdktest.Config{WorkspaceRoot: "/w"})
	}
}
