package config

import (
	"bytes"
	"errors"
	"regexp"
	"strconv"
	"strings"
)

// The messages of the YAML library (go.yaml.in), which has no error type with a line.
var (
	yamlLine   = regexp.MustCompile(`^line (\d+): `)
	yamlAnchor = regexp.MustCompile(`^unknown anchor '(.*)' referenced$`)
	// yamlParser matches errors of the YAML library's parser. It counts lines from 0, and its scanner from 1.
	yamlParser = regexp.MustCompile(`^(did not find expected ` +
		`(',' or '[\]}]'|'-' indicator|<document start>|key|node content)` +
		`|found duplicate %(TAG|YAML) directive|found incompatible YAML document|found undefined tag handle)$`)
)

// syntaxError takes the line out of the YAML library's message, so that it stands where all lines stand.
func syntaxError(data []byte, err error) *Error {
	e := &Error{Origin: Origin{Line: 1}, Problem: "is not valid YAML"} // The library says nothing of the first line.
	text := strings.TrimPrefix(err.Error(), "yaml: ")
	if m := yamlLine.FindStringSubmatch(text); m != nil {
		e.Origin.Line, _ = strconv.Atoi(m[1])
		text = text[len(m[0]):]
		if yamlParser.MatchString(text) {
			e.Origin.Line++
		}
	}
	// This message has no line. The first mention of the alias is the place.
	if m := yamlAnchor.FindStringSubmatch(text); m != nil {
		before, _, _ := bytes.Cut(data, []byte("*"+m[1]))
		e.Origin.Line = 1 + bytes.Count(before, []byte("\n"))
	}
	// What is missing at the end is missed in the line after it.
	e.Origin.Line = min(e.Origin.Line, 1+bytes.Count(bytes.TrimRight(data, "\n"), []byte("\n")))
	e.Err = errors.New(shorten(text))
	return e
}
