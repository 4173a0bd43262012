package marks

import (
	"strconv"
	"strings"

	"github.com/thresh-dev/thresh/sdk/tools"
)

// recalled begins the line before each part of a conversation that its model read again.
const recalled, sealed = "[recalled: turn ", ", seal "

// Recalled returns the line that stands before a part of a conversation that its model reads again. turn and where say
// where it stood, and end with its id. seal, which may be "", is what only the host can make of the id.
func Recalled(turn int, where, seal string) string {
	if seal != "" {
		where += sealed + seal
	}
	return recalled + strconv.Itoa(turn) + ", " + where + "]"
}

// Recall returns the mark behind a shortened result by whose id its model asks for all of it, with [tools.Recall]. It is
// part of requests to models and of their prompt caches: changing its form rewrites conversations.
func Recall(id string) string { return " [" + tools.Recall + ": " + id + "]" }

// maxSeals is how many seals of a text are looked at.
const maxSeals = 1000

// HasRecalled reports whether a text has a part that was read again, also where a script of the model printed it. seal
// returns the seal of an id, as [Recalled] had it.
func HasRecalled(text string, seal func(id string) string) bool {
	if !strings.Contains(text, recalled) {
		return false
	}
	for range maxSeals {
		before, behind, ok := strings.Cut(text, sealed)
		if !ok {
			return false
		}
		text = behind
		id := before[1+strings.LastIndexByte(before, ' '):]
		said, _, closed := strings.Cut(behind[:min(len(behind), 40)], "]")
		if closed && len(id) <= 40 && said == seal(id) {
			return true
		}
	}
	return false
}
