package table

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// Int is a number with a comma between groups of three digits.
func Int(n int) string {
	digits := strconv.Itoa(n)
	sign := ""
	if n < 0 {
		sign, digits = "-", digits[1:]
	}
	var out strings.Builder
	for i, d := range digits {
		if i > 0 && (len(digits)-i)%3 == 0 {
			out.WriteByte(',')
		}
		out.WriteRune(d)
	}
	return sign + out.String()
}

// Short is a number in at most six characters: up to 9,999 in full, then in thousands (k), millions (M), and so on,
// with three digits.
func Short(n int) string {
	if n > -10_000 && n < 10_000 {
		return Int(n)
	}
	v, unit := float64(n), 0
	// 999.5, not 1000: what would be rounded to 1000 gets the next unit.
	for math.Abs(v) >= 999.5 && unit < len(units)-1 {
		v, unit = v/1000, unit+1
	}
	digits := 2
	switch a := math.Abs(v); {
	// The bounds are where rounding adds a digit.
	case a >= 99.95:
		digits = 0
	case a >= 9.995:
		digits = 1
	}
	return strconv.FormatFloat(v, 'f', digits, 64) + units[unit]
}

var units = []string{"", "k", "M", "G", "T", "P", "E"}

// Percent is a part of a whole, from "0.0 %"; "-" if the whole is 0.
func Percent(part, whole int) string {
	if whole == 0 {
		return "-"
	}
	return Percentage(100 * float64(part) / float64(whole))
}

// Percentage formats hundredths with one decimal.
func Percentage(v float64) string {
	return fmt.Sprintf("%.1f %%", math.Round(v*10)/10+0) // + 0: nothing is not "-0.0 %"
}

// Duration is a duration with two or three digits. Zero is "0s".
func Duration(d time.Duration) string {
	switch {
	case d >= 100*time.Second:
		return d.Round(time.Second).String()
	case d >= time.Second:
		return d.Round(100 * time.Millisecond).String()
	case d >= 10*time.Millisecond:
		return d.Round(time.Millisecond).String()
	}
	return d.Round(100 * time.Microsecond).String()
}
