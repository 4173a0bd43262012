package marks

import (
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/thresh-dev/thresh/sdk/content"
	"github.com/thresh-dev/thresh/sdk/tools"
)

// What the host writes to make room: RemovedResult begins the line in place of a result, RemovedBytes is in the line in
// place of a result's middle.
const (
	RemovedResult = "[result removed"
	RemovedBytes  = " bytes removed here to stay under the context limit: entry "
)

// A mark is a line of its own:
//
//	[… 14 lines omitted]
//	[… 230 characters omitted within the line]             between the line before and the line behind, which were one
//	[… 230 characters omitted, to the end of the line]     of the line before
//	[… 230 characters omitted, from the start of the line] of the line behind
//
// From these follows how many lines a text had, whatever was left out of it, in any number of steps.
const (
	start  = tools.Omission
	end    = "]"
	within = " omitted within the line"
	toEnd  = " omitted, to the end of the line"
	toHead = " omitted, from the start of the line"
	gone   = " omitted"
)

// Lines returns how many lines a text has; an unterminated last line counts.
func Lines(text string) int {
	n := strings.Count(text, "\n")
	if text != "" && text[len(text)-1] != '\n' {
		n++
	}
	return n
}

// Omitted returns the mark for so many lines, with a line break.
func Omitted(lines int) string { return start + count(lines, "line") + gone + end + "\n" }

func count(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return strconv.Itoa(n) + " " + noun
}

// Cut returns the marks in place of text[from:to], and how many whole lines that is. A removed mark counts for what it
// says. It must not be removed without the parts of lines next to it: see [Joins].
func Cut(text string, from, to int) (marks string, lines int) {
	head, tail := "", ""
	// A part of a line at either end; both ends may be within the same line.
	if from > 0 && text[from-1] != '\n' {
		end, where := to, within
		if n := strings.IndexByte(text[from:to], '\n'); n >= 0 || to == len(text) {
			where = toEnd
			if n >= 0 {
				end = from + n + 1
			}
		}
		head = part(text[from:end], where)
		from = end
	}
	if from < to && to < len(text) && text[to-1] != '\n' {
		begin := from + strings.LastIndexByte(text[from:to], '\n') + 1
		tail = part(text[begin:to], toHead)
		to = begin
	}
	if lines = LinesIn(text[from:to]); lines > 0 {
		head += Omitted(lines)
	}
	return head + tail, lines
}

// part does not count the line break: a mark ends in one, too.
func part(s, where string) string {
	return start + count(utf8.RuneCountInString(strings.TrimSuffix(s, "\n")), "character") + where + end + "\n"
}

// Read returns how many lines a line adds to its text, if it is a mark: those that it says are omitted; 0 for a part of
// a line, and -1 for a part between two others.
func Read(line string) (lines int, ok bool) {
	if !Like(line) {
		return 0, false
	}
	if line = strings.TrimRight(line, "\r\n"); line[len(line)-1] != ']' {
		return 0, false
	}
	if r, ok := ReadReference(line); ok {
		return r.To - r.From + 1, true
	}
	said := line[len(start) : len(line)-len(end)]
	for _, form := range [...]struct {
		end, noun string
		lines     int
	}{{gone, "line", 0}, {within, "character", -1}, {toEnd, "character", 0}, {toHead, "character", 0}} {
		said, ok := strings.CutSuffix(said, form.end)
		if !ok {
			continue
		}
		number, _, _ := strings.Cut(said, " ")
		n, err := strconv.Atoi(number)
		if err != nil || n < 0 || n > 1e9 || count(n, form.noun) != said { // one form only
			continue
		}
		if form.noun == "line" {
			return n, n > 0
		}
		return form.lines, true
	}
	return 0, false
}

// Like reports whether a line could be taken for a mark.
func Like(line string) bool { return strings.HasPrefix(line, start) }

// Joins reports whether a line is a mark for a part of a line, and on which sides of it the other parts are.
func Joins(line string) (before, behind bool) {
	if _, ok := Read(line); !ok {
		return false, false
	}
	line = strings.TrimRight(line, "\r\n")
	switch {
	case strings.HasSuffix(line, within+end):
		return true, true
	case strings.HasSuffix(line, toEnd+end):
		return true, false
	}
	return false, strings.HasSuffix(line, toHead+end)
}

// LinesIn returns how many lines a text had before lines were left out of it, if all that reads like a mark is one.
func LinesIn(text string) (n int) {
	for line := range strings.Lines(text) {
		if lines, ok := Read(line); ok {
			n += lines
		} else {
			n++
		}
	}
	return n
}

// LinesOf returns how many lines a result had when it came: the lines of the strings in it. own are its marks. ok is
// false if that cannot be told because the host cut its middle out.
func LinesOf(result json.RawMessage, own Places) (n int, ok bool) {
	lines := ResultLines(result)
	for _, at := range own {
		if at > 0 && at <= len(lines) && strings.Contains(lines[at-1], RemovedBytes) {
			return 0, false
		}
	}
	return own.LinesIn(lines, 1), true
}

// ForWhole reports whether a whole result is a sentence in its place: the pointer, or what the host wrote to make room.
// No line of it is the tool's, and nothing in it can be left out.
func ForWhole(result json.RawMessage) bool {
	const longest = 512
	if len(result) > longest || len(result) < 2 || result[0] != '"' || result[1] != '[' {
		return false
	}
	text := content.ToolResponse{Result: result}.ResultText()
	return text == tools.Pruned || strings.HasPrefix(text, RemovedResult) && strings.HasSuffix(text, "]")
}

// The line in place of a file that a person included, around its path. inclusionEnd is replaced by inclusionAlone if
// the later inclusion is removed.
const (
	inclusion      = "[Earlier inclusion of "
	inclusionEnd   = " removed — included again later]"
	inclusionAlone = " removed]"
)

// Inclusion returns the line in place of an inclusion of a file that is included again later.
func Inclusion(path string) string { return inclusion + path + inclusionEnd }

// InclusionAlone returns that line once the later inclusion is gone.
func InclusionAlone(path string) string { return inclusion + path + inclusionAlone }

// ReadInclusion is the inverse of Inclusion.
func ReadInclusion(line string) (path string, ok bool) {
	path, ok = strings.CutPrefix(line, inclusion)
	if !ok {
		return "", false
	}
	path, ok = strings.CutSuffix(path, inclusionEnd)
	return path, ok && path != ""
}

// Around a summary of earlier conversation. A strategy that adds an entry in the name of a person begins it with such a
// snapshot.
const (
	SnapshotStart = "<state_snapshot>"
	SnapshotEnd   = "</state_snapshot>"
)

// Snapshot reports whether a text begins with a closed state snapshot.
func Snapshot(text string) bool {
	body, ok := strings.CutPrefix(strings.TrimSpace(text), SnapshotStart)
	return ok && strings.Contains(body, SnapshotEnd)
}
