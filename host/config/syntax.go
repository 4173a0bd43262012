package config

import (
	"bytes"
	"errors"
	"strconv"
	"strings"

	"github.com/thresh-dev/thresh/internal/lazyregexp"
)

// The YAML library has no error type with a line.
var (
	yamlLine   = lazyregexp.New(`^line (\d+): `)
	yamlAnchor = lazyregexp.New(`^unknown anchor '(.*)' referenced$`)
	// yamlParser matches errors of the library's parser, which counts lines from 0; its scanner counts from 1.
	yamlParser = lazyregexp.New(`^(did not find expected ` +
		`(',' or '[\]}]'|'-' indicator|<document start>|key|node content)` +
		`|found duplicate %(TAG|YAML) directive|found incompatible YAML document|found undefined tag handle)$`)
)

// syntaxError moves the line from the YAML library's message to the error's origin.
func syntaxError(data []byte, err error) *Error {
	e := &Error{Origin: Origin{Line: 1}, Problem: "is not valid YAML"} // the library does not mention the first line
	text := strings.TrimPrefix(err.Error(), "yaml: ")
	if m := yamlLine().FindStringSubmatch(text); m != nil {
		e.Origin.Line, _ = strconv.Atoi(m[1])
		text = text[len(m[0]):]
		if yamlParser().MatchString(text) {
			e.Origin.Line++
		}
	}
	// This message has no line: the alias's first mention is the place.
	if m := yamlAnchor().FindStringSubmatch(text); m != nil {
		before, _, _ := bytes.Cut(data, []byte("*"+m[1]))
		e.Origin.Line = 1 + bytes.Count(before, []byte("\n"))
	}
	// What is missing at the end is reported in the line after it.
	e.Origin.Line = min(e.Origin.Line, 1+bytes.Count(bytes.TrimRight(data, "\n"), []byte("\n")))
	e.Err = errors.New(shorten(text))
	return e
}
