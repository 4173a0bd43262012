package htmlreport

import (
	"math"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/thresh-dev/thresh/internal/text"
)

// short shortens a name that comes from a session or from settings and may have any length, and replaces characters
// that HTML cannot contain.
func short(s string) string { return shorten(s, maxName) }

// shorten cuts s to at most most bytes, and cleans it.
func shorten(s string, most int) string { return clean(text.Clip(s, most)) }

// clean replaces control characters and non-characters by U+FFFD: HTML forbids them, and browsers differ in what they
// do with them. Escaping is the template's job.
func clean(text string) string {
	return strings.Map(func(c rune) rune {
		if unicode.IsControl(c) && c != '\n' && c != '\t' || c == 0xFFFE || c == 0xFFFF {
			return utf8.RuneError
		}
		return c
	}, text)
}

// number formats a count with thousands separators and a proper minus sign.
func number(n int) string {
	text := strconv.Itoa(n)
	sign := ""
	if n < 0 {
		sign, text = "−", text[1:]
	}
	for at := len(text) - 3; at > 0; at -= 3 {
		text = text[:at] + "," + text[at:]
	}
	return sign + text
}

// thousands formats a value for an axis, where room is scarce: round values of 10,000 and above as "10 k".
func thousands(v float64) string {
	if n := int(v); n < 10_000 || n%1000 != 0 {
		return number(n)
	}
	return number(int(v)/1000) + " k"
}

// percentSign follows a figure on the same line: between them stands a space that does not break.
const percentSign = "\u00a0%"

func percent(share float64) string {
	return signed(strconv.FormatFloat(math.Round(share*1000)/10+0, 'f', 1, 64)) + percentSign // +0 turns -0 into 0
}

// recalled formats a recall, rounded down: 100.0 % must mean that nothing is missing.
func recalled(share float64) string { return percent(math.Floor(share*1000) / 1000) }

// relative formats a difference to doing nothing, with a sign unless it rounds to zero.
func relative(share float64) string {
	text := percent(share)
	if share > 0 && text != "0.0"+percentSign {
		return "+" + text
	}
	return text
}

// signed replaces the hyphen by a minus sign, which is as wide as a plus. In tables with figures aligned at the right,
// a hyphen is too short to be seen.
func signed(text string) string { return strings.Replace(text, "-", "−", 1) }

// dollars formats a cost with as many decimals as suit most, the largest value in the same column.
func dollars(usd, most float64) string {
	return signed(strconv.FormatFloat(usd, 'f', dollarDigits(most), 64))
}

// dollarDigits returns the number of decimals that give most three significant digits, from 2 to 6.
func dollarDigits(most float64) int {
	if !(most > 0) || math.IsInf(most, 0) {
		return 2
	}
	return min(max(2-int(math.Floor(math.Log10(most))), 2), 6)
}
