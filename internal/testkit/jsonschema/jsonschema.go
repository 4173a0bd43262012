// Package jsonschema validates values in tests against the JSON Schemas that thresh prints. It knows the keywords that
// those use, and fails a test for any other, so that no rule of a schema goes unchecked.
package jsonschema

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"reflect"
	"regexp"
	"slices"
	"testing"
	"unicode/utf8"
)

// Schema is a JSON Schema. Use [Parse]. It holds the decoded JSON and nothing derived from it: schemas of tests are
// small, and speed does not matter. The zero value has no keyword and accepts every value.
type Schema struct{ root map[string]any }

// Parse reads a schema and fails the test if it has a keyword that is not known here. A keyword that is ignored, as the
// standard has it for unknown ones, would let a test pass that checks nothing.
func Parse(tb testing.TB, raw []byte) Schema {
	tb.Helper()
	var root map[string]any
	if err := json.Unmarshal(raw, &root); err != nil {
		tb.Fatal(err)
	}
	// Only the first one in the order of the alphabet is named, so that the message is the same in every run.
	if word := unknown(root); word != "" {
		tb.Fatalf("the keyword %q is not checked by this package", word)
	}
	return Schema{root}
}

// Validate returns what is wrong with a value, and where; "" if nothing is. Text that is no JSON is a problem as well,
// and is returned in the words of the decoder. One problem is enough: the first in the order of the fields.
func (s Schema) Validate(raw json.RawMessage) string {
	var v any
	if err := json.Unmarshal(raw, &v); err != nil {
		return err.Error()
	}
	return validate(s.root, v, "")
}

// subschemas returns the schemas directly below a schema. A new keyword with a schema in it must be listed here, or the
// keywords below it are not looked at.
func subschemas(s map[string]any) (out []map[string]any) {
	for _, word := range []string{"if", "then", "not", "items", "propertyNames", "additionalProperties"} {
		// Some of these can be true or false in place of a schema; those have nothing below them.
		if sub, ok := s[word].(map[string]any); ok {
			out = append(out, sub)
		}
	}
	for _, word := range []string{"anyOf", "allOf"} {
		list, _ := s[word].([]any)
		for _, sub := range list {
			out = append(out, sub.(map[string]any))
		}
	}
	for _, word := range []string{"properties", "patternProperties"} {
		// The names are those of fields, not keywords.
		named, _ := s[word].(map[string]any)
		for _, sub := range named {
			out = append(out, sub.(map[string]any))
		}
	}
	return out
}

// words are the keywords that validate checks, or that say nothing about a value. A keyword that is checked below must
// be here as well.
var words = []string{"$schema", "title", "description", "default", "type", "const", "enum", "minLength", "pattern",
	"minimum", "exclusiveMinimum", "maximum", "minItems", "items", "required", "properties", "patternProperties",
	"additionalProperties", "propertyNames", "anyOf", "allOf", "if", "then", "not"}

// unknown returns a keyword of a schema, or of one below it, that validate does not check.
func unknown(s map[string]any) string {
	for _, word := range slices.Sorted(maps.Keys(s)) {
		if !slices.Contains(words, word) {
			return word
		}
	}
	for _, sub := range subschemas(s) {
		if word := unknown(sub); word != "" {
			return word
		}
	}
	return ""
}

