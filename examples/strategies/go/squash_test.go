package main

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// marked is a text that was squashed before, with two more of the lines that were squashed.
const marked = "w\n[the line above came 3 more times]\nw\nw"

func TestSquash(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text, want string
		minRepeats int
	}{
		"empty":         {"", "", 3},
		"nothing to do": {"a\nb\n", "a\nb\n", 3},
		"colours":       {"\x1b[1;32mok\x1b[0m\nok\nok", "ok\n[the line above came 2 more times]", 3},
		"a title":       {"x\nx\n\x1b]0;make\ax", "\x1b]0;make\ax\n[the line above came 2 more times]", 3},
		"a link": {"h\nh\n\x1b]8;;https://x.test\x1b\\h\x1b]8;;\x1b\\",
			"\x1b]8;;https://x.test\x1b\\h\x1b]8;;\x1b\\\n[the line above came 2 more times]", 3},
		"half a sequence":                {"a\na\na\x1b", "a\x1b\n[the line above came 2 more times]", 3},
		"a character set and a letter":   {"é\né\n\x1b(Bé", "\x1b(Bé\n[the line above came 2 more times]", 3},
		"a progress bar":                 {"done\ndone\n10 %\r50 %\rdone", "10 %\r50 %\rdone\n[the line above came 2 more times]", 3},
		"lines of another system":        {"a\r\nb\r\n", "a\r\nb\r\n", 3},
		"trailing blanks":                {"a  \t\na \na\nb ", "a\n[the line above came 2 more times]\nb ", 3},
		"repeated lines":                 {"w\nw\nw\nw\nx", "w\n[the line above came 3 more times]\nx", 3},
		"repeated only twice":            {"w\nw\nx", "w\nw\nx", 3},
		"repeated less often than asked": {"w\nw\nw\nx", "w\nw\nw\nx", 4},
		"blank lines":                    {"a\n\n\n\nb", "a\n\nb", 9},
		"a marker of an earlier squash":  {marked, marked, 3},
		"the fewest is three":            {"w\nw\nw", "w\n[the line above came 2 more times]", 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := squash(c.text, c.minRepeats); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

// FuzzSquash: what was squashed stays as it is, is no longer, and is text if it was.
func FuzzSquash(f *testing.F) {
	const twice = "[the line above came 2 more times]"
	for _, s := range []string{"a\n\n\nb", "\x1b[0m\x1b]x\x1b(", "w\nw\nw\n" + twice + "\n" + twice, "a\rb\r\n"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		once := squash(text, 3)
		if twice := squash(once, 3); twice != once {
			t.Errorf("%q becomes %q, and that %q", text, once, twice)
		}
		if utf8.ValidString(text) && !utf8.ValidString(once) {
			t.Errorf("%q becomes %q", text, once)
		}
	})
}

func BenchmarkSquash(b *testing.B) {
	for name, text := range map[string]string{
		"one letter":    strings.Repeat("a", 1<<20),
		"escapes":       strings.Repeat("\x1b[", 1<<19),
		"one line":      strings.Repeat("warning: again\n", 1<<16),
		"carriage":      strings.Repeat("\r", 1<<20),
		"open sequence": strings.Repeat("\x1b]0;", 1<<18),
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				squash(text, 3)
			}
		})
	}
}
