package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/thresh-dev/thresh/internal/failure"
	"github.com/thresh-dev/thresh/internal/text"
)

// Error is one problem in the configuration. [Load] and [Config.With] join all they find; [errors.As] finds the first.
type Error struct {
	// Origin is where the problem is; in a file, the line of the value, or of the key if the key is wrong.
	Origin Origin
	// Key is the setting, with an index for an element of a list (plugins.dirs[1]); "" for a whole file.
	Key string
	// Value is the bad value, clipped for display; "" if there is none.
	Value string
	// Problem is what is wrong with it; "" if Err says it.
	Problem string
	// Allowed says what is allowed instead; "" if there is nothing to say.
	Allowed string
	// Nearest is what was probably meant; "" if nothing is similar.
	Nearest string
	// Err is the cause, for [errors.Is]: why a file cannot be read, or [ErrFixed]; nil for other problems.
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

func (e *Error) Unwrap() []error {
	if e.Err == nil {
		return []error{errWrong}
	}
	return []error{errWrong, e.Err}
}

// errWrong says of every [*Error] what it is about.
var errWrong = failure.New(failure.Setting, "the configuration is wrong")

// maxProblems bounds what one load reports, to fit a screen, and its work: a file with a million wrong keys must not
// cost a million searches for the nearest key.
const maxProblems = 20

type problems struct {
	// list is in the order in which layers are read.
	list []error
	more int
	keys map[string]bool // settings that have a problem
	// unread is set if a whole file could not be read. References to what it may define are then not checked: one typo
	// would be followed by complaints about every profile in the file.
	unread bool
}

// add notes a problem. Key, which later checks ask for, is the setting's own, without its profile; "" for a whole file.
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

// full reports whether further problems are only counted. Ask before a search for the nearest key.
func (p *problems) full() bool { return len(p.list) == maxProblems }

func (p *problems) err() error {
	if p.more > 0 {
		return errors.Join(append(p.list, fmt.Errorf("and %d more problems", p.more))...)
	}
	return errors.Join(p.list...)
}

// invalid is an error about values, with the log settings that hold in spite of it.
type invalid struct {
	error
	log Log
}

func (e *invalid) Unwrap() error { return e.error }

// LogOf returns the log settings with which an error of [Load] is logged, as far as they could be read; zero for other
// errors.
func LogOf(err error) Log {
	if e, ok := errors.AsType[*invalid](err); ok {
		return e.log
	}
	return Log{}
}

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

// showKey quotes a key with characters that a terminal would interpret.
func showKey(key string) string {
	key = shorten(key)
	if strings.ContainsFunc(key, func(c rune) bool { return c == utf8.RuneError || !strconv.IsPrint(c) }) {
		return strconv.Quote(key)
	}
	return key
}

// maxShown is how many bytes of a value or a key are shown: an error fits on a line.
const maxShown = 80

func shorten(s string) string { return text.Clip(s, maxShown) }
