package tools

import (
	"strconv"
	"strings"
)

const (
	// An exit line is looked for in the head of a result only: what follows is output, and may say anything.
	headBytes = 4096
	headLines = 10
)

// failed reports whether the result of a call has one of the signs of f.
func (f *Failure) failed(result string) bool {
	for _, p := range f.Prefix {
		if strings.HasPrefix(result, p) {
			return true
		}
	}
	return f.exitLine(result) || f.exitField(result)
}

// exitLine looks for a line such as "exit code: 1" at the head of a result. Only the head: what a command printed may
// say the same.
func (f *Failure) exitLine(result string) bool {
	if len(f.ExitLine) == 0 {
		return false
	}
	n := 0
	for line := range strings.Lines(result[:min(len(result), headBytes)]) {
		if n++; n > headLines {
			break
		}
		for _, p := range f.ExitLine {
			if rest, ok := strings.CutPrefix(line, p); ok {
				if code, ok := leadingInt(rest); ok {
					return code != 0
				}
			}
		}
	}
	return false
}

// leadingInt reads the number that s begins with. One that does not fit is some number other than 0.
func leadingInt(s string) (int, bool) {
	s = strings.TrimLeft(s, " \t")
	end := 0
	for end < len(s) && (s[end] >= '0' && s[end] <= '9' || end == 0 && s[end] == '-') {
		end++
	}
	n, err := strconv.Atoi(s[:end])
	if err != nil && n == 0 {
		return 0, false
	}
	return n, true
}

// exitField looks for an exit code in a result that is a JSON object.
func (f *Failure) exitField(result string) bool {
	if len(f.ExitField) == 0 || !strings.HasPrefix(result, "{") {
		return false
	}
	data := []byte(result)
	for _, field := range f.ExitField {
		v := data
		for name := range strings.SplitSeq(field, ".") {
			v = scan(nil, v, map[string]string{name: name}).get(name)
		}
		if string(v) == "false" {
			return true
		}
		if code, err := strconv.ParseFloat(string(v), 64); err == nil && code != 0 {
			return true
		}
	}
	return false
}
