package marks

import (
	"strconv"
	"strings"

	"github.com/thresh-dev/thresh/sdk/tools"
)

// recalled begins the line before each part of a conversation that its model read again.
const recalled = "[recalled: turn "

// Recalled returns the line that stands before a part of a conversation that its model reads again. turn and where say
// where it stood.
func Recalled(turn int, where string) string {
	return recalled + strconv.Itoa(turn) + ", " + where + "]"
}

// Recall returns the mark behind a shortened result by whose id its model asks for all of it, with [tools.Recall]. It is
// part of requests to models and of their prompt caches: changing its form rewrites conversations.
func Recall(id string) string { return " [" + tools.Recall + ": " + id + "]" }

// HasRecalled reports whether a text has a part that was read again, also where a script of the model printed it.
func HasRecalled(text string) bool { return strings.Contains(text, recalled) }
