package marks

import (
	"bytes"
	"strings"

	"github.com/thresh-dev/thresh/sdk/content"
	"github.com/thresh-dev/thresh/sdk/content/rawjson"
)

// Gone returns the line that stands where messages were taken out of a conversation. The host puts an entry with it
// there unless the strategy has put something in their place:
//
//	[2 user messages and 1 assistant reply were removed here]
//
// summaries counts summaries of earlier conversation. Zeros are left out; "" if all are zero.
func Gone(human, ai, summaries int) string {
	var parts []string
	total := 0
	for _, of := range [...]struct {
		n    int
		noun string
	}{{human, "user message"}, {ai, "assistant reply"}, {summaries, "earlier summary"}} {
		if total += of.n; of.n == 1 {
			parts = append(parts, "1 "+of.noun)
		} else if of.n > 1 {
			parts = append(parts, strings.Replace(count(of.n, of.noun), "ys", "ies", 1))
		}
	}
	if total == 0 {
		return ""
	}
	list, verb := parts[len(parts)-1], " were"
	if before := parts[:len(parts)-1]; len(before) > 0 {
		list = strings.Join(before, ", ") + " and " + list
	}
	if total == 1 {
		verb = " was"
	}
	return "[" + list + verb + " removed here]"
}

// IsGone reports whether an entry is the host's, with such a line. It stays whatever a strategy answers, or becomes one
// with another beside it: to take it out gains nothing.
func IsGone(c content.Content) bool {
	return bytes.Contains(c.Metadata, []byte(`"gone"`)) && rawjson.FieldText(c.Metadata, "madeBy") == "thresh"
}
