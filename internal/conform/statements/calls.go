package statements

import (
	"encoding/json"
	"regexp"
	"strings"
	"sync"
	"unicode"

	"github.com/thresh-dev/thresh/sdk/content"
)

// patched finds the files that a patch names.
var patched = lazily(`(?m)^\*\*\* (?:Add|Update|Delete) File: (.+?)\r?$`)

// about lists what a sentence may name as the subject of a call: its path, else any of its parameters. A command may
// be a list of words.
func about(call content.ToolCall) []string {
	if p := pathOf(call); p != "" {
		return []string{p}
	}
	var all []string
	for _, s := range content.Literals(call.Parameters) {
		all = append(all, s.Text)
		for _, found := range patched().FindAllStringSubmatch(s.Text, -1) {
			all = append(all, found[1])
		}
	}
	return append(all, strings.Join(all, " "), string(call.Parameters), "")
}

// pathOf returns the path that a call names.
func pathOf(call content.ToolCall) string {
	var parameters map[string]any
	_ = json.Unmarshal(call.Parameters, &parameters)
	for _, key := range []string{"file_path", "absolute_path", "path", "filePath"} {
		if p, ok := parameters[key].(string); ok && p != "" {
			return p
		}
	}
	return ""
}

// plain is a text with blanks for what cannot be printed.
func plain(s string) string {
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return ' '
	}, s))
}

// firstLine is the first line of a text that is not blank.
func firstLine(s string) string {
	s = strings.TrimSpace(s)
	if i := strings.IndexAny(s, "\r\n"); i >= 0 {
		s = s[:i]
	}
	return s
}

// lazily returns what compiles an expression when it is first needed: thresh links this package for one command, and
// every other one would compile them at its start.
func lazily(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}
