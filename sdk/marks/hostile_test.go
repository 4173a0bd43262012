package marks_test

import (
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/internal/testkit/hostile"
	"github.com/thresh-dev/thresh/sdk/content"
	"github.com/thresh-dev/thresh/sdk/marks"
)

// A result may hold any number of lines that look like marks.
func FuzzGrown(f *testing.F) {
	hostile.Fuzz(f, func(text string) {
		marks.LinesIn(text)
		marks.LinesOf(content.String(text), marks.Places{1, 3})
		marks.Cut(text, len(text)/3, len(text)/2)
		marks.Label("bash", text)
		for line := range strings.Lines(text) {
			marks.Joins(line)
			_, _ = marks.ReadInclusion(line)
			if r, ok := marks.ReadReference(line); ok {
				r.Resolve([]string{line})
			}
		}
	},
		hostile.Text{Open: "[… 14 lines omitted]\n"}, hostile.Text{Open: "[… 1 line omitted"},
		hostile.Text{Open: "[… 14 lines omitted: lines 12-25 of the result of read_file src/a.go above]\n"},
		hostile.Text{Start: "[… 14 lines omitted: lines 12-25 of the result of ", Open: "result of a above", End: "]"},
		hostile.Text{Open: "[Earlier inclusion of ", Close: " removed — included again later]"},
		hostile.Text{Open: "[… "}, hostile.Text{Open: "a"}, hostile.Text{Open: "\n"}, hostile.Text{Open: "\xff"},
	)
}
