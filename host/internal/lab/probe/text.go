package probe

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/thresh-dev/thresh/host/internal/transcript"
	"github.com/thresh-dev/thresh/sdk/content"
)

// idLength is how many hexadecimal digits an id has: no directory holds enough of anything for two to collide.
const idLength = 8

// id names something by its content.
func id(parts ...string) string {
	h := sha256.New()
	for _, p := range parts {
		fmt.Fprintf(h, "%d\n%s", len(p), p)
	}
	return hex.EncodeToString(h.Sum(nil))[:idLength]
}

// record is a request as text. mark stands in the line before each entry. It depends on the whole text: no entry can
// contain it, and so none can pretend to be two.
type record struct{ mark, text string }

// newRecord writes a request as a model gets it: the system prompt, then every entry with its number in the request,
// counted from first.
func newRecord(system []content.Block, entries []content.Content, first int) record {
	type piece struct{ head, body string }
	pieces := make([]piece, 0, len(entries)+1)
	if body := readable(system); body != "" {
		pieces = append(pieces, piece{"system prompt", body})
	}
	for i, e := range entries {
		pieces = append(pieces, piece{fmt.Sprintf("entry %d, %s", first+i, speaker(e.Speaker)), readable(e.Blocks)})
	}
	h := make([]string, 0, len(pieces))
	for _, p := range pieces {
		h = append(h, p.body)
	}
	mark := id(h...)
	var b strings.Builder
	for _, p := range pieces {
		b.WriteString("=== " + mark + " " + p.head + "\n" + p.body + "\n\n")
	}
	return record{mark, b.String()}
}

// speaker is the name that models know a speaker by.
func speaker(s content.Speaker) string {
	switch s {
	case content.Human:
		return "user"
	case content.AI:
		return "assistant"
	}
	return string(s)
}

// readable joins blocks as text. Thinking of which only the provider's proof is left says nothing.
func readable(blocks []content.Block) string {
	var parts []string
	for _, b := range blocks {
		if t, ok := b.(content.Thinking); ok && t.Thought == "" {
			continue
		}
		if s := transcript.Readable(b); strings.TrimSpace(s) != "" {
			parts = append(parts, s)
		}
	}
	return strings.ToValidUTF8(strings.Join(parts, "\n"), "\ufffd")
}
