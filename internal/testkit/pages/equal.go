package pages

import (
	"regexp"
	"strings"
)

var (
	// What differs between two runs of the same program on two machines, and only that: everything else in a page is
	// compared.
	blanks   = regexp.MustCompile(`[ \t]+`)
	duration = regexp.MustCompile(`\b(\d+h)?(\d+m)?\d+(\.\d+)?(ns|µs|ms|s)\b`)
	jsonTime = regexp.MustCompile(`("\w+Ns":)\d+`)
	hash     = regexp.MustCompile(`\b[0-9a-f]{12,64}\b`)
)

// equal reports whether a page shows what was printed, as the package's documentation defines it. The recursion tries
// every length for a line "…". Pages are short, so that its worst case does not matter.
func equal(page, printed []string) bool {
	switch {
	case len(page) == 0:
		return len(printed) == 0
	case page[0] == "…":
		for i := range len(printed) + 1 {
			if equal(page[1:], printed[i:]) {
				return true
			}
		}
		return false
	default:
		return len(printed) > 0 && equalLine(page[0], printed[0]) && equal(page[1:], printed[1:])
	}
}

// "…" is replaced last, when everything else in the line is quoted.
func equalLine(page, printed string) bool {
	page, printed = plain(page), plain(printed)
	if page == printed {
		return true
	}
	pattern := strings.ReplaceAll(regexp.QuoteMeta(page), "…", ".*")
	return regexp.MustCompile("^" + pattern + "$").MatchString(printed)
}

// plain is a line without what differs between two runs.
func plain(line string) string {
	line = blanks.ReplaceAllString(strings.TrimSpace(line), " ")
	line = jsonTime.ReplaceAllString(line, "${1}<duration>")
	return hash.ReplaceAllString(duration.ReplaceAllString(line, "<duration>"), "<hash>")
}
