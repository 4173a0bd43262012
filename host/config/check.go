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

// The check of one value against its registry row: the only place that knows which Go types belong to which [Type].

// Check returns v as the Go type of the setting, or an error that says what is allowed. The types are string (also for
// a [Name] and a [Path]), bool, int, float64, [time.Duration], []string, and [json.RawMessage] for [Objects]. Text is
// read as in the environment, and values as JSON decodes them are accepted. Paths are not resolved.
func (s Spec) Check(v any) (any, error) {
	typed, bad := s.check(v, false)
	if bad != nil {
		return nil, bad.in(s, s.Key, Origin{})
	}
	return typed, nil
}

// badValue is what is wrong with a value, before its place is known.
type badValue struct {
	// value is clipped for display, without control characters.
	value   string
	problem string
	nearest string
	// element is the position in a list, -1 if the whole value is meant.
	element int
}

// refuse returns the usual problem of a value; the setting adds what is allowed.
func refuse(v any) *badValue {
	return &badValue{value: show(v), problem: "is not allowed", element: -1}
}

// in returns the error for a bad value of the setting s, which was set under key.
func (b *badValue) in(s Spec, key string, at Origin) *Error {
	if b.element >= 0 {
		key = fmt.Sprintf("%s[%d]", key, b.element)
	}
	// Not even clipped: a key's first characters show whose it is. An address has a key before an @ or in a query.
	if s.secret || s.Type == URL && strings.ContainsAny(b.value, "@?") {
		b.value, b.problem = "", "is not allowed (the value is not shown, as it might be a key)"
	}
	return &Error{Origin: at, Key: key, Value: b.value, Problem: b.problem, Allowed: s.Want(), Nearest: b.nearest}
}

// check is Check. With strict, as for files, text is accepted only where the setting is text, as YAML has types of its
// own. Each layer is checked before merging: a wrong value is wrong even where another layer hides it.
func (s Spec) check(v any, strict bool) (any, *badValue) {
	typed, bad := s.typed(v, strict)
	if _, isText := v.(string); bad != nil && strict && isText &&
		(s.Type == Boolean || s.Type == Integer || s.Type == Number) {
		if _, unquoted := s.typed(v, false); unquoted == nil {
			bad.problem = "is text because of its quotes; write it without them"
		}
	}
	return typed, bad
}

func (s Spec) typed(v any, strict bool) (any, *badValue) {
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

// checkInt accepts whole numbers of any Go or JSON type. A quoted number in a file is refused.
func (s Spec) checkInt(v any, strict bool) (any, *badValue) {
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

// checkDuration accepts text with a unit, also in files. A bare number is refused: it could be seconds or milliseconds.
func (s Spec) checkDuration(v any) (any, *badValue) {
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

func (s Spec) checkText(v any) (any, *badValue) {
	given, ok := v.(string)
	switch {
	case !ok,
		s.Type == Name && !strategyName().MatchString(given),
		// No system has a path with a NUL byte, and the system's errors would show only what precedes it.
		s.Type == Path && strings.ContainsRune(given, 0),
		s.valid != nil && !s.valid(given):
		return nil, refuse(v)
	case len(s.Allowed) > 0 && !slices.Contains(s.Allowed, given):
		bad := refuse(v)
		bad.nearest = nearest.One(given, s.Allowed)
		return nil, bad
	case s.judge != nil:
		if err := s.judge(given); err != nil {
			return nil, &badValue{value: show(v), problem: err.Error(), element: -1}
		}
	}
	return given, nil
}

// checkList checks a list of strings or paths element by element. Its error has the position of the bad element.
func (s Spec) checkList(v any, strict bool) (any, *badValue) {
	element := Spec{Type: String, Allowed: s.Allowed, judge: s.judge}
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
	if s.most > 0 && len(items) > s.most {
		return nil, &badValue{problem: fmt.Sprintf("has %d elements, more than %d", len(items), s.most), element: -1}
	}
	// Not nil, even if empty: an empty list is a value, and replaces the list of a weaker layer.
	list := make([]string, 0, len(items))
	for i, item := range items {
		text, bad := element.checkText(item)
		// An empty path in a list would mean the working directory; it is surely a mistake.
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

// checkScalar accepts what a strategy's own setting may be. Text stays text: only the strategy knows the type.
func checkScalar(v any) (any, *badValue) {
	switch v := v.(type) {
	case string, bool:
		return v, nil
	}
	if n, ok := toInt(v); ok {
		return n, nil
	}
	// JSON, in which plugins get their settings, has no NaN or infinities.
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
	// Above 2^53 a float64 does not hold every integer, so which one was meant is unknown.
	f, ok := toFloat(v)
	if !ok || f != math.Trunc(f) || math.Abs(f) > 1<<53 {
		return 0, false
	}
	return int(f), true
}

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
