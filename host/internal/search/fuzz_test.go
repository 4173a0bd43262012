package search

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/thresh-dev/thresh/internal/testkit/hostile"
	"github.com/thresh-dev/thresh/sdk/content"
)

// Any text is cut and read in time that grows as it does, into terms that every store takes.
func FuzzText(f *testing.F) {
	hostile.Fuzz(f, func(text string) {
		if err := wrongPassages(text); err != nil {
			panic(err)
		}
		whole := utf8.ValidString(text)
		for x := range terms(text) {
			if x.text == "" || len(x.text) > maxTerm || strings.ContainsAny(x.text, " _'\"\\") ||
				whole && !utf8.ValidString(x.text) {
				panic("a term is " + x.text)
			}
		}
		plain([]byte(text))
		plain(content.String(text))
		b := Cut(content.Text{Text: text})
		for n := 0; n < len(b.spans); n += 1 + len(b.spans)/8 {
			p := b.Thing(n, 200+n, func(line string) float64 { return float64(len(line)) })
			if p.Text == "" || whole && !utf8.ValidString(p.Text) || p.Lines > 1 &&
				Lines(text, p.Line, p.Line+p.Lines-1).Text != p.Text {
				panic(fmt.Sprintf("of passage %d is shown %+v", n, p))
			}
		}
		Ends(text)
		indexed([]string{text})
		p, err := Query{Words: text}.Parse()
		if err == nil && !p.Matches(strings.Join(quotedIn(p), "\n")) {
			panic("a text with all that is in quotes does not match " + text)
		}
	},
		hostile.Text{Open: "a"}, hostile.Text{Open: "aB"}, hostile.Text{Open: "a_"}, hostile.Text{Open: "a/"},
		hostile.Text{Open: "a1"}, hostile.Text{Open: "語"}, hostile.Text{Open: "é"}, hostile.Text{Open: "\xff"},
		hostile.Text{Open: "\n"}, hostile.Text{Open: "the same line\n"}, hostile.Text{Open: "["}, hostile.Text{Open: `{"a":`},
	)
}

func quotedIn(p Parsed) (all []string) {
	for _, f := range p.phrases {
		all = append(all, f.text)
	}
	return all
}
