package main

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/thresh-dev/thresh/sdk"
	"github.com/thresh-dev/thresh/sdk/content"
	"github.com/thresh-dev/thresh/sdk/content/rawjson"
)

const (
	// longLine is from how many bytes on a line is cut into pieces of about pieceBytes. A line of up to shortLine bytes
	// belongs to the one before.
	longLine, pieceBytes, shortLine = 400, 160, 6
	// mostText is how much of one text is divided into lines, in bytes, half of it at each end. What is between is one
	// line. It bounds what one result can cost.
	mostText = 512 << 10
	// smallText is up to how many bytes a parameter of a call stays as it is.
	smallText = 300
)

// stringIn is a string value in JSON text: raw[from:to] is the literal, text what it says.
type stringIn struct {
	from, to int
	text     string
}

// stringsIn returns the string values of JSON text, not the names of fields. It goes through the text without nesting,
// each byte once.
func stringsIn(raw json.RawMessage) (found []stringIn) {
	for i := 0; i < len(raw); i++ {
		if raw[i] != '"' {
			continue
		}
		from := i
		for i++; i < len(raw) && raw[i] != '"'; i++ {
			if raw[i] == '\\' {
				i++
			}
		}
		to := min(i+1, len(raw))
		after := to
		for after < len(raw) && (raw[after] == ' ' || raw[after] == '\n' || raw[after] == '\t' || raw[after] == '\r') {
			after++
		}
		if after < len(raw) && raw[after] == ':' {
			continue // the name of a field
		}
		if text, ok := rawjson.Text(raw[from:to]); ok {
			found = append(found, stringIn{from, to, text})
		}
	}
	return found
}

// textsOf returns the texts of a block.
func textsOf(b sdk.Block) []stringIn {
	switch b := b.(type) {
	case sdk.Text:
		return []stringIn{{text: b.Text}}
	case sdk.Code:
		return []stringIn{{text: b.Code}}
	case sdk.ToolCall:
		return stringsIn(b.Parameters)
	case sdk.ToolResponse:
		return stringsIn(b.Result)
	}
	return nil
}

// mayShrink reports whether a text may lose lines: a result, a long parameter of a call, and what the AI said.
func mayShrink(by sdk.Speaker, b sdk.Block, s stringIn) bool {
	switch b.(type) {
	case sdk.Text:
		return by == sdk.AI
	case sdk.ToolCall:
		return len(s.text) >= smallText
	case sdk.ToolResponse:
		return true
	}
	return false
}

// change is a new text in the place of one that was found in a block.
type change struct {
	at  stringIn
	now string
}

// changed returns a copy of a block with some of its texts changed. changes are in the order of the block.
func changed(b sdk.Block, changes []change) sdk.Block {
	switch b := b.(type) {
	case sdk.Text:
		b.Text = changes[0].now
		return b
	case sdk.ToolCall:
		b.Parameters = splice(b.Parameters, changes)
		return b
	case sdk.ToolResponse:
		b.Result = splice(b.Result, changes)
		return b
	}
	return b
}

// splice puts new strings in the place of others in JSON text, all in one pass. It copies.
func splice(raw []byte, changes []change) (out []byte) {
	at := 0
	for _, c := range changes {
		out = append(append(out, raw[at:c.at.from]...), content.String(c.now)...)
		at = c.at.to
	}
	return slices.Concat(out, raw[at:])
}

// lines divides a text into lines with their line breaks: long ones into pieces, short ones together with the line
// before. What is joined again is the text.
func lines(text string) (out []string) {
	if len(text) > mostText {
		head, tail := edge(text, mostText/2), edge(text, len(text)-mostText/2)
		out = append(lines(text[:head]), text[head:tail])
		return append(out, lines(text[tail:])...)
	}
	at, last := 0, 0 // where the next line and the last one of out begin
	for line := range strings.Lines(text) {
		end := at + len(line)
		if n := len(out); n > 0 && len(strings.TrimSpace(line)) <= shortLine && at-last < longLine &&
			gapOf(out[n-1]) == 0 {
			out[n-1], at = text[last:end], end
			continue
		}
		for end-at > longLine {
			to := edge(text, at+pieceBytes)
			if space := strings.LastIndexAny(text[at:to], " ,;"); space > pieceBytes/2 {
				to = at + space + 1
			}
			out = append(out, text[at:to])
			at = to
		}
		out = append(out, text[at:end])
		at, last = end, at
	}
	return out
}

// edge returns the first position from at on at which a character begins.
func edge(s string, at int) int {
	for at < len(s) && !utf8.RuneStart(s[at]) {
		at++
	}
	return at
}

// bare returns a line without the number that a tool put in front of it ("12→", "12: ", "12\t") and without the white
// space at its end.
func bare(line string) string {
	line = strings.TrimRight(line, " \t\r\n")
	rest := strings.TrimLeft(strings.TrimLeft(line, " \t"), "0123456789")
	if len(rest) < len(line) {
		for _, mark := range [...]string{"→", "\t", ":", "|"} {
			if after, ok := strings.CutPrefix(rest, mark); ok {
				return after
			}
		}
	}
	return line
}

// The marks of lines that were left out: by a Compress, and by an Optimize because they repeated an earlier result.
const (
	markStart, markEnd = "[… ", " omitted]"
	markRepeated       = " as in an earlier result," + markEnd
)

// mark returns the line that stands for n lines.
func mark(n int) string {
	if n == 1 {
		return markStart + "1 line" + markEnd + "\n"
	}
	return markStart + strconv.Itoa(n) + " lines" + markEnd + "\n"
}

// gapOf returns how many lines a mark stands for, 0 for any other line.
func gapOf(line string) int {
	number, ok := strings.CutPrefix(line, markStart)
	number, rest, cut := strings.Cut(number, " line")
	if !ok || !cut {
		return 0
	}
	rest = strings.TrimPrefix(strings.TrimRight(rest, "\r\n"), "s")
	n, err := strconv.Atoi(number)
	if err != nil || n < 1 || n > 1e9 || rest != markEnd && rest != markRepeated {
		return 0
	}
	return n
}
