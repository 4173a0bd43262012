package marks

import (
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/thresh-dev/thresh/sdk/content"
	"github.com/thresh-dev/thresh/sdk/tools"
)

// What the host writes to make room: RemovedResult begins the line in the place of a result, RemovedBytes is in the
// line in the place of the middle of one.
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
// So it can be told how many lines a text had, whatever was left out of it, and in how many steps.
const (
	start  = tools.Omission
	end    = "]"
	within = " omitted within the line"
	toEnd  = " omitted, to the end of the line"
	toHead = " omitted, from the start of the line"
	gone   = " omitted"
)

// Lines returns how many lines a text has: what is behind its last line break is one if it is not empty.
func Lines(text string) int {
	n := strings.Count(text, "\n")
	if text != "" && text[len(text)-1] != '\n' {
		n++
	}
	return n
}

// Omitted returns the mark of so many lines, with a line break.
func Omitted(lines int) string { return start + count(lines, "line") + gone + end + "\n" }

func count(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return strconv.Itoa(n) + " " + noun
}

// Cut returns the marks in the place of text[from:to], and how many lines that is: lines of which a part stays do not
// count. A mark that goes counts for what it stands for. It must not go without the parts of lines next to it: see
// [Joins].
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

// part returns the mark of a part of a line. Its line break does not count: a mark ends in one, too.
func part(s, where string) string {
	return start + count(utf8.RuneCountInString(strings.TrimSuffix(s, "\n")), "character") + where + end + "\n"
}

// Read returns how many lines a line adds to the text that it stands in, if it is a mark: those that it stands for; 0
// for a part of a line, and one less than none for a part between two others.
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

// Joins reports whether a line is a mark of a part of a line: one of which a part stands before it, behind it.
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

// LinesIn returns how many lines a text had before lines were left out of it.
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

// LinesOf returns how many lines a result had when it came: those of its texts, which are the strings in it. ok is
// false if that cannot be told: the host cut its middle out.
func LinesOf(result json.RawMessage) (n int, ok bool) {
	for _, s := range content.Literals(result) {
		if strings.Contains(s.Text, RemovedBytes) {
			return 0, false
		}
		n += LinesIn(s.Text)
	}
	return n, true
}

// ForWhole reports whether a whole result is a sentence that stands for it: the pointer, or what the host wrote to make
// room. There is nothing in it to leave out, and no line of it is one of the tool's.
func ForWhole(result json.RawMessage) bool {
	const longest = 512
	if len(result) > longest || len(result) < 2 || result[0] != '"' || result[1] != '[' {
		return false
	}
	text := content.ToolResponse{Result: result}.ResultText()
	return text == tools.Pruned || strings.HasPrefix(text, RemovedResult) && strings.HasSuffix(text, "]")
}

// The line in the place of a file that a person included, around its path: the file is included again later. If it is
// no longer, the line says less.
const (
	inclusion      = "[Earlier inclusion of "
	inclusionEnd   = " removed — included again later]"
	inclusionAlone = " removed]"
)

// Inclusion returns the line in the place of an inclusion of a file that is included again later.
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
