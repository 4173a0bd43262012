package tools

import (
	_ "embed"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// Agents report failure in their own words, and few mark it apart from the result. A write that failed has not changed
// its file, so that earlier reads of it stay valid: an unnoticed failure would prune them.

const (
	// An exit line is looked for in the head of a result only: what follows is output, and may say anything.
	headBytes = 4096
	headLines = 10
)

//go:embed failure.json
var commonFailure []byte

// commonSigns are the signs of a failed write that all agents share, whatever their rules say. They are data, in
// failure.json, next to those of each agent.
var commonSigns = sync.OnceValue(func() *signs {
	var f Failure
	if err := json.Unmarshal(commonFailure, &f); err != nil {
		panic("tools: failure.json: " + err.Error()) // built in, and tested
	}
	return newSigns(&f)
})

// all returns everything that f lists. Validation and tests look through it.
func (f *Failure) all() []string {
	all := slices.Concat(f.ExitLine, f.ExitField, f.ErrorField, f.Prefix, f.FirstLine)
	for name, values := range f.FieldValue {
		all = append(append(all, name), values...)
	}
	return all
}

// signs is a [Failure] made ready: its texts are in lower case. Results are compared in lower case too, as agents
// differ in it. It is made once for each taxonomy and is safe for concurrent use.
type signs struct {
	exitLine, prefix, firstLine []string
	exitField, errorField       [][]string // the names on the way to a member
	fieldValue                  []fieldValue
}

// path leads to a member of an object, values are its texts that mean failure. Paths are split at dots:
// "metadata.exit_code" is a member of a member.
type fieldValue struct {
	path   []string
	values []string
}

// newSigns shares nothing with f that the caller could change.
func newSigns(f *Failure) *signs {
	s := &signs{exitLine: lower(f.ExitLine), prefix: lower(f.Prefix), firstLine: lower(f.FirstLine)}
	for _, name := range f.ExitField {
		s.exitField = append(s.exitField, strings.Split(name, "."))
	}
	for _, name := range f.ErrorField {
		s.errorField = append(s.errorField, strings.Split(name, "."))
	}
	for name, values := range f.FieldValue {
		s.fieldValue = append(s.fieldValue, fieldValue{strings.Split(name, "."), lower(values)})
	}
	return s
}

// lower returns a copy in lower case.
func lower(texts []string) []string {
	out := make([]string, len(texts))
	for i, text := range texts {
		out[i] = strings.ToLower(text)
	}
	return out
}

// in reports whether a result has one of the signs. Any text and any object in a result: some agents put both next to
// each other.
func (s *signs) in(r *result) bool {
	return slices.ContainsFunc(r.texts, s.inText) || slices.ContainsFunc(r.objects, s.inObject)
}

// inText looks at the head of a text, which is in lower case.
func (s *signs) inText(text string) bool {
	first, _, _ := strings.Cut(text, "\n")
	first, _, _ = strings.Cut(first, " ")
	for _, p := range s.prefix {
		// "*error:" stands for the first word of Python's exceptions, such as "valueerror:".
		if end, ok := strings.CutPrefix(p, "*"); ok && strings.HasSuffix(first, end) {
			return true
		}
		if rest, ok := strings.CutPrefix(text, p); ok && endsWord(p, rest) {
			return true
		}
	}
	// Signs of a first line may stand anywhere in it.
	if len(s.firstLine) > 0 {
		line, _, _ := strings.Cut(text, "\n")
		if slices.ContainsFunc(s.firstLine, func(sign string) bool { return holds(line, sign) }) {
			return true
		}
	}
	return s.inExitLine(text)
}

// holds reports whether a sign stands in a line. One that ends in a letter or digit must be a word of its own there:
// "eexist" is no sign in "fileexists.ts".
func holds(line, sign string) bool {
	// Runes and not bytes: results are in any language.
	first, _ := utf8.DecodeRuneInString(sign)
	last, _ := utf8.DecodeLastRuneInString(sign)
	for {
		before, rest, ok := strings.Cut(line, sign)
		if !ok {
			return false
		}
		left, _ := utf8.DecodeLastRuneInString(before)
		// A sign that ends in punctuation needs no border.
		if !isWord(last) || endsWord(sign, rest) && (!isWord(first) || !isWord(left)) {
			return true
		}
		line = line[len(before)+1:] // signs are not empty
	}
}

// endsWord reports whether a word that begins with sign ends with it, too: "error" is no sign in "error_test.go".
func endsWord(sign, rest string) bool {
	last, _ := utf8.DecodeLastRuneInString(sign)
	if !isWord(last) {
		return true
	}
	next, size := utf8.DecodeRuneInString(rest)
	after, _ := utf8.DecodeRuneInString(rest[size:])
	return size == 0 || !isWord(next) && (!strings.ContainsRune("./-", next) || !isWord(after))
}

// RuneError, which ends of texts give, is none.
func isWord(r rune) bool {
	return r == '_' || r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r))
}

// inExitLine looks for a line such as "exit code: 1" at the head of a result.
func (s *signs) inExitLine(text string) bool {
	if len(s.exitLine) == 0 {
		return false
	}
	n := 0
	for line := range strings.Lines(text) {
		if n++; n > headLines {
			break
		}
		for _, p := range s.exitLine {
			if rest, ok := strings.CutPrefix(line, p); ok {
				if code, ok := leadingInt(rest); ok {
					// The first exit line decides: what follows is output.
					return code != 0
				}
			}
		}
	}
	return false
}

// leadingInt reads the number that s begins with. One that does not fit is some number other than 0. Blanks before it
// are skipped. ok is false if there is no number.
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

// inObject looks at the members of an object.
func (s *signs) inObject(o map[string]any) bool {
	for _, path := range s.exitField {
		// Not a success, or an exit code.
		switch v := memberOf(o, path).(type) {
		case bool:
			if !v {
				return true
			}
		// encoding/json makes every number one.
		case float64:
			if v != 0 {
				return true
			}
		}
	}
	for _, path := range s.errorField {
		switch v := memberOf(o, path).(type) {
		// Absent or null: no error.
		case nil:
		case bool:
			if v {
				return true
			}
		case float64:
			if v != 0 {
				return true
			}
		case string:
			if v != "" {
				return true
			}
		case []any:
			if len(v) > 0 {
				return true
			}
		case map[string]any:
			if len(v) > 0 {
				return true
			}
		}
	}
	return slices.ContainsFunc(s.fieldValue, func(f fieldValue) bool {
		text, ok := memberOf(o, f.path).(string)
		return ok && slices.Contains(f.values, strings.ToLower(text))
	})
}

// memberOf returns the member that a path leads to, nil if there is none.
func memberOf(o map[string]any, path []string) any {
	v := o[path[0]]
	for _, name := range path[1:] {
		inner, ok := v.(map[string]any)
		if !ok {
			return nil
		}
		v = inner[name]
	}
	return v
}
