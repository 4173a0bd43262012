package summary

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/thresh-dev/thresh/sdk"
	"github.com/thresh-dev/thresh/sdk/content/rawjson"
	"github.com/thresh-dev/thresh/sdk/marks"
)

const openTag, closeTag = marks.SnapshotStart, marks.SnapshotEnd

// defuse removes the tags from the inside of a snapshot: readPrior takes the first closing tag as the snapshot's end,
// so that a record which quotes one cannot end it early.
var defuse = strings.NewReplacer(openTag, "[state_snapshot]", closeTag, "[/state_snapshot]")

// extract returns the snapshot in a model's answer: from the first opening tag, preferably at the start of a line, to
// the last closing tag. Notes before it and prose around it are dropped. The error is [ErrEmpty] or [ErrNoSnapshot].
func extract(reply string) (string, error) {
	if strings.TrimSpace(reply) == "" {
		return "", ErrEmpty
	}
	reply = strings.ToValidUTF8(withoutNotes(reply), "\ufffd")
	from := strings.Index(reply, openTag)
	if !strings.HasPrefix(reply, openTag) {
		if i := strings.Index(reply, "\n"+openTag); i >= 0 {
			from = i + 1
		}
	}
	to := strings.LastIndex(reply, closeTag)
	if from < 0 || to < from {
		return "", ErrNoSnapshot
	}
	body := defuse.Replace(reply[from+len(openTag) : to])
	if !hasWords(body) {
		return "", ErrEmpty
	}
	return openTag + body + closeTag, nil
}

// hasWords reports whether body contains anything besides tags and white space. Models sometimes return the empty form.
func hasWords(body string) bool {
	for body != "" {
		at := strings.IndexByte(body, '<')
		if at < 0 {
			return strings.TrimSpace(body) != ""
		}
		if strings.TrimSpace(body[:at]) != "" {
			return true
		}
		// A "<" without an end is a comparison or an arrow, and so content.
		end := strings.IndexByte(body[at:], '>')
		if end < 0 {
			return true
		}
		body = body[at+end+1:]
	}
	return false
}

// withoutNotes cuts off the notes that a model writes for itself before the snapshot: they may contain a draft of it.
func withoutNotes(reply string) string {
	for _, name := range [...]string{"scratchpad", "thinking", "think"} {
		at := strings.Index(reply, "<"+name+">")
		if at < 0 {
			continue
		}
		if first := strings.Index(reply, openTag); first >= 0 && first < at {
			continue // quoted by the snapshot: notes stand before it
		}
		if _, rest, closed := strings.Cut(reply[at:], "</"+name+">"); closed && strings.Contains(rest, openTag) {
			reply = strings.TrimLeft(rest, " \t\r\n")
		}
	}
	return reply
}

// mark is what an entry's metadata tells about summaries. Other fields of the metadata are ignored. IsSummary is set by
// other programs too.
type mark struct {
	IsSummary bool   `json:"isSummary"`
	Synthetic bool   `json:"synthetic"`
	Reason    string `json:"reason"`
}

// markOf reads the mark of an entry; the zero mark if it has none, or its metadata uses the names for other things.
func markOf(entry sdk.Content) (m mark) {
	if !bytes.Contains(entry.Metadata, []byte("isSummary")) && !bytes.Contains(entry.Metadata,
		[]byte(reasonContinuation)) {
		return mark{} // nearly every entry: parsing JSON takes time
	}
	if json.Unmarshal(entry.Metadata, &m) != nil {
		return mark{}
	}
	return m
}

// The values of "reason" in the metadata of what this package makes.
const (
	reasonSnapshot     = "compression-state-snapshot"
	reasonContinuation = "compression-continuation"
)

// priorText returns the text of an earlier summary; ok is false if entry is not one. See [IsSummary] for the rules.
func priorText(entry sdk.Content) (text string, ok bool) {
	if entry.Speaker != sdk.Human && entry.Speaker != sdk.AI {
		return "", false
	}
	made := func() bool { // the host says of a strategy's entry who made it
		if entry.Speaker != sdk.Human || len(entry.Blocks) == 0 || rawjson.FieldText(entry.Metadata, "madeBy") == "" {
			return false
		}
		first, ok := entry.Blocks[0].(sdk.Text)
		return ok && marks.Snapshot(first.Text)
	}
	if !markOf(entry).IsSummary && !made() {
		return "", false
	}
	text, _ = said(entry, false)
	return text, true
}

// prior is an earlier summary, taken apart so that its parts can be updated separately. Of a summary by another
// program, snapshot and media are set alone.
type prior struct {
	snapshot   string // what the model wrote; the whole text if another program made it
	messages   []string
	more       bool // than messages were said
	facts      facts
	transcript string
	media      []sdk.Block // of what the person said last
}

// readPrior takes a summary apart. Text that compose would not have written stays with the snapshot, so the
// summaries of other programs lose nothing.
func readPrior(entry sdk.Content, text string) prior {
	p := prior{snapshot: text}
	for _, block := range entry.Blocks {
		if m, ok := block.(sdk.Media); ok {
			p.media = append(p.media, m)
		}
	}
	trimmed := strings.TrimLeft(text, " \t\r\n")
	end := strings.Index(trimmed, closeTag)
	if !strings.HasPrefix(trimmed, openTag) || end < 0 {
		return p
	}
	end += len(closeTag)
	rest := trimmed[end:]
	p.messages, p.more, rest = readMessages(rest)
	p.facts, rest = readFacts(rest)
	p.transcript, rest = readPointer(rest)
	p.snapshot = trimmed[:end]
	if rest = strings.TrimSpace(rest); rest != "" {
		p.snapshot += "\n" + rest
	}
	return p
}
