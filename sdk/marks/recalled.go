package marks

import (
	"strconv"
	"strings"
)

// recalled begins the line before each part of a conversation that its model read again.
const recalled = "[recalled: turn "

// Recalled returns the line that stands before a part of a conversation that its model reads again. turn and where say
// where it stood.
func Recalled(turn int, where string) string {
	return recalled + strconv.Itoa(turn) + ", " + where + "]"
}

// HasRecalled reports whether a text has a part that was read again, also where a script of the model printed it.
func HasRecalled(text string) bool { return strings.Contains(text, recalled) }
