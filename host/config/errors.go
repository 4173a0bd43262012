package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Error is one thing wrong with the configuration. [Load] and [Config.With] join all that they find; [errors.As] finds
// the first.
type Error struct {
	// Origin is where it was found.
	Origin Origin
	// Key is the setting; "" if a whole file is meant.
	Key string
	// Value is the bad value as it can be shown, cut if long; "" if there is none.
	Value string
	// Problem is what is wrong with it.
	Problem string
	// Allowed says what would be right; "" if there is nothing to say.
	Allowed string
	// Nearest is what was probably meant; "" if nothing comes near.
	Nearest string
	// Err is the cause, for [errors.Is]; nil if the problem was found here.
	Err error
}

// Error returns one line: where, what, what is allowed, and what was probably meant.
func (e *Error) Error() string {
	var b strings.Builder
	for _, part := range []string{e.Origin.place(), showKey(e.Key)} {
		if part != "" {
			b.WriteString(part + ": ")
		}
	}
	if e.Value != "" {
		b.WriteString(e.Value + " ")
	}
	b.WriteString(e.Problem)
	if e.Err != nil {
		b.WriteString(": " + e.Err.Error())
	}
	if e.Allowed != "" {
		b.WriteString("; want " + e.Allowed)
	}
	if e.Nearest != "" {
		b.WriteString("; did you mean " + e.Nearest + "?")
	}
	return b.String()
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// maxProblems bounds what one load reports: nobody reads more, and a file of a million wrong keys must not cost a
// search for the nearest key each.
const maxProblems = 20

// problems collects errors up to maxProblems and counts the rest.
type problems struct {
	list []error
	more int
	keys map[string]bool // settings that have a problem
	// unread says that a whole file is missing from the picture, so that what refers to it cannot be judged.
	unread bool
}

// add takes a function so that an error beyond the limit costs nothing.
func (p *problems) add(key string, build func() *Error) {
	if p.keys == nil {
		p.keys = map[string]bool{}
	}
	if p.full() {
		p.more++
		return
	}
	p.keys[key] = true
	p.list = append(p.list, build())
}

func (p *problems) full() bool { return len(p.list) == maxProblems }

func (p *problems) err() error {
	if p.more > 0 {
		return errors.Join(append(p.list, fmt.Errorf("and %d more problems", p.more))...)
	}
	return errors.Join(p.list...)
}

// show renders a value for an error.
func show(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case string:
		return strconv.Quote(shorten(v))
	case json.RawMessage:
		return shorten(string(v))
	case fmt.Stringer:
		return v.String()
	case []any, []string:
		return "a list"
	case map[string]any:
		return "a table"
	}
	if b, err := json.Marshal(v); err == nil {
		return shorten(string(b))
	}
	return shorten(fmt.Sprint(v))
}

// showKey quotes a key that holds what a terminal should not see.
func showKey(key string) string {
	key = shorten(key)
	if strings.ContainsFunc(key, func(c rune) bool { return c == utf8.RuneError || !strconv.IsPrint(c) }) {
		return strconv.Quote(key)
	}
	return key
}

// maxShown is how many bytes of a value or a key are shown.
const maxShown = 80

func shorten(s string) string {
	if len(s) <= maxShown {
		return s
	}
	cut := maxShown
	for cut > 0 && !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut] + "…"
}
