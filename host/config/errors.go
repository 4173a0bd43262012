package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/thresh-dev/thresh/internal/text"
)

// Error is one problem in the configuration. [Load] and [Config.With] join all that they find; [errors.As] finds the
// first.
type Error struct {
	// Origin is where the problem is. For a value from a file: the line of the value, or of its key if the key is what
	// is wrong.
	Origin Origin
	// Key is the setting; "" if the problem is a whole file. With an index for an element of a list: plugins.dirs[1].
	Key string
	// Value is the bad value, clipped and fit to be shown; "" if there is none.
	Value string
	// Problem is what is wrong with it; "" if Err says it.
	Problem string
	// Allowed says what is allowed instead; "" if there is nothing to say.
	Allowed string
	// Nearest is what was probably meant; "" if nothing is similar.
	Nearest string
	// Err is the cause, for [errors.Is]: that of a file that cannot be read, or [ErrFixed]; nil for other problems.
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
	if e.Err != nil && e.Problem != "" {
		b.WriteString(": ")
	}
	if e.Err != nil {
		b.WriteString(e.Err.Error())
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

// maxProblems bounds what one load reports. It also bounds the work: a file with a million wrong keys must not cost a
// search for the nearest key for each of them. 20 fit a screen.
const maxProblems = 20

// problems collects errors up to maxProblems and counts the rest.
type problems struct {
	// In the order in which layers are read.
	list []error
	// more counts what was found beyond maxProblems.
	more int
	keys map[string]bool // settings that have a problem
	// unread is set if a whole file could not be read, so that references to what it may define cannot be checked.
	// Without it a typo in one file would be followed by complaints about every profile that the file defines.
	unread bool
}

// add notes a problem with a setting. Key is what later checks ask for: the setting's own key, without the profile
// that it is in, or "" for a whole file.
func (p *problems) add(key string, e *Error) {
	if p.full() {
		p.more++
		return
	}
	if p.keys == nil {
		p.keys = map[string]bool{}
	}
	p.keys[key] = true
	p.list = append(p.list, e)
}

// full reports whether further problems are only counted. Where a search for the nearest key would come first, ask
// before it.
func (p *problems) full() bool { return len(p.list) == maxProblems }

// err joins the problems; nil if there are none.
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
	// Their content is left out: a wrong list may be long, and its kind is what is wrong.
	case []any, []string:
		return "a list"
	case map[string]any:
		return "a table"
	}
	// Numbers and truth values as they are written in YAML and JSON.
	if b, err := json.Marshal(v); err == nil {
		return shorten(string(b))
	}
	return shorten(fmt.Sprint(v))
}

// showKey quotes a key that holds characters which a terminal would interpret.
func showKey(key string) string {
	key = shorten(key)
	if strings.ContainsFunc(key, func(c rune) bool { return c == utf8.RuneError || !strconv.IsPrint(c) }) {
		return strconv.Quote(key)
	}
	return key
}

// maxShown is how many bytes of a value or a key are shown. Long enough for a key and short enough that an error
// stays one line.
const maxShown = 80

// shorten clips a text that may be of any length, as values in a stranger's file may be.
func shorten(s string) string { return text.Clip(s, maxShown) }
