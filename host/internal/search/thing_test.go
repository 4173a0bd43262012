package search

import (
	"fmt"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/sdk/content"
)

// thing returns what is shown of the first passage of a text that has a word.
func thing(t *testing.T, text, word string, most int) Passage {
	t.Helper()
	b := Cut(content.Text{Text: text})
	for n := range b.spans {
		if p, _ := b.Passage(n); strings.Contains(p.Text, word) {
			return b.Thing(n, most, func(line string) float64 { return float64(strings.Count(line, word)) })
		}
	}
	t.Fatalf("no passage has %q", word)
	return Passage{}
}

// What is shown ends where its thing ends.
func TestThing(t *testing.T) {
	var body, class strings.Builder
	for i := range 20 {
		fmt.Fprintf(&body, "\tstep%d()\n", i)
		fmt.Fprintf(&class, "    def m%d(self):\n        a%d = 1\n\n        return a%d\n\n", i, i, i)
	}
	function := "// run does it.\nfunc run() {\n" + body.String() + "}\n"
	filler := strings.Repeat("var x = 1\n\n", 30)
	numbered := ""
	for i, line := range strings.SplitAfter(filler+function, "\n") {
		numbered += fmt.Sprintf("%6d→%s", i+1, line)
	}
	log := strings.Repeat("ok one\n", 100) + "\n3 pass\n28 fail\nRan 31 tests\n"
	hunk := "@@ -1,9 +1,9 @@\n a\n-old\n+new\n b\n"
	for name, tt := range map[string]struct {
		text, word, begins, ends string
		most                     int
	}{
		"a function to its end":     {filler + function + filler, "step1(", "// run does it.", "step19()\n}\n", 2000},
		"a function of a file read": {numbered, "step1(", "    61→// run", "step19()\n    83→}\n", 2000},
		"a method of a class":       {"class A:\n" + class.String(), "a7 =", "    def m7", "return a7\n", 90},
		"the end of a run":          {log, "fail", "3 pass", "Ran 31 tests\n", 300},
		"a hunk":                    {filler + hunk + "@@ -40 +40 @@\n c\n", "+new", "@@ -1,9", " b\n", 60},
		"a paragraph":               {strings.Repeat("a line\n", 9) + "word\n\nother\n", "word", "", "word\n", 40},
		"a part of a long line":     {strings.Repeat("x y ", 1000) + "word", "word", "", "word", 100},
	} {
		p := thing(t, tt.text, tt.word, tt.most)
		if !strings.HasPrefix(p.Text, tt.begins) || !strings.HasSuffix(p.Text, tt.ends) || len(p.Text) > tt.most {
			t.Errorf("%s: %d bytes, lines %d+%d of %d: %q", name, len(p.Text), p.Line, p.Lines, p.Of, p.Text)
		}
		if p.Lines > 1 && Lines(tt.text, p.Line, p.Line+p.Lines-1).Text != p.Text {
			t.Errorf("%s: these are no lines %d+%d: %q", name, p.Line, p.Lines, p.Text)
		}
	}
}

func TestEnds(t *testing.T) {
	for text, want := range map[string]string{
		"":                          "",
		"a\nb":                      "a\nb\n",
		"1\n2\n3\n4\n5\n6\n7\n8\n9": "1\n2\n3\n… 3 lines …\n7\n8\n9\n",
		strings.Repeat("é", 200):    strings.Repeat("é", 80) + "\n",
	} {
		if got := Ends(text); got != want {
			t.Errorf("%.20q: %q", text, got)
		}
	}
}
