package config

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/thresh-dev/thresh/internal/nearest"
)

// The check of one value against its row of the registry. It is the only place that knows which Go types stand for
// which [Type], in files, flags, JSON and Go programs alike.

// Check returns v as the Go type of the setting, or an error that says what is allowed. Text is read as the setting's
// type, as it is in the environment; what JSON makes of a value is accepted too. Paths stay as they are.
//
// The types are string (also for a [Name] and a [Path]), bool, int, float64, [time.Duration], []string, and
// [json.RawMessage] for [Objects].
func (s Spec) Check(v any) (any, error) {
	typed, bad := s.check(v, false)
	if bad != nil {
		return nil, bad.in(s, s.Key, Origin{})
	}
	return typed, nil
}

// badValue is what is wrong with a value, before its place is known.
type badValue struct {
	// value is as an error shows it: clipped, and without control characters.
	value   string
	problem string
	nearest string
	// element is the position in a list, -1 if the whole value is meant.
	element int
}

// refuse returns the usual problem of a value. What is allowed instead comes from the setting.
func refuse(v any) *badValue {
	return &badValue{value: show(v), problem: "is not allowed", element: -1}
}

// in returns the error for a bad value of the setting s, which was set under key.
func (b *badValue) in(s Spec, key string, at Origin) *Error {
	if b.element >= 0 {
		key = fmt.Sprintf("%s[%d]", key, b.element)
	}
	// Not even clipped: the first characters of a key are enough to tell whose it is. An address has one in front of an
	// @ or in a query.
	if s.secret || s.Type == URL && strings.ContainsAny(b.value, "@?") {
		b.value, b.problem = "", "is not allowed (the value is not shown, as it might be a key)"
	}
	return &Error{Origin: at, Key: key, Value: b.value, Problem: b.problem, Allowed: s.Want(), Nearest: b.nearest}
}

// check is Check; with strict, as for files, text is accepted for text only: YAML has types of its own. Checks come
// before layers are merged, since only then the place of a value is known, and a wrong value is wrong even where
// another layer hides it.
func (s Spec) check(v any, strict bool) (any, *badValue) {
	switch s.Type {
	case Boolean:
		return s.checkBool(v, strict)
	case Integer:
		return s.checkInt(v, strict)
	case Number:
		return s.checkNumber(v, strict)
	case Duration:
		return s.checkDuration(v)
	case Strings, Paths:
		return s.checkList(v, strict)
	case Objects:
		return checkObjects(v, strict)
	case Scalar:
		return checkScalar(v)
	default:
		return s.checkText(v)
	}
}

// checkBool accepts what [strconv.ParseBool] does from a flag or a variable, and only true and false from a file.
func (s Spec) checkBool(v any, strict bool) (any, *badValue) {
	switch v := v.(type) {
	case bool:
		return v, nil
	case string:
		if b, err := strconv.ParseBool(v); err == nil && !strict {
			return b, nil
		}
	}
	return nil, refuse(v)
}

// checkInt accepts whole numbers of any Go or JSON type. Text counts only where the source has nothing else, so that
// a quoted number in a file is reported instead of being guessed at.
func (s Spec) checkInt(v any, strict bool) (any, *badValue) {
	// Text is tried second: a flag has only text, a file has both.
	n, ok := toInt(v)
	if text, isText := v.(string); isText && !strict {
		parsed, err := strconv.Atoi(text)
		n, ok = parsed, err == nil
	}
	if !ok || !s.inBounds(float64(n)) {
		return nil, refuse(v)
	}
	return n, nil
}

// checkNumber is [Spec.checkInt] for numbers with a fraction. NaN and infinities are never in bounds.
func (s Spec) checkNumber(v any, strict bool) (any, *badValue) {
	f, ok := toFloat(v)
	if text, isText := v.(string); isText && !strict {
		parsed, err := strconv.ParseFloat(text, 64)
		f, ok = parsed, err == nil
	}
	if !ok || !s.inBounds(f) {
		return nil, refuse(v)
	}
	return f, nil
}

