package summary

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/thresh-dev/thresh/sdk"
	"github.com/thresh-dev/thresh/sdk/tools"
)

const (
	// keyLength is how much of a path or command a line shows, and nameLength of a tool's name, in characters.
	keyLength  = 120
	nameLength = 120
	// lineBytes is more than any line has: name and key with four bytes a character, and what is around them.
	lineBytes = 4*(keyLength+nameLength) + 80
	// shortestLine is less than any line has, in bytes of JSON.
	shortestLine = len(`"[ — error, 0 lines]"`)
)

const (
	outcomeSuccess = "success"
	outcomeError   = "error"
)

// Line returns the one line that stands for a tool result (REQ-HD-008.3), for example "[read_file: src/index.ts —
// success, 245 lines]". call is the call that r answers, the zero value if it is lost. ok is false if the result should
// stay as it is: the line would be longer, or the result is such a line already, which says of the original what can be
// found nowhere else.
func Line(t *tools.Taxonomy, call sdk.ToolCall, r sdk.ToolResponse) (line string, ok bool) {
	if len(r.Result) < shortestLine {
		return "", false
	}
	result := r.ResultText()
	if IsLine(r.ToolName, result) {
		return "", false
	}
	key := ""
	if call.Name != "" {
		key = t.Use(call.Name, call.Parameters).Subject
	} else {
		call.Name = r.ToolName
	}
	line = makeLine(r.ToolName, key, outcome(t, call, r), result)
	return line, notLonger(line, r, result)
}

// outcome tells success from failure, by the response itself or by what the taxonomy knows of the tool's results.
func outcome(t *tools.Taxonomy, call sdk.ToolCall, r sdk.ToolResponse) string {
	if t.Failed(call, r) {
		return outcomeError
	}
	return outcomeSuccess
}

// makeLine is the line that stands for a result: tool, what it was about, outcome and length.
func makeLine(tool, key, outcome, result string) string {
	lines := strings.Count(result, "\n")
	if !strings.HasSuffix(result, "\n") && result != "" {
		lines++
	}
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

// IsLine reports whether the result of a tool is a line that [Line] made.
func IsLine(tool, result string) bool {
	if len(result) > lineBytes || strings.ContainsAny(result, "\r\n") {
		return false
	}
	rest, ok := strings.CutPrefix(result, "["+lineName(tool))
	if !ok || !strings.HasPrefix(rest, ": ") && !strings.HasPrefix(rest, " — ") {
		return false
	}
	rest, ok = strings.CutSuffix(rest, "]")
	at := strings.LastIndex(rest, " — ")
	if !ok || at < 0 {
		return false
	}
	outcome, size, ok := strings.Cut(rest[at+len(" — "):], ", ")
	if !ok || outcome != outcomeSuccess && outcome != outcomeError {
		return false
	}
	count, unit, _ := strings.Cut(size, " ")
	n, err := strconv.ParseUint(count, 10, 63)
	return err == nil && (unit == "lines" && n != 1 || unit == "line" && n == 1)
}

func lineName(tool string) string { return cmp.Or(clip(tool, nameLength), "tool") }

// clip returns the first line of s that is not blank, without characters that cannot be seen, cut to so many
// characters.
func clip(s string, length int) string {
	s = strings.TrimSpace(s)
	if i := strings.IndexAny(s, "\r\n"); i >= 0 {
		s = s[:i]
	}
	return clipRun(s, length)
}

// clipRun is clip for text of which later lines count as well; they are joined.
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

// notLonger reports whether line is at most as long as the result whose place it takes: as text, in characters and in
// bytes, and as JSON.
func notLonger(line string, r sdk.ToolResponse, result string) bool {
	return len(line) <= len(result) &&
		len(sdk.ToolResponse{}.WithResultText(line).Result) <= len(r.Result) &&
		(len(result) > utf8.UTFMax*len(line) || utf8.RuneCountInString(line) <= utf8.RuneCountInString(result))
}
