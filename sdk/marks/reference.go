package marks

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/thresh-dev/thresh/internal/lazyregexp"
)

// Reference is what a mark says in place of lines that an earlier result in the same request has:
//
//	[… 14 lines omitted: lines 12-25 of the result of read_file src/a.go above]
//	[… 14 lines omitted: lines 12-25 of the 2nd last result of bash go test ./... above]
//	[… 14 lines omitted: lines 12-25 of the result of Read src/a.go above, numbered from 31]
//
// The omitted lines are byte for byte lines From to To of that result. If Number is not 0, a tool that reads files
// numbered both, and the numbers differ: the omitted ones began with Number.
type Reference struct {
	From, To int // lines of the result, from 1, inclusive
	// Nth is which of the results with that label, counted backwards from the mark: 1 is the last one above it.
	Nth    int
	Label  string
	Number int
}

// MaxNth bounds [Reference.Nth]: no reader counts back further.
const MaxNth = 20

// String returns the mark, without a line break.
func (r Reference) String() string {
	nth, numbered := "", ""
	if r.Nth > 1 {
		nth = ordinal(r.Nth) + " last "
	}
	if r.Number > 0 {
		numbered = ", numbered from " + strconv.Itoa(r.Number)
	}
	return fmt.Sprintf("%s%s%s: lines %d-%d of the %sresult of %s above%s%s",
		start, count(r.To-r.From+1, "line"), gone, r.From, r.To, nth, r.Label, numbered, end)
}

// Refers is in every such mark, even inside JSON.
const Refers = gone + ": lines "

func ordinal(n int) string {
	suffix := "th"
	if n/10%10 != 1 {
		switch n % 10 {
		case 1:
			suffix = "st"
		case 2:
			suffix = "nd"
		case 3:
			suffix = "rd"
		}
	}
	return strconv.Itoa(n) + suffix
}

var reference = lazyregexp.New(`^\[… (\d{1,9}) lines? omitted: lines (\d{1,9})-(\d{1,9}) of the ` +
	`(?:(\d{1,2})(?:st|nd|rd|th) last )?result of (.+) above(?:, numbered from (\d{1,9}))?\]$`)

// ReadReference is the inverse of [Reference.String]; ok is false for any other line. A line break at the end is
// ignored.
func ReadReference(line string) (r Reference, ok bool) {
	line = strings.TrimRight(line, "\r\n")
	if !strings.HasPrefix(line, start) || !strings.Contains(line, Refers) {
		return r, false
	}
	m := reference().FindStringSubmatch(line)
	if m == nil {
		return r, false
	}
	r = Reference{From: number(m[2]), To: number(m[3]), Nth: max(number(m[4]), 1), Label: m[5], Number: number(m[6])}
	return r, r.From > 0 && r.From <= r.To && r.String() == line // one form only
}

func number(s string) int {
	n, _ := strconv.Atoi(s) // "" is 0; the expression allows only digits
	return n
}

const labelLength = 80

// Label names a result in a mark: its tool and what its call was about, on one line. [Reference.Nth] tells equal labels
// apart. Brackets become parentheses: what a tool was called with cannot forge the end of a mark.
func Label(tool, subject string) string {
	s := tool + " " + subject
	if most := 2 * utf8.UTFMax * labelLength; len(s) > most {
		s = s[:most] // a command can be a script of many megabytes
	}
	s = strings.Join(strings.Fields(strings.Map(func(r rune) rune {
		switch {
		case r == '[':
			return '('
		case r == ']':
			return ')'
		case !unicode.IsPrint(r):
			return ' '
		}
		return r
	}, s)), " ")
	if utf8.RuneCountInString(s) > labelLength {
		s = string([]rune(s)[:labelLength-1]) + "…"
	}
	return s
}

// Number returns the number that a tool which reads files put in front of a line, and the line without it: "12→",
// "12:", "12|" or "12" and a tab, with blanks or zeros before it.
func Number(line string) (n int, rest string, ok bool) {
	digits := strings.TrimLeft(line, " ")
	end := 0
	for end < len(digits) && end < 9 && digits[end] >= '0' && digits[end] <= '9' {
		end++
	}
	if end == 0 {
		return 0, "", false
	}
	for _, mark := range [...]string{"→", "\t", ":", "|"} {
		if rest, ok = strings.CutPrefix(digits[end:], mark); ok {
			n, err := strconv.Atoi(digits[:end])
			return n, rest, err == nil
		}
	}
	return 0, "", false
}

// Renumbered returns lines that a tool numbered with numbers from first on; ok is false if they are not numbered
// consecutively. Numbers keep their width if blanks or zeros fill it.
func Renumbered(lines []string, first int) (out []string, ok bool) {
	out = make([]string, len(lines))
	from := 0
	for i, line := range lines {
		n, rest, ok := Number(line)
		if i == 0 {
			from = n
		}
		if !ok || n != from+i {
			return nil, false
		}
		head := line[:len(line)-len(rest)]
		digits := strings.TrimRight(head, "→\t:|")
		separator := head[len(digits):]
		bare := strings.TrimLeft(digits, " ")
		switch now := first + i; {
		case len(bare) > 1 && bare[0] == '0':
			out[i] = strings.Repeat(" ", len(digits)-len(bare)) + fmt.Sprintf("%0*d", len(bare), now)
		case len(bare) < len(digits):
			out[i] = fmt.Sprintf("%*d", len(digits), now)
		default:
			out[i] = strconv.Itoa(now)
		}
		out[i] += separator + rest
	}
	return out, true
}

// Resolve returns the omitted lines, without line breaks. lines are those of the result that the mark refers to; ok is
// false if it has too few.
func (r Reference) Resolve(lines []string) (out []string, ok bool) {
	if r.To > len(lines) {
		return nil, false
	}
	out = lines[r.From-1 : r.To]
	if r.Number > 0 {
		return Renumbered(out, r.Number)
	}
	return out, true
}