// checkDuration accepts text with a unit, also in files: YAML has no durations.
func (s Spec) checkDuration(v any) (any, *badValue) {
	// A bare number is refused: whether it means seconds or milliseconds would be a guess.
	d, ok := v.(time.Duration)
	if text, isText := v.(string); isText {
		parsed, err := time.ParseDuration(text)
		d, ok = parsed, err == nil
	}
	if !ok || !s.inBounds(d.Seconds()) {
		return nil, refuse(v)
	}
	return d, nil
}

// checkText is for all types that stay text. Only a choice among few values has a nearest one to suggest.
func (s Spec) checkText(v any) (any, *badValue) {
	given, ok := v.(string)
	switch {
	// Not text: false in an environment variable is text, in a file it is not.
	case !ok,
		s.Type == Name && !strategyName.MatchString(given),
		// No system has a path with a NUL byte, and errors of the system would name only its beginning.
		s.Type == Path && strings.ContainsRune(given, 0),
		s.valid != nil && !s.valid(given):
		return nil, refuse(v)
	case s.renamed[given] != "": // read as the new value once layers are merged: see [Config.Warnings]
	case len(s.Allowed) > 0 && !slices.Contains(s.Allowed, given):
		bad := refuse(v)
		bad.nearest = nearest.One(given, s.Allowed)
		return nil, bad
	}
	return given, nil
}

// checkList returns a list of strings or paths, checked element by element. The position of a bad element is in the
// error, so that a long list in a file need not be searched.
func (s Spec) checkList(v any, strict bool) (any, *badValue) {
	// Elements are checked like settings of their own.
	element := Spec{Type: String, Allowed: s.Allowed}
	if s.Type == Paths {
		element.Type = Path
	}
	var items []any
	switch v := v.(type) {
	case []any:
		items = v
	case []string:
		for _, text := range v {
			items = append(items, text)
		}
	case string:
		if strict {
			return nil, refuse(v)
		}
		items = s.split(v)
	default:
		return nil, refuse(v)
	}
	// Not nil, even if it is empty: an empty list is a value, and replaces that of a weaker layer.
	list := make([]string, 0, len(items))
	for i, item := range items {
		text, bad := element.checkText(item)
		// In a list an empty path would mean the working directory, which no one writes on purpose.
		if bad == nil && s.Type == Paths && text == "" {
			bad = refuse(item)
		}
		if bad != nil {
			bad.element = i
			return nil, bad
		}
		list = append(list, text.(string))
	}
	return list, nil
}

// checkScalar accepts everything that a strategy's own setting may be. Text stays text: only the strategy knows the
// type.
func checkScalar(v any) (any, *badValue) {
	switch v := v.(type) {
	case string, bool:
		return v, nil
	}
	if n, ok := toInt(v); ok {
		return n, nil
	}
	// NaN and infinities have no form in JSON, in which settings reach a plugin.
	if f, ok := toFloat(v); ok && (Spec{}).inBounds(f) {
		return f, nil
	}
	return nil, refuse(v)
}

// toInt accepts any number without a fraction, because JSON has only one kind of number.
func toInt(v any) (int, bool) {
	switch v := v.(type) {
	case int:
		return v, true
	case int64:
		return int(v), int64(int(v)) == v
	case json.Number:
		if n, err := strconv.Atoi(v.String()); err == nil {
			return n, true
		}
	}
	// Above 2^53 a float64 does not hold every integer, so that it is unknown which one was meant.
	f, ok := toFloat(v)
	if !ok || f != math.Trunc(f) || math.Abs(f) > 1<<53 {
		return 0, false
	}
	return int(f), true
}

// toFloat accepts the number types of Go callers, YAML and JSON.
func toFloat(v any) (float64, bool) {
	switch v := v.(type) {
	case float64:
		return v, true
	case float32:
		return float64(v), true
	case int:
		return float64(v), true
	case int64:
		return float64(v), true
	case uint64:
		return float64(v), true
	case json.Number:
		f, err := v.Float64()
		return f, err == nil
	}
	return 0, false
}
