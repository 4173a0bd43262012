package text_test

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/thresh-dev/thresh/internal/text"
)

func TestShown(t *testing.T) {
	tests := map[string]struct{ got, want string }{
		"clip leaves what fits":                {text.Clip("grain", 5), "grain"},
		"clip cuts at the end":                 {text.Clip("grain and chaff", 5), "grain…"},
		"clip cuts between characters":         {text.Clip("aéé", 2), "a…"},
		"middle leaves what fits":              {text.ClipMiddle("äöü", 3), "äöü"},
		"middle keeps both ends":               {text.ClipMiddle("/home/dev/project/main.go", 13), "/hom…/main.go"},
		"middle of one column":                 {text.ClipMiddle("abc", 1), "…"},
		"printable defuses escapes":            {text.Printable("a\x1b[31mred\nb\tc", 100), "a\ufffd[31mred b c"},
		"printable shows invalid bytes":        {text.Printable("a\xffb", 100), "a\ufffdb"},
		"printable clips":                      {text.Printable("abcdef", 3), "abc…"},
		"printable of nothing but a huge text": {text.Printable(strings.Repeat("x", 1000), 10), "xxxxxxxxxx…"},
		"lines keep line breaks":               {text.Lines("a\r\n\tb\x07\n", 100), "a\n    b\ufffd\n"},
		"lines do not invent a line break":     {text.Lines("a\nb", 100), "a\nb"},
		"one line joins":                       {text.OneLine("  a\n\t b\x1b c ", 100), "a b c"},
		"one line clips by characters":         {text.OneLine("ääää ööö", 4), "äää…"},
		"one line drops a space before the …":  {text.OneLine("ab cd", 4), "ab…"},
	}
	for name, test := range tests {
		if test.got != test.want {
			t.Errorf("%s: got %q, want %q", name, test.got, test.want)
		}
	}
}

func TestShownIsSafe(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := string(rapid.SliceOf(rapid.Byte()).Draw(t, "bytes")) + rapid.String().Draw(t, "text")
		n := rapid.IntRange(1, 40).Draw(t, "limit")
		for name, shown := range map[string]string{"Printable": text.Printable(s, n), "OneLine": text.OneLine(s, n)} {
			if !utf8.ValidString(shown) || strings.ContainsFunc(shown, unicode.IsControl) {
				t.Errorf("%s(%q, %d) = %q", name, s, n, shown)
			}
		}
		if got := text.Printable(s, n); len(got) > n+len(text.Ellipsis) {
			t.Errorf("Printable(%q, %d) has %d bytes", s, n, len(got))
		}
		if got := text.OneLine(s, n); utf8.RuneCountInString(got) > n+1 {
			t.Errorf("OneLine(%q, %d) has %d characters", s, n, utf8.RuneCountInString(got))
		}
		if got := text.ClipMiddle(s, n); utf8.RuneCountInString(got) > n {
			t.Errorf("ClipMiddle(%q, %d) has %d characters", s, n, utf8.RuneCountInString(got))
		}
	})
}
