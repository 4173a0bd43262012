package tools

import (
	"strings"

	"github.com/thresh-dev/thresh/sdk/content/rawjson"
)

// commandLine returns the command that l points to: a string, or an array of arguments joined by spaces, without a
// shell with -c, -lc or -Command. Several commands ("commands[]") are joined by newlines.
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

// joinArguments returns "" if one of the arguments is no text.
func joinArguments(v []byte) string {
	var args []string
	for e := range elements(v) {
		s, ok := rawjson.Text(e)
		if !ok {
			return ""
		}
		args = append(args, s)
	}
	// Any program in front: bash, sh and zsh all take the command like that. PowerShell's may have options.
	last := len(args) - 1
	if last == 2 && (args[1] == "-c" || args[1] == "-lc") || last > 1 && args[last-1] == "-Command" {
		return args[last]
	}
	return strings.Join(args, " ")
}

// shellPatch returns the patch that a command hands to apply_patch; "" unless the command begins with apply_patch and
// the patch follows at once, in a here-document or as the argument.
func shellPatch(command string) string {
	rest, ok := strings.CutPrefix(strings.TrimLeft(command, " \t\n"), "apply_patch")
	if !ok {
		return ""
	}
	at := strings.Index(rest, beginPatch)
	if at < 0 {
		return ""
	}
	// Redirections and further commands between the name and the patch could change what happens.
	between := strings.TrimSpace(rest[:at])
	switch {
	// at > 0 demands white space: "apply_patch*** Begin" would be another program's name.
	case between == "" && at > 0, between == `"`, between == "'":
		return rest[at:]
	case strings.HasPrefix(between, "<<") && !strings.ContainsAny(between, "\n;&|>()`$"):
		return rest[at:]
	}
	return ""
}
