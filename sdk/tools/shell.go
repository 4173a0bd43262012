package tools

import (
	"strings"

	"github.com/thresh-dev/thresh/sdk/content/rawjson"
)

// commandLine returns the command that l points to: a string, or an array of arguments joined by spaces, in which a
// shell with -c or -lc is left out; several commands ("commands[]") are joined by newlines.
func (l locator) commandLine(p params) string {
	var lines []string
	for v := range l.values(p) {
		line, ok := rawjson.Text(v)
		if !ok {
			line = joinArguments(v)
		}
		if line != "" {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "\n")
}

// joinArguments makes a command line of an array of arguments; "" if one of them is no text.
func joinArguments(v []byte) string {
	var args []string
	for e := range elements(v) {
		s, ok := rawjson.Text(e)
		if !ok {
			return ""
		}
		args = append(args, s)
	}
	if len(args) == 3 && (args[1] == "-c" || args[1] == "-lc") {
		return args[2]
	}
	return strings.Join(args, " ")
}

// shellPatch returns the patch that a command hands to apply_patch, "" unless the command begins with apply_patch and
// the patch follows at once, in a here-document or as the argument. Anything less simple is not looked into.
func shellPatch(command string) string {
	rest, ok := strings.CutPrefix(strings.TrimLeft(command, " \t\n"), "apply_patch")
	if !ok {
		return ""
	}
	at := strings.Index(rest, beginPatch)
	if at < 0 {
		return ""
	}
	between := strings.TrimSpace(rest[:at])
	switch {
	case between == "" && at > 0, between == `"`, between == "'":
		return rest[at:]
	case strings.HasPrefix(between, "<<") && !strings.ContainsAny(between, "\n;&|>()`$"):
		return rest[at:]
	}
	return ""
}
