package probe

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/thresh-dev/thresh/host/internal/lab/replay"
	"github.com/thresh-dev/thresh/host/internal/provider/messages"
	"github.com/thresh-dev/thresh/internal/text"
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

// record writes a request as a model gets it: the system prompt, then every entry with its number in the request,
// counted from first. A mark stands in the line before each entry. It depends on the whole text: no entry can contain
// it, and so none can pretend to be two.
func record(system []content.Block, entries []content.Content, first int) string {
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
	return b.String()
}

// markOf returns the mark of a record's text.
func markOf(text string) string {
	mark, _, _ := strings.Cut(strings.TrimPrefix(text, "=== "), " ")
	return mark
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
		if s := messages.Readable(b); strings.TrimSpace(s) != "" {
			parts = append(parts, s)
		}
	}
	return strings.ToValidUTF8(strings.Join(parts, "\n"), "\ufffd")
}

// How much of what came next is shown, in bytes: in all, and of one entry.
const (
	maxNext      = 60_000
	maxNextEntry = 6_000
)

// next writes what followed a moment in the recording, up to a bound and to the recorder's next compaction. Its entries
// go on counting from those of the request.
func next(rec *replay.Recording, m Moment, first int) string {
	all := rec.Transcript.Entries
	replaced := rec.Transcript.Replaced()
	var out []content.Content
	size := 0
	for i := m.Entry; i < len(all) && size < maxNext && (i == m.Entry || !replaced[i]); i++ {
		body := readable(all[i].Blocks)
		if len(body) > maxNextEntry {
			body = text.Clip(body, maxNextEntry) + "\n(the rest of this entry is not shown)"
		}
		size += len(body)
		out = append(out, content.Content{
			Speaker: all[i].Speaker, Blocks: []content.Block{content.Text{Text: body}},
		})
	}
	return record(nil, out, first)
}
