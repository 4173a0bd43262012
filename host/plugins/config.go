package plugins

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/agext/levenshtein"

	"github.com/thresh-dev/thresh/sdk"
)

// checkConfig checks the settings of a strategy against what the strategy declared, and returns them as a JSON object in
// the order of the declaration, with defaults filled in. It reports all problems at once, each with the key's full name.
//
// Values are those of a decoded YAML or JSON file; text is taken for a boolean or a number where one is declared, since
// environment variables and flags know nothing else. A nil value counts as not set.
func checkConfig(strategy string, fields []sdk.ConfigField, values map[string]any) (json.RawMessage, error) {
	var problems []error
	problem := func(key, format string, args ...any) {
		problems = append(problems, fmt.Errorf("%w: strategies.%s.%s: %w", ErrBadConfig, strategy, key, fmt.Errorf(format, args...)))
	}
	declared := make(map[string]bool, len(fields))
	for _, f := range fields {
		declared[f.Key] = true
	}
	for _, key := range slices.Sorted(maps.Keys(values)) {
		if !declared[key] {
			problem(printable(key, 100), "the strategy has no such setting%s", suggest(key, fields))
		}
	}
	var out bytes.Buffer
	out.WriteByte('{')
	for _, f := range fields {
		value := f.Default
		if set := values[f.Key]; set != nil {
			checked, err := checkValue(f, set)
			if err != nil {
				problem(f.Key, "the value %s %w", show(set), err)
				continue
			}
			value = checked
		}
		if value == nil {
			continue
		}
		raw, err := json.Marshal(value)
		if err != nil {
			problem(f.Key, "the value %s cannot be written as JSON: %w", show(value), err)
			continue
		}
		if out.Len() > 1 {
			out.WriteByte(',')
		}
		out.WriteString(strconv.Quote(f.Key)) // keyRule leaves nothing that JSON would write otherwise
		out.WriteByte(':')
		out.Write(raw)
	}
	out.WriteByte('}')
	if len(problems) > 0 {
		return nil, errors.Join(problems...)
	}
	return out.Bytes(), nil
}

// suggest names the declared key that is nearest to a wrong one, and all of them if there are few.
func suggest(wrong string, fields []sdk.ConfigField) string {
	if len(fields) == 0 {
		return "; it has none at all"
	}
	var nearest string
	best := math.MaxInt
	keys := make([]string, len(fields))
	for i, f := range fields {
		keys[i] = f.Key
		if d := levenshtein.Distance(printable(wrong, 100), f.Key, nil); d < best {
			best, nearest = d, f.Key
		}
	}
	var s string
	if best <= max(2, len(nearest)/3) {
		s = fmt.Sprintf("; did you mean %q?", nearest)
	}
	if len(keys) <= 20 {
		s += "; it has " + strings.Join(keys, ", ")
	}
	return s
}

// checkValue returns the value in the field's type: bool, int, float64 or string. Its error continues the sentence "the value x".
func checkValue(f sdk.ConfigField, value any) (any, error) {
	switch f.Type {
	case sdk.Boolean:
		if b, ok := asBool(value); ok {
			return b, nil
		}
		return nil, errors.New("is not true or false")
	case sdk.Integer:
		n, ok := asInt(value)
		if !ok {
			return nil, fmt.Errorf("is not a whole number%s", bounds(f))
		}
		return n, inBounds(f, float64(n))
	case sdk.Number:
		n, ok := asFloat(value)
		if !ok {
			return nil, fmt.Errorf("is not a number%s", bounds(f))
		}
		return n, inBounds(f, n)
	case sdk.String:
		s, ok := value.(string)
		if !ok {
			return nil, errors.New("is not text (in YAML, put it in quotes)")
		}
		if len(f.Allowed) > 0 && !slices.Contains(f.Allowed, s) {
			return nil, fmt.Errorf("is not one of %s", strings.Join(f.Allowed, ", "))
		}
		return s, nil
	default:
		return nil, fmt.Errorf("has the unknown type %q", f.Type)
	}
}

func inBounds(f sdk.ConfigField, n float64) error {
	if f.Minimum != nil && n < *f.Minimum || f.Maximum != nil && n > *f.Maximum {
		return fmt.Errorf("is out of bounds:%s", bounds(f))
	}
	return nil
}

func bounds(f sdk.ConfigField) string {
	switch {
	case f.Minimum != nil && f.Maximum != nil:
		return fmt.Sprintf(" from %v to %v", *f.Minimum, *f.Maximum)
	case f.Minimum != nil:
		return fmt.Sprintf(" of at least %v", *f.Minimum)
	case f.Maximum != nil:
		return fmt.Sprintf(" of at most %v", *f.Maximum)
	default:
		return ""
	}
}

func asBool(value any) (b, ok bool) {
	switch v := value.(type) {
	case bool:
		return v, true
	case string:
		return v == "true", v == "true" || v == "false"
	default:
		return false, false
	}
}

func asInt(value any) (int, bool) {
	switch v := value.(type) {
	case string:
		n, err := strconv.Atoi(v)
		return n, err == nil
	case json.Number:
		return asInt(v.String())
	}
	switch v := reflect.ValueOf(value); {
	case v.CanInt():
		return int(v.Int()), true
	case v.CanUint():
		return int(v.Uint()), v.Uint() <= math.MaxInt
	case v.CanFloat():
		const exact = 1 << 53 // beyond it a float64 does not hold every whole number
		f := v.Float()
		return int(f), f == math.Trunc(f) && math.Abs(f) <= exact
	default:
		return 0, false
	}
}

func asFloat(value any) (float64, bool) {
	switch v := value.(type) {
	case string:
		f, err := strconv.ParseFloat(v, 64)
		return f, err == nil && !math.IsNaN(f) && !math.IsInf(f, 0)
	case json.Number:
		return asFloat(v.String())
	}
	switch v := reflect.ValueOf(value); {
	case v.CanInt():
		return float64(v.Int()), true
	case v.CanUint():
		return float64(v.Uint()), true
	case v.CanFloat():
		f := v.Float()
		return f, !math.IsNaN(f) && !math.IsInf(f, 0)
	default:
		return 0, false
	}
}

// show is a value as people would write it, cut to a line.
func show(value any) string {
	raw, err := json.Marshal(value)
	if err != nil {
		return printable(fmt.Sprint(value), 80)
	}
	return printable(string(raw), 80)
}
