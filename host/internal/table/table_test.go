package table_test

import (
	"bytes"
	"os"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/thresh-dev/thresh/host/internal/table"
)

func sample() *table.Table {
	t := table.New(
		table.Column{Name: "file", Min: 10, Middle: true},
		table.Column{Name: "sent", Right: true},
		table.Column{Name: "limit", Head: "OVER\nLIMIT", Right: true, Rank: 2},
		table.Column{Name: "note", Rank: 1, Min: 6},
		table.Column{Name: "nothing", Rank: 1},
	)
	t.Row("/home/dev/project/main.go", table.Int(1234567), "3", "with \x1b[31mlittle\neffect")
	t.Row("b.go", "12", "0", "")
	return t
}

func printed(t *testing.T, tb *table.Table, o table.Options) string {
	t.Helper()
	var out bytes.Buffer
	if err := tb.Write(&out, o); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestATableFits(t *testing.T) {
	for name, c := range map[string]struct {
		o    table.Options
		want string
	}{
		"all of it": {table.Options{Width: 80}, `
                                       OVER
FILE                            SENT  LIMIT  NOTE
/home/dev/project/main.go  1,234,567      3  with [31mlittle effect
b.go                              12      0
`}, "shortened": {table.Options{Width: 45}, `
                              OVER
FILE                   SENT  LIMIT  NOTE
/home…ct/main.go  1,234,567      3  with [31…
b.go                     12      0
`}, "the highest rank is left out": {table.Options{Width: 34}, `
FILE                SENT  NOTE
/hom…/main.go  1,234,567  with [3…
b.go                  12
`}, "what always stays": {table.Options{Width: 5}, `
FILE             SENT
/ho…ain.go  1,234,567
b.go               12
`}, "chosen": {table.Options{Width: 10, Columns: []string{"limit", "nothing", "sent"}}, `
 OVER
LIMIT  NOTHING       SENT
    3           1,234,567
    0                  12
`},
	} {
		if diff := cmp.Diff(c.want[1:], printed(t, sample(), c.o)); diff != "" {
			t.Errorf("%s:\n%s", name, diff)
		}
	}
	if got, want := printed(t, sample(), table.Options{Columns: []string{"all"}, Width: 200}),
		"NOTHING"; !strings.Contains(got, want) {
		t.Errorf("all columns:\n%s", got)
	}
}

func TestAnUnknownColumn(t *testing.T) {
	err := sample().Write(&bytes.Buffer{}, table.Options{Columns: []string{"file", "limits"}})
	want := `--columns: no column "limits" (did you mean limit?); columns are file, sent, limit, note, nothing`
	if err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

// Whatever the cells hold, lines are no longer than the terminal is wide as long as the columns that are always shown
// fit, and hold nothing that a terminal would act on.
func TestATableFitsWhateverItHolds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tb := table.New(
			table.Column{Name: "a", Min: 5}, table.Column{Name: "b", Min: 4, Middle: true, Rank: 1},
			table.Column{Name: "c", Rank: 3, Right: true}, table.Column{Name: "d", Rank: 2, Right: true, Min: 8},
		)
		for range rapid.IntRange(0, 4).Draw(t, "rows") {
			tb.Row(rapid.SliceOfN(rapid.String(), 0, 5).Draw(t, "cells")...)
		}
		width := rapid.IntRange(5, 100).Draw(t, "width")
		var out bytes.Buffer
		if err := tb.Write(&out, table.Options{Width: width}); err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(out.String()) {
			line = strings.TrimSuffix(line, "\n")
			if utf8.RuneCountInString(line) > width || strings.ContainsFunc(line, unicode.IsControl) {
				t.Errorf("width %d: %q", width, line)
			}
		}
	})
}

func TestWrap(t *testing.T) {
	for _, c := range []struct {
		text        string
		width, hang int
		want        string
	}{
		{"all of it fits", 80, 2, "all of it fits"},
		{"one two three four", 9, 2, "one two\n  three\n  four"},
		{"keeps  94 % of it", 12, 7, "keeps  94 %\n       of it"},
		{"a veryverylongword b", 8, 1, "a\n veryverylongword\n b"},
		{"größe größe", 11, 0, "größe größe"},
	} {
		if got := table.Wrap(c.text, c.width, c.hang); got != c.want {
			t.Errorf("%q in %d: %q, want %q", c.text, c.width, got, c.want)
		}
	}
}

func TestNumbers(t *testing.T) {
	for want, got := range map[string]string{
		"0": table.Int(0), "999": table.Int(999), "-1,000": table.Int(-1000), "12,345,678": table.Int(12345678),
		"9,999": table.Short(9999), "10.0k": table.Short(10000), "-45.7k": table.Short(-45678),
		"1.00M": table.Short(999_600),
		"999k":  table.Short(999_400), "1.23G": table.Short(1_234_000_000),
		"-": table.Percent(1, 0), "33.3 %": table.Percent(1, 3), "0.0 %": table.Percentage(-0.01),
		"1.5s": table.Duration(1530 * time.Millisecond), "2m10s": table.Duration(130 * time.Second),
		"15ms": table.Duration(15_400 * time.Microsecond), "1.2ms": table.Duration(1234 * time.Microsecond),
	} {
		if got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

func TestWithoutATerminal(t *testing.T) {
	file, err := os.Create(t.TempDir() + "/out")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if a, b := table.Width(&bytes.Buffer{}, ""), table.Width(file, ""); a != 80 || b != 80 {
		t.Errorf("a buffer is %d wide, a file %d", a, b)
	}
}
