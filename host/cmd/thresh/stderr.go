package main

import (
	"io"
	"os"
	"strings"
	"unicode/utf8"

	"golang.org/x/term"

	"github.com/thresh-dev/thresh/host/internal/table"
)

// safeStderr is standard error. Names of files, tools and settings that a stranger chose occur in errors, notes and log
// lines; a terminal must not act on escape sequences in them.
type safeStderr struct {
	io.Writer
	columns string // the variable COLUMNS
}

// Write writes p, usually whole lines, with what a terminal would act on replaced. A terminal would also cut a long
// line inside a word.
func (w safeStderr) Write(p []byte) (int, error) {
	out := printable(string(p))
	if f, ok := w.Writer.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		out = fold(out, table.Width(f, w.columns))
	}
	if _, err := io.WriteString(w.Writer, out); err != nil {
		return 0, err
	}
	return len(p), nil
}

func fold(s string, width int) string {
	var b strings.Builder
	for line := range strings.Lines(s) {
		column := 0
		for i, word := range strings.Split(line, " ") {
			n := utf8.RuneCountInString(strings.TrimSuffix(word, "\n"))
			if i > 0 && column+1+n > width {
				b.WriteByte('\n')
				column = 0
			} else if i > 0 {
				b.WriteByte(' ')
				column++
			}
			b.WriteString(word)
			column += n
		}
	}
	return b.String()
}
