package tools

import (
	"bytes"
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/internal/lazyregexp"
	"github.com/thresh-dev/thresh/sdk/content"
)

// Reading is how much of a file the result of a call that reads it shows.
type Reading int

const (
	// ReadNothing: no line of the file. The result is empty, or a sentence stands in its place: that the file is as it
	// was, that it is not there, that the result was cleared.
	ReadNothing Reading = iota
	// ReadPart: some of it, or the result does not say how much.
	ReadPart
	// ReadLine: one line without a number. It may be the whole file, or a sentence that nobody here knows.
	ReadLine
	// ReadWhole: lines, and no sign that any are missing.
	ReadWhole
)

// A sentence in the place of a file is short. A longer result that begins like one may be a file that does.
const maxStub = 2000

// stubs are how results begin, in lower case, that agents give in the place of a file.
var stubs = []string{
	// Claude Code. The first two refer to an earlier result: see references.
	"wasted call — file unchanged", "file unchanged since last read",
	"<system-reminder>warning: the file exists but", "[old tool result content cleared]", "file does not exist",
	"<tool_use_error>",
	// gemini-cli and qwen-code.
	"could not read file because", "file not found",
	// Other agents, and the commands that they run.
	"error:", "enoent", "no such file", "cannot read", "could not read", "failed to read", "permission denied",
	"file is empty", "(file is empty", "[file is empty", "empty file", "(empty", "[empty", "no content", "(no output",
	"(no content", "[tool result", "[result pruned", "[output pruned", "[content removed", "[previous", "[cleared",
}

// cuts are what agents write into a result that they cut, in lower case.
var cuts = lazyregexp.New(`\[truncated: partial view|` +
	`(?:file|content|output)(?: content)? (?:was|has been|is) truncated|` +
	`\[file content truncated|showing lines [0-9]+|[0-9]+ more lines|file has more lines|output capped at|` +
	`<persisted-output>|<response clipped>|observation truncated|<output_head>|<elided_chars>|use offset=`)

// cutWithin is the same for what is between the first and the last lines, where a file may say anything.
var cutWithin = lazyregexp.New(`(?i)[0-9]+ (?:characters|chars|lines|tokens|bytes) (?:were )?(?:truncated|omitted|` +
	`clipped|elided)|\[?(?:truncated|omitted) [0-9]+ (?:characters|chars|lines|tokens|bytes)`)

var numbered = lazyregexp.New(`^[0-9]+(?:\t|→|\||: )`)

// ReadingOf says how much of a file a result shows, of a call that reads one and did not fail. It is the one place that
// decides this. What is in doubt is the lesser. The cost is linear in the result.
func ReadingOf(r content.ToolResponse) Reading {
	parts := newResult(r)
	var lines []string
	long := false
	for i := range parts.texts {
		t := &parts.texts[i]
		short := !t.long && len(t.head) <= maxStub
		if t.head == "" || short && isStub(t.head) {
			continue
		}
		if cuts().MatchString(t.head) || cuts().MatchString(t.tail) || cutWithin().MatchString(t.tail) {
			return ReadPart
		}
		long = long || t.long
		lines = append(lines, t.head)
	}
	switch {
	case len(lines) == 0 && slices.ContainsFunc(parts.objects, isPicture):
		return ReadPart
	case len(lines) == 0:
		return ReadNothing
	case slices.ContainsFunc(words, func(w string) bool { return bytes.Contains(r.Result, []byte(w)) }) &&
		cutWithin().Match(r.Result):
		return ReadPart
	case !long && len(lines) == 1 && !strings.Contains(lines[0], "\n") && !numbered().MatchString(lines[0]):
		return ReadLine
	}
	return ReadWhole
}

// words are those without which cutWithin matches nothing: to look for them costs little.
var words = []string{"truncated", "omitted", "clipped", "elided", "Truncated", "Omitted", "TRUNCATED", "OMITTED"}

func isPicture(o map[string]any) bool {
	kind, typed := o["type"].(string)
	return typed && kind != "text" || o["inlineData"] != nil
}

func isStub(head string) bool {
	return slices.ContainsFunc(stubs, func(s string) bool {
		rest, ok := strings.CutPrefix(head, s)
		return ok && endsWord(s, rest)
	}) || strings.HasPrefix(head, "[file ") && strings.Contains(head, strings.ToLower(reference))
}

// references are how the results begin with which agents refer to an earlier one: the words of Claude Code, which had
// others before, and of qwen-code, which names the file before them.
var references = []string{"Wasted call — file unchanged since your last Read.",
	"File unchanged since last read. The content"}

const reference = " unchanged since last read in this session — the full content was provided earlier"

// Refers reports whether a result only refers to an earlier one with the same parameters. Some agents answer so instead
// of reading a file again that has not changed since.
func Refers(r content.ToolResponse) bool {
	if len(r.Result) > maxStub {
		return false
	}
	text := r.ResultText()
	return slices.ContainsFunc(references, func(begins string) bool { return strings.HasPrefix(text, begins) }) ||
		strings.HasPrefix(text, "[File ") && strings.Contains(text, reference)
}
