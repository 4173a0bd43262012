package distill

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/thresh-dev/thresh/sdk"
	"github.com/thresh-dev/thresh/sdk/content"
	"github.com/thresh-dev/thresh/sdk/marks"
	"github.com/thresh-dev/thresh/sdk/sdktest"
)

// ran is a call and its result.
func ran(tool, parameters, result string) []sdk.Content {
	id := fmt.Sprint(tool, len(parameters), len(result))
	return []sdk.Content{call(id, tool, parameters), answer(id, tool, result)}
}

// together are two calls that were made before the result of either.
func together(a, b []sdk.Content) []sdk.Content { return []sdk.Content{a[0], b[0], a[1], b[1]} }

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
	bash := func(command string) func(result string) []sdk.Content {
		return func(result string) []sdk.Content { return ran("Bash", fmt.Sprintf(`{"command":%q}`, command), result) }
	}
	ls, other, test := bash("git ls-files"), bash("x"), bash("go test -v ./...")
	suite := func(failed func(i int) bool) []sdk.Content {
		return test(each(14, func(i int) string {
			word := "PASS"
			if failed(i) {
				word = "FAIL"
			}
			return fmt.Sprintf("--- %s: TestNumber%dOfTheParserForHeaders (0.00s)", word, i)
		}))
	}
	du := func(factor int) string {
		return each(40, func(i int) string { return fmt.Sprintf("%d\t./src/components/folder_%02d", factor*(i+3), i) })
	}
	names := func(i int) string { return fmt.Sprintf("src/components/part_%02d/index.ts", i) }
	list := func(from, to int) string { return each(to-from, func(i int) string { return names(from + i) }) }
	wide := func(i int) string { return names(i) + strings.Repeat(" ", 300) }
	log := func(hour int) string {
		return each(30, func(i int) string { return fmt.Sprintf("%d:%02d:07 worker %d is idle and waits", hour, i, i) })
	}
	numbered := func(first, n int) string {
		return each(n, func(i int) string { return fmt.Sprintf("%6d→\tvalue := compute_%d(input)", first+i, i) })
	}
	failed := ran("Edit", `{"file_path":"/w/a"}`, "<tool_use_error>no such text:\n"+list(0, 40)+"</tool_use_error>")
	pieces := func(n int) (s string) { // of five lines, the last first
		for i := range n {
			s += list(5*(n-1-i), 5*(n-i))
		}
		return s
	}
	for name, tt := range map[string]struct {
		before, now []sdk.Content
		want        string // "": it stays
	}{
		"tests that pass, fail, and half fail": {slices.Concat(suite(func(int) bool { return false }),
			suite(func(int) bool { return true })), suite(func(i int) bool { return i%3 == 0 }), ""},
		"du with other sizes":   {other(du(7)), other(du(11)), ""},
		"a list in reverse":     {ls(list(0, 40)), other(each(40, func(i int) string { return names(39 - i) })), ""},
		"a log of another hour": {other(log(10)), other(log(11)), ""},
		"some names of a list":  {ls(list(0, 40)), other(each(20, func(i int) string { return names(2 * i) })), ""},
		"what a call was given": {ran("Write", fmt.Sprintf(`{"file_path":"/w/a.ts","content":%q}`, list(0, 40)), "written"),
			ls(list(0, 40)), ""},
		"the same with other line numbers": {ran("Read", `{"file_path":"/w/a.go"}`, numbered(1, 30)),
			ran("Read", `{"file_path":"/w/a.go"}`, numbered(5, 30)), ""},

		"two lines of a result": {ls(each(40, wide)), other(each(2, wide)), ""},
		"a short result":        {ls(list(0, 12)), ls(list(0, 12)), ""},
		"runs that are hardly longer than their marks": {ls(list(0, 40)),
			other(each(40, func(i int) string { return names(i + i%5/4*40) })), ""},
		"a little of a result":     {ls(list(0, 5)), other(list(0, 90)), ""},
		"in the 21st last result":  {slices.Concat(ls(list(0, 40)), slices.Repeat(ls("none"), 20)), ls(list(0, 40)), ""},
		"with a line like a mark":  {ls(list(0, 40)), ls(list(0, 40) + marks.Omitted(3)), ""},
		"what would be no failure": {failed, failed, ""},

		"the same again": {ls(list(0, 40)), ls(list(0, 40)),
			"[… 40 lines omitted: lines 1-40 of the result of Bash git ls-files above]\n"},
		"in another command": {ran("Bash", `{"command":"ls [a-z]*\n\u001b"}`, "total\n"+list(0, 40)), ls(list(0, 40)),
			"[… 40 lines omitted: lines 2-41 of the result of Bash ls (a-z)* above]\n"},
		"in the result before the last": {slices.Concat(ls(list(0, 40)), ls(du(7))), ls(list(0, 40)),
			"[… 40 lines omitted: lines 1-40 of the 2nd last result of Bash git ls-files above]\n"},
		"in the 20th last result": {slices.Concat(ls(list(0, 40)), slices.Repeat(ls("none"), 19)), ls(list(0, 40)),
			"[… 40 lines omitted: lines 1-40 of the 20th last result of Bash git ls-files above]\n"},
		"in the result before one that is new too": {ls(list(0, 40)), together(ls(du(7)), ls(list(0, 40))),
			"[… 40 lines omitted: lines 1-40 of the 2nd last result of Bash git ls-files above]\n"},
		"in the result before ones without text": {slices.Concat(ls(list(0, 40)), ls("")), together(ls(""), ls(list(0, 40))),
			"[… 40 lines omitted: lines 1-40 of the result of Bash git ls-files above]\n"},
		"a part without a line break at its end": {ls("first\n" + list(0, 40)),
			other("new\n" + strings.TrimSuffix(list(0, 30), "\n")),
			"new\n[… 30 lines omitted: lines 2-31 of the result of Bash git ls-files above]"},
		"half of a result": {ls(list(0, 20)), other(list(0, 40)),
			"[… 20 lines omitted: lines 1-20 of the result of Bash git ls-files above]\n" + list(20, 40)},
		"the ends of two results": {slices.Concat(ls(list(0, 20)), other(list(20, 40))), test(list(10, 40)),
			"[… 10 lines omitted: lines 11-20 of the result of Bash git ls-files above]\n" +
				"[… 20 lines omitted: lines 1-20 of the result of Bash x above]\n"},
		"one line again and again": {ls(strings.Repeat(wide(1)+"\n", 40)), other(strings.Repeat(wide(1)+"\n", 40)),
			"[… 40 lines omitted: lines 1-40 of the result of Bash git ls-files above]\n"},
		"twelve runs at most": {ls(list(0, 70)), other(pieces(14)), each(12, func(i int) string {
			return fmt.Sprintf("[… 5 lines omitted: lines %d-%d of the result of Bash git ls-files above]", 66-5*i, 70-5*i)
		}) + pieces(2)},
	} {
		t.Run(name, func(t *testing.T) {
			history := slices.Concat([]sdk.Content{said(sdk.Human, "Go.")}, tt.before, tt.now)
			got := sdktest.Optimize(t, Strategy{}, history, sdktest.Config{WorkspaceRoot: "/w"})
			if tt.want == "" {
				tt.want = tt.now[len(tt.now)-1].Blocks[0].(sdk.ToolResponse).ResultText()
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
				for n := range rapid.IntRange(8, 30).Draw(rt, "lines") {
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
			if rapid.IntRange(0, 3).Draw(rt, "applied") > 0 {
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

// What is remembered of a long session is bounded; what came last is still found, and counted rightly.
func TestTheIndexIsBounded(t *testing.T) {
	x := newLineIndex()
	long := each(10_000, func(i int) string { return fmt.Sprint("line ", i) })
	for range 3 {
		for range 20 {
			x.add("other", []content.Literal{{Text: long}})
		}
		x.add("wanted", []content.Literal{{Text: "a\nb\nc\n"}})
	}
	if n := len(x.lines); n > maxLines+10_000 {
		t.Errorf("%d lines are remembered", n)
	}
	if s, _, n := x.longest(x.keys([]string{"a\n", "b\n", "c\n"})); n != 3 || s.label != "wanted" || s.nth != 3 {
		t.Errorf("%d lines of %+v", n, s)
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