// validate returns the first problem of a value at a place, such as ".blocks[0].type"; "" if there is none. Keywords
// that are about another type than the value's say nothing, as the standard has it: "minLength" of a number, for
// example.
func validate(s map[string]any, v any, at string) string {
	// The place stands in front as it is: the whole value has the place "".
	bad := func(format string, args ...any) string { return fmt.Sprintf("%s: ", at) + fmt.Sprintf(format, args...) }
	if want, ok := s["type"]; ok && !isType(want, v) {
		return bad("%v is not of type %v", v, want)
	}
	// Both sides were decoded by encoding/json, so that equal JSON is equal here, whatever the order of fields.
	if want, ok := s["const"]; ok && !reflect.DeepEqual(want, v) {
		return bad("%v is not %v", v, want)
	}
	if list, ok := s["enum"].([]any); ok && !slices.ContainsFunc(list,
		func(e any) bool { return reflect.DeepEqual(e, v) }) {
		return bad("%v is none of %v", v, list)
	}
	// Which form came closest is not known, so that no problem of a single form is reported.
	if list, ok := s["anyOf"].([]any); ok && !slices.ContainsFunc(list, func(sub any) bool {
		return validate(sub.(map[string]any), v, at) == ""
	}) {
		return bad("%v fits none of the forms", v)
	}
	if list, ok := s["allOf"].([]any); ok {
		for _, sub := range list {
			if problem := validate(sub.(map[string]any), v, at); problem != "" {
				return problem
			}
		}
	}
	if sub, ok := s["not"].(map[string]any); ok && validate(sub, v, at) == "" {
		return bad("%v is what it must not be", v)
	}
	// The condition is no demand: a value that does not fit it is fine.
	if sub, ok := s["if"].(map[string]any); ok && validate(sub, v, at) == "" {
		if then, ok := s["then"].(map[string]any); ok {
			if problem := validate(then, v, at); problem != "" {
				return problem
			}
		}
	}
	switch v := v.(type) {
	case string:
		// In characters, not bytes.
		if n, ok := s["minLength"].(float64); ok && utf8.RuneCountInString(v) < int(n) {
			return bad("too short")
		}
		// A match anywhere in the text is enough, as in the standard. The syntax is Go's; our schemas use what both
		// have.
		if pattern, ok := s["pattern"].(string); ok && !regexp.MustCompile(pattern).MatchString(v) {
			return bad("%q does not match %s", v, pattern)
		}
	case float64:
		if n, ok := s["minimum"].(float64); ok && v < n {
			return bad("%v is below %v", v, n)
		}
		if n, ok := s["exclusiveMinimum"].(float64); ok && v <= n {
			return bad("%v is not above %v", v, n)
		}
		if n, ok := s["maximum"].(float64); ok && v > n {
			return bad("%v is above %v", v, n)
		}
	case []any:
		if n, ok := s["minItems"].(float64); ok && len(v) < int(n) {
			return bad("too few elements")
		}
		if items, ok := s["items"].(map[string]any); ok {
			for i, e := range v {
				if problem := validate(items, e, fmt.Sprintf("%s[%d]", at, i)); problem != "" {
					return problem
				}
			}
		}
	case map[string]any:
		return validateObject(s, v, at)
	}
	return ""
}

// validateObject judges the fields of an object. A field that neither properties nor patternProperties name is one of
// additionalProperties. Missing fields are reported before wrong ones: a misspelt field is often both.
func validateObject(s, v map[string]any, at string) string {
	// The standard has these apply to objects alone, so that v is one.
	required, _ := s["required"].([]any)
	for _, name := range required {
		if _, ok := v[name.(string)]; !ok {
			return fmt.Sprintf("%s: %v is missing", at, name)
		}
	}
	properties, _ := s["properties"].(map[string]any)
	patterns, _ := s["patternProperties"].(map[string]any)
	names, _ := s["propertyNames"].(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(v)) {
		place := at + "." + name
		// A nil schema accepts everything.
		if problem := validate(names, name, place); problem != "" {
			return problem
		}
		// A field that properties name is still checked against the patterns: the standard applies both.
		known := false
		if sub, ok := properties[name].(map[string]any); ok {
			if known = true; validate(sub, v[name], place) != "" {
				return validate(sub, v[name], place)
			}
		}
		for pattern, sub := range patterns {
			if regexp.MustCompile(pattern).MatchString(name) {
				known = true
				if problem := validate(sub.(map[string]any), v[name], place); problem != "" {
					return problem
				}
			}
		}
		if known {
			continue
		}
		switch more := s["additionalProperties"].(type) {
		// Without the keyword, and with true, any other field is allowed.
		case bool:
			if !more {
				return place + ": unknown"
			}
		case map[string]any:
			if problem := validate(more, v[name], place); problem != "" {
				return problem
			}
		}
	}
	return ""
}

// isType reports whether a value is of a type, or of one of several. It knows the types that encoding/json makes of
// JSON, and no others.
func isType(want, v any) bool {
	if list, ok := want.([]any); ok {
		return slices.ContainsFunc(list, func(one any) bool { return isType(one, v) })
	}
	switch v := v.(type) {
	case nil:
		return want == "null"
	case bool:
		return want == "boolean"
	case string:
		return want == "string"
	// As the standard has it, 1.0 is an integer.
	case float64:
		return want == "number" || want == "integer" && v == math.Trunc(v)
	case []any:
		return want == "array"
	default:
		return want == "object"
	}
}
