package tools

import (
	_ "embed"
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// Agents report failure in their own words, and few mark it apart from the result. A failed write has not changed its
// file, so earlier reads of it are still valid: an unnoticed failure would prune them.

const (
	// What lies between the head and the tail of a result is output, and may say anything.
	headBytes, tailBytes = 4096, 1024
	headLines, tailLines = 10, 6
)

//go:embed failure.json
var commonFailure []byte

// shared are the signs of a failure that all agents share, whatever their rules say.
type shared struct {
	every *signs // of every tool
	write *signs // of a tool that writes files; wide on purpose
}

var commonSigns = sync.OnceValue(func() (s shared) {
	var f struct{ Every, Write Failure }
	if err := json.Unmarshal(commonFailure, &f); err != nil {
		panic("tools: failure.json: " + err.Error()) // built in, and tested
	}
	return shared{newSigns(&f.Every), newSigns(&f.Write)}
})

func (f *Failure) all() []string {
	all := slices.Concat(f.ExitLine, f.LastExitLine, f.ExitField, f.ErrorField, f.Prefix, f.FirstLine, f.LastLine, f.Tag,
		f.Running, f.Done, f.Silent)
	for name, values := range f.FieldValue {
		all = append(append(all, name), values...)
	}
	return all
}

// signs is a compiled [Failure], in lower case, as results are compared: agents differ in it. It is safe for concurrent
// use.
type signs struct {
	exitLine, lastExitLine, running, lastLine, done, silent []linePattern
	prefix, firstLine, tag                                  []string
	exitField, errorField                                   [][]string // the names on the way to a member
	fieldValue                                              []fieldValue
}

// fieldValue has a member's path, split at dots, and its texts that mean failure.
type fieldValue struct {
	path   []string
	values []string
}

// newSigns shares nothing with f that the caller could change.
func newSigns(f *Failure) *signs {
	s := &signs{
		exitLine: linePatterns(f.ExitLine), lastExitLine: linePatterns(f.LastExitLine), running: linePatterns(f.Running),
		lastLine: linePatterns(f.LastLine), done: linePatterns(f.Done), silent: linePatterns(f.Silent),
		prefix: lower(f.Prefix), firstLine: lower(f.FirstLine), tag: lower(f.Tag),
	}
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

func lower(texts []string) []string {
	out := make([]string, len(texts))
	for i, text := range texts {
		out[i] = strings.ToLower(text)
	}
	return out
}

func (s *signs) inText(t *printedText) bool {
	line, _, _ := strings.Cut(t.head, "\n")
	first, _, _ := strings.Cut(line, " ")
	for _, p := range s.prefix {
		// "*error:" is the first word of Python's exceptions, such as "valueerror:".
		if end, ok := strings.CutPrefix(p, "*"); ok && strings.HasSuffix(first, end) {
			return true
		}
		if rest, ok := strings.CutPrefix(t.head, p); ok && endsWord(p, rest) {
			return true
		}
	}
	return slices.ContainsFunc(s.firstLine, func(sign string) bool { return holds(line, sign) }) || s.inTag(t)
}

func (s *signs) inTag(t *printedText) bool {
	return slices.ContainsFunc(s.tag, func(name string) bool {
		return strings.HasPrefix(t.head, "<"+name+">") && strings.HasSuffix(t.tail, "</"+name+">")
	})
}

// holds reports whether a sign is in a line. One that ends in a letter or digit must be a whole word: "eexist" is no
// sign in "fileexists.ts".
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

// endsWord reports whether a word that begins with sign also ends with it: "error" is no sign in "error_test.go".
func endsWord(sign, rest string) bool {
	last, _ := utf8.DecodeLastRuneInString(sign)
	if !isWord(last) {
		return true
	}
	next, size := utf8.DecodeRuneInString(rest)
	after, _ := utf8.DecodeRuneInString(rest[size:])
	return size == 0 || !isWord(next) && (!strings.ContainsRune("./-", next) || !isWord(after))
}

// RuneError is what the ends of texts give.
func isWord(r rune) bool {
	return r == '_' || r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r))
}

// inObject looks at the members of an object. exited reports whether they say how the call ended.
func (s *signs) inObject(o map[string]any) (failed, exited bool) {
	for _, path := range s.exitField {
		// A success flag, or an exit code. encoding/json makes every number a float64.
		switch v := memberOf(o, path).(type) {
		case bool:
			failed, exited = failed || !v, true
		case float64:
			failed, exited = failed || v != 0, true
		}
	}
	failed = failed ||
		slices.ContainsFunc(s.errorField, func(path []string) bool { return !blank(memberOf(o, path)) }) ||
		slices.ContainsFunc(s.fieldValue, func(f fieldValue) bool {
			text, ok := memberOf(o, f.path).(string)
			return ok && slices.Contains(f.values, strings.ToLower(text))
		})
	return failed, exited || failed
}

func blank(v any) bool {
	switch v := v.(type) {
	case bool:
		return !v
	case float64:
		return v == 0
	case string:
		return v == ""
	case []any:
		return len(v) == 0
	case map[string]any:
		return len(v) == 0
	}
	return true // absent or null
}

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
