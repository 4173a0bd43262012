package tools

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/sdk/content/rawjson"
)

// RuleError says what is wrong with one rule.
type RuleError struct {
	// Index is the rule's position in the list, from 0.
	Index int
	// Name is the first name of the rule; "" if it has none.
	Name string
	// Field is the wrong field of the rule; "" if it is the rule as such.
	Field string
	Err   error
}

func (e *RuleError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "tool rule %d", e.Index)
	if e.Name != "" {
		fmt.Fprintf(&b, " (%s)", e.Name)
	}
	if e.Field != "" {
		fmt.Fprintf(&b, ", field %s", e.Field)
	}
	return b.String() + ": " + e.Err.Error()
}

func (e *RuleError) Unwrap() error { return e.Err }

// document is the JSON form of a taxonomy. Failure is for its rules that write files and have none of their own.
type document struct {
	Rules   []json.RawMessage `json:"rules"`
	Failure json.RawMessage   `json:"failure"`
}

// Parse reads a taxonomy in its JSON form, {"rules": […]}. "failure" next to the rules is the [Failure] of all rules
// that write files and have none of their own. Whatever is wrong with a rule, even a misspelt field, is a [*RuleError].
func Parse(data []byte) (*Taxonomy, error) {
	rules, err := ParseRules(data)
	if err != nil {
		return nil, err
	}
	return New(rules...)
}

// ParseRules reads rules as [Parse] does, or from a bare array of rules, and checks each.
func ParseRules(data []byte) ([]Rule, error) {
	doc, err := split(data, false)
	if err != nil {
		return nil, err
	}
	var failure *Failure
	if doc.Failure != nil {
		dec := json.NewDecoder(bytes.NewReader(doc.Failure))
		dec.DisallowUnknownFields()
		if err := dec.Decode(&failure); err != nil {
			return nil, fmt.Errorf("tool rules: failure: %w", err)
		}
	}
	rules := make([]Rule, len(doc.Rules))
	for i, raw := range doc.Rules {
		err := parseRule(raw, &rules[i])
		if r := &rules[i]; err == nil && r.Failure == nil && (r.Class == ClassWrite || len(r.Patch) > 0) {
			r.Failure = failure
			_, err = compile(r)
		}
		if err != nil {
			err.Index = i
			return nil, err
		}
	}
	return rules, nil
}

// ParseNewer reads a taxonomy that may be of a later version than this package. A rule that it does not understand is
// reduced to its names: nothing is known about these tools, and no later rule applies to them. It is for the strategy's
// side, which may be older than the host; what people wrote is read by [Parse].
func ParseNewer(data []byte) (*Taxonomy, error) {
	doc, err := split(data, true)
	if err != nil {
		return nil, err
	}
	rules := make([]Rule, len(doc.Rules))
	for i, raw := range doc.Rules {
		err := parseRule(raw, &rules[i])
		if err == nil {
			continue
		}
		var names struct {
			Names      []string `json:"names"`
			IgnoreCase bool     `json:"ignoreCase"`
		}
		// Without names nothing says which tools the rule was meant for, and a later rule would apply to them.
		if json.Unmarshal(raw, &names) != nil || len(names.Names) == 0 || slices.Contains(names.Names, "") {
			err.Index = i
			return nil, err
		}
		// Of class other: its calls read and write nothing that is known, and are never pruned by path.
		rules[i] = Rule{Names: names.Names, IgnoreCase: names.IgnoreCase, Class: ClassOther}
	}
	return New(rules...)
}

func parseRule(raw json.RawMessage, r *Rule) *RuleError {
	if err := decode(raw, r); err != nil {
		return err
	}
	_, err := compile(r)
	return err
}

// split divides a document into its rules, each still JSON: an error can name the rule. newer allows unknown fields.
func split(data []byte, newer bool) (doc document, err error) {
	if trimmed := bytes.TrimSpace(data); len(trimmed) > 0 && trimmed[0] == '[' {
		if err := json.Unmarshal(data, &doc.Rules); err != nil {
			return doc, fmt.Errorf("tool rules: %w", located(data, err))
		}
		return doc, nil
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	if !newer {
		dec.DisallowUnknownFields()
	}
	if err := dec.Decode(&doc); err != nil {
		return doc, fmt.Errorf(`tool rules, {"rules": […]}: %w`, located(data, err))
	}
	// A decoder stops behind the first value; a second one would be ignored.
	if rest := bytes.TrimLeft(data[dec.InputOffset():], " \t\r\n"); len(rest) > 0 {
		return doc, fmt.Errorf("tool rules: there is more after the end, on line %d",
			lineOf(data, int64(len(data)-len(rest))))
	}
	return doc, nil
}

// located puts the line in front of a syntax error: people edit these files by hand.
func located(data []byte, err error) error {
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		return fmt.Errorf("line %d: %w", lineOf(data, syntax.Offset), err)
	}
	return err
}

func lineOf(data []byte, offset int64) int {
	return 1 + bytes.Count(data[:min(offset, int64(len(data)))], []byte("\n"))
}

// decode refuses unknown fields: a misspelt one would change what is pruned.
func decode(raw []byte, r *Rule) *RuleError {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.DisallowUnknownFields()
	err := dec.Decode(r)
	if err == nil {
		return nil
	}
	out := &RuleError{Err: err}
	if len(r.Names) > 0 {
		out.Name = r.Names[0]
	}
	// encoding/json names Go types, which mean nothing to the author of a rule.
	var kind *json.UnmarshalTypeError
	if errors.As(err, &kind) {
		out.Field = kind.Field
		out.Err = fmt.Errorf("it is a JSON %s, which does not belong here", kind.Value)
	} else if name, ok := strings.CutPrefix(err.Error(), "json: unknown field "); ok {
		out.Field = strings.Trim(name, `"`)
		out.Err = errors.New("there is no such field")
	}
	return out
}

// encode returns the JSON form of rules, which hold strings and booleans only: encoding them cannot fail.
func encode(rules []Rule) []byte {
	// [] and not null, which readers in other languages take for a mistake.
	if rules == nil {
		rules = []Rule{}
	}
	text, err := rawjson.Encode(struct {
		Rules []Rule `json:"rules"`
	}{rules})
	if err != nil {
		panic(err)
	}
	return bytes.TrimRight(text, "\n")
}
