package text

import "unicode/utf8"

const Ellipsis = "…"

// Clip returns s, or at most limit bytes of its beginning, cut between two characters, and an [Ellipsis].
func Clip(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	return s[:boundary(s, limit)] + Ellipsis
}

func boundary(s string, limit int) int {
	limit = max(0, limit)
	for limit > 0 && !utf8.RuneStart(s[limit]) {
		limit--
	}
	return limit
}

// ClipMiddle returns s, or its beginning and end with an [Ellipsis] between them, in columns characters altogether. It
// is for paths: the end gets the larger part, as it tells them apart.
func ClipMiddle(s string, columns int) string {
	if len(s) <= columns || utf8.RuneCountInString(s) <= columns {
		return s
	}
	columns = max(columns, 1)
	head := (columns - 1) / 3
	tail := columns - 1 - head
	return s[:skipForward(s, head)] + Ellipsis + s[skipBackward(s, tail):]
}

func skipForward(s string, n int) (at int) {
	for ; n > 0 && at < len(s); n-- {
		_, size := utf8.DecodeRuneInString(s[at:])
		at += size
	}
	return at
}

func skipBackward(s string, n int) int {
	at := len(s)
	for ; n > 0 && at > 0; n-- {
		_, size := utf8.DecodeLastRuneInString(s[:at])
		at -= size
	}
	return at
}
