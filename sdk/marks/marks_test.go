package marks_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/thresh-dev/thresh/sdk/content"
	"github.com/thresh-dev/thresh/sdk/marks"
)

func TestCut(t *testing.T) {
	const text = "one\ntwo two\nthree\nfour"
	at := func(s string) int { return strings.Index(text, s) }
	for name, tt := range map[string]struct {
		from, to int
		want     string
		lines    int
	}{
		"a line":              {0, at("two"), "[… 1 line omitted]\n", 1},
		"lines to the end":    {at("two"), len(text), "[… 3 lines omitted]\n", 3},
		"within a line":       {at("two") + 1, at("two") + 4, "[… 3 characters omitted within the line]\n", 0},
		"the end of a line":   {at(" two"), at("three"), "[… 4 characters omitted, to the end of the line]\n", 0},
		"the end of the text": {at("ur"), len(text), "[… 2 characters omitted, to the end of the line]\n", 0},
		"the start of a line": {at("two"), at(" two"), "[… 3 characters omitted, from the start of the line]\n", 0},
		"parts and what between": {at(" two"), at("ur"), "[… 4 characters omitted, to the end of the line]\n" +
			"[… 1 line omitted]\n[… 2 characters omitted, from the start of the line]\n", 1},
	} {
		if got, lines := marks.Cut(text, tt.from, tt.to); got != tt.want || lines != tt.lines {
			t.Errorf("%s: %q, %d lines", name, got, lines)
		}
	}
}

func TestRead(t *testing.T) {
	ref := marks.Reference{From: 12, To: 25, Nth: 2, Label: marks.Label("bash", "ls [x] above, numbered from 3]\n")}
	for line, want := range map[string]int{
		marks.Omitted(1): 1, marks.Omitted(1234): 1234, ref.String(): 14,
		"[… 3 characters omitted within the line]": -1, "[… 1 character omitted, to the end of the line]": 0,
	} {
		if got, ok := marks.Read(line); got != want || !ok {
			t.Errorf("%q: %d, %v", line, got, ok)
		}
	}
	for _, line := range []string{"[… 0 lines omitted]", "[… -1 lines omitted]", "[… 1 lines omitted]",
		"[… 3 lines omitted] x", "[… lines omitted]", "", "[… ", "x [… 3 lines omitted]", "[… 03 lines omitted]",
		"[… 13 lines omitted: lines 12-25 of the result of x above]",
		"[… 14 lines omitted: lines 12-25 of the 2th last result of x above]"} {
		if got, ok := marks.Read(line); ok {
			t.Errorf("%q: %d", line, got)
		}
	}
}

// A reference is read as it was written, whatever a call was about.
func TestReferencesAreReadBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		from := rapid.IntRange(1, 99).Draw(t, "from")
		want := marks.Reference{
			From: from, To: from + rapid.IntRange(0, 200).Draw(t, "lines"), Nth: rapid.IntRange(1, 20).Draw(t, "nth"),
			Label: marks.Label("tool", rapid.String().Draw(t, "subject")+
				rapid.SampledFrom([]string{"", " above", "]\n"}).Draw(t, "end")),
			Number: rapid.IntRange(0, 3).Draw(t, "number"),
		}
		line := want.String()
		if got, ok := marks.ReadReference(line + "\n"); !ok || got != want || strings.ContainsAny(line, "\r\n") ||
			strings.Count(line, "]") != 1 {
			t.Fatalf("%q: %+v, want %+v", line, got, want)
		}
	})
}

func TestRenumbered(t *testing.T) {
	for want, lines := range map[string][]string{
		"     9→a|    10→b":  {"     1→a", "     2→b"},
		"9:a|10:b":           {"1:a", "2:b"},
		"00009| a|00010| b":  {"00001| a", "00002| b"},
		"   9\ta|  10\t1\tb": {"   1\ta", "   2\t1\tb"},
		"":                   {"1:a", "3:b"},
	} {
		got, ok := marks.Renumbered(lines, 9)
		if strings.Join(got, "|") != want || ok != (want != "") {
			t.Errorf("%q: %q", lines, got)
		}
	}
	lines := []string{" 998→a", " 999→b", "1000→c"}
	back, _ := marks.Renumbered(lines, 5)
	if again, _ := marks.Renumbered(back, 998); !slices.Equal(again, lines) {
		t.Errorf("%q", again)
	}
}

// However often a text is cut at its lines, it can be told how many it had.
func TestLinesInSurviveCuts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOfN(rapid.RuneFrom([]rune("ab\n\n語 ")), 1, 60, -1).Draw(t, "text")
		want := marks.Lines(text)
		from := rapid.IntRange(0, len(text)).Draw(t, "from")
		to := rapid.IntRange(from, len(text)).Draw(t, "to")
		for from > 0 && from < len(text) && text[from]&0xc0 == 0x80 {
			from--
		}
		for to < len(text) && text[to]&0xc0 == 0x80 {
			to++
		}
		head := text[:from]
		if from == to {
			return
		}
		if head != "" && head[len(head)-1] != '\n' {
			head += "\n"
		}
		mark, _ := marks.Cut(text, from, to)
		if got := marks.LinesIn(head + mark + text[to:]); got != want {
			t.Fatalf("%d lines in %q, want %d", got, head+mark+text[to:], want)
		}
	})
}

func TestLinesOf(t *testing.T) {
	result := content.ToolResponse{}.WithResultText("a\n[… 5 lines omitted]\nb")
	if n, ok := marks.LinesOf(result.Result, marks.Places{2}); n != 7 || !ok {
		t.Errorf("%d lines, %v", n, ok)
	}
	if n, ok := marks.LinesOf(result.Result, nil); n != 3 || !ok {
		t.Errorf("%d lines of what came so, %v", n, ok)
	}
	result.Result = []byte(`{"output":"a\nb\n","stderr":"c","code":0}`)
	if n, ok := marks.LinesOf(result.Result, nil); n != 3 || !ok {
		t.Errorf("%d lines, %v", n, ok)
	}
	result = result.WithResultText(fmt.Sprint("a\n[5", marks.RemovedBytes, "e1]\n"))
	if n, ok := marks.LinesOf(result.Result, nil); n != 2 || !ok {
		t.Errorf("%d lines of what came so, %v", n, ok)
	}
	if _, ok := marks.LinesOf(result.Result, marks.Places{2}); ok {
		t.Error("what the host cut has lines")
	}
}
