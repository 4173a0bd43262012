package summary

import (
	"cmp"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/thresh-dev/thresh/sdk"
	"github.com/thresh-dev/thresh/sdk/marks"
	"github.com/thresh-dev/thresh/sdk/tools"
)

const (
	keyLength  = 120 // characters of a path or command
	nameLength = 120 // characters of a tool's name
	// lineBytes is an upper bound for a line's length: four bytes per character.
	lineBytes = 4*(keyLength+nameLength) + 80
	// shortestLine is a lower bound for a line's length in bytes of JSON. Shorter results are never replaced.
	shortestLine = len(`"[ — error, 0 lines]"`)
)

// Line returns the one line that stands for a tool result, for example "[read_file: src/index.ts — success, 245 lines]".
// call is the call that r answers, the zero value if unknown, and own are the lines of r that are marks ([marks.In]). ok
// is false if the result should stay: the line would be longer, the result is such a line already, whose information
// about the original exists nowhere else, or parts of its lines are left out, so nobody can tell how many it had.
func Line(t *tools.Taxonomy, call sdk.ToolCall, r sdk.ToolResponse, own marks.Places) (line string, ok bool) {
	if len(r.Result) < shortestLine {
		return "", false
	}
	result := r.ResultText()
	if IsLine(r.ToolName, result) || marks.ForWhole(r.Result) {
		return "", false
	}
	lines, ok := marks.LinesOf(r.Result, own)
	if !ok {
		return "", false
	}
	key := ""
	if call.Name != "" {
		key = t.Use(call.Name, call.Parameters).Subject
	} else {
		call.Name = r.ToolName
	}
	line = makeLine(r.ToolName, key, t.Judge(call, r).Outcome, lines)
	return line, notLonger(line, r, result)
}

// makeLine returns the line for a result: tool, subject, outcome and length in lines. [tools.LineOutcome] parses what is
// written here; the two change together.
func makeLine(tool, key string, outcome tools.Outcome, lines int) string {
	unit := "lines"
	if lines == 1 {
		unit = "line"
	}
	name := lineName(tool)
	if key = clip(key, keyLength); key != "" {
		name += ": " + key
	}
	return fmt.Sprintf("[%s — %s, %d %s]", name, outcome, lines, unit)
}

// IsLine reports whether the result of a tool is a line that [Line] made. It parses strictly: output that merely
// resembles a line must not be protected from pruning.
func IsLine(tool, result string) bool {
	rest, ok := strings.CutPrefix(result, "["+lineName(tool))
	if !ok || len(result) > lineBytes || !strings.HasPrefix(rest, ": ") && !strings.HasPrefix(rest, " — ") {
		return false
	}
	_, ok = tools.LineOutcome(result)
	return ok
}

func lineName(tool string) string { return cmp.Or(clip(tool, nameLength), "tool") }

// clip returns the first line of s that is not blank, without control characters, cut to length characters. It keeps
// blanks within the line: what is cut here is mostly paths and commands. The length is in characters, and [IsLine]
// relies on the same result each time.
func clip(s string, length int) string {
	s = strings.TrimSpace(s)
	if i := strings.IndexAny(s, "\r\n"); i >= 0 {
		s = s[:i]
	}
	return clipRun(s, length)
}

// clipRun is clip for text of several lines, which it joins. Commands and todos may span lines that matter.
func clipRun(s string, length int) string {
	s = strings.TrimSpace(s)
	if most := utf8.UTFMax * (length + 1); len(s) > most {
		s = s[:most] // a command can be a script of many megabytes
	}
	s = strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return ' '
	}, s)
	if utf8.RuneCountInString(s) > length {
		runes := []rune(s)
		s = strings.TrimRight(string(runes[:length-1]), " ") + "…"
	}
	return strings.TrimSpace(s)
}

// notLonger reports whether line is at most as long as the result that it replaces: as text, in characters and bytes,
// and as JSON. Each is what some host or provider measures, and a replacement must not grow by any of them.
func notLonger(line string, r sdk.ToolResponse, result string) bool {
	return len(line) <= len(result) &&
		len(sdk.ToolResponse{}.WithResultText(line).Result) <= len(r.Result) &&
		(len(result) > utf8.UTFMax*len(line) || utf8.RuneCountInString(line) <= utf8.RuneCountInString(result))
}
