package htmlreport

import (
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// short cuts what a session may have made as long as it likes, and makes visible what a page cannot hold.
func short(text string) string { return shorten(text, maxName) }

func shorten(text string, most int) string {
	if len(text) > most {
		for most > 0 && !utf8.RuneStart(text[most]) {
			most--
		}
		text = text[:most] + "…"
	}
	return clean(text)
}

// clean replaces control characters and what is no text: neither belongs in HTML.
func clean(text string) string {
	return strings.Map(func(c rune) rune {
		if unicode.IsControl(c) && c != '\n' && c != '\t' || c == 0xFFFE || c == 0xFFFF {
			return utf8.RuneError
		}
		return c
	}, text)
}

// number is a count with a comma for each thousand.
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

// thousands is a round count as an axis has room for it.
func thousands(v float64) string {
	if n := int(v); n < 10_000 || n%1000 != 0 {
		return number(n)
	}
	return number(int(v)/1000) + " k"
}

// percent is a share with one digit after the point.
func percent(share float64) string {
	return signed(strconv.FormatFloat(math.Round(share*1000)/10+0, 'f', 1, 64)) + " %" // + 0: no share is -0.0
}

// recalled is a share that is 100 % only if nothing is missing.
func recalled(share float64) string { return percent(math.Floor(share*1000) / 1000) }

// relative is a share against doing nothing, with its sign.
func relative(share float64) string {
	text := percent(share)
	if share > 0 && text != "0.0 %" {
		return "+" + text
	}
	return text
}

func signed(text string) string { return strings.Replace(text, "-", "−", 1) }

// dollars has as many digits as make sense next to most, the largest value in the same column.
func dollars(usd, most float64) string {
	return signed(strconv.FormatFloat(usd, 'f', dollarDigits(most), 64))
}

func dollarDigits(most float64) int {
	if !(most > 0) || math.IsInf(most, 0) {
		return 2
	}
	return min(max(2-int(math.Floor(math.Log10(most))), 2), 6)
}

func settingsText(settings map[string]string) string {
	var parts []string
	for _, key := range slices.Sorted(maps.Keys(settings)) {
		parts = append(parts, key+"="+settings[key])
	}
	return short(strings.Join(parts, ", "))
}
