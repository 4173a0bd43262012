package config

import (
	"slices"
	"strconv"
	"strings"
)

type Type string

// The types. In text (environment, flags), lists of strings are separated by commas and lists of paths as in PATH; all
// three lists may be JSON arrays as well.
const (
	// String is text, from [Spec.Allowed] if that is set.
	String Type = "string"
	// Name is lower-case letters and digits in groups joined by single hyphens.
	Name    Type = "name"
	Boolean Type = "boolean"
	Integer Type = "integer"
	Number  Type = "number"
	// Duration is text such as 10s, 2m or 1m30s.
	Duration Type = "duration"
	// Path starts, if relative, from the directory of the file that holds it, else from the working directory.
	Path Type = "path"
	// EnvName is the name of an environment variable, in upper case.
	EnvName Type = "environment variable"
	// URL is an http or https address without credentials, query and fragment.
	URL     Type = "URL"
	Strings Type = "list of strings"
	Paths   Type = "list of paths"
	// Objects is a list of objects, kept as JSON.
	Objects Type = "list of objects"
	// Scalar is text, a number or a truth value: a strategy's own setting before the strategy is known.
	Scalar Type = "scalar"
)

// Spec is a row of the registry: one setting.
type Spec struct {
	// Key is the full key, such as compression.threshold; in [ProviderSpecs] it is relative to the profile, in a
	// strategy's declaration to the strategy.
	Key  string
	Type Type
	// Default has the Go type of the setting's field in [Settings]. It is nil if there is none or it depends on the
	// machine; DefaultText then says what holds.
	Default     any
	DefaultText string
	// Allowed lists the values of a String, or of the elements of Strings; empty allows any.
	Allowed []string
	// Min and Max bound an Integer, a Number or (in seconds) a Duration; nil is no bound. OpenMin excludes Min itself.
	Min, Max *float64
	OpenMin  bool
	// Unit is what a number counts, for example "tokens"; "" if nothing.
	Unit    string
	Meaning string
	// Category groups settings.
	Category string
	// PersistToProfile allows the setting in profiles.<name>.
	PersistToProfile bool
	// Tuning is set if the default suits almost everyone. Lists show these settings apart.
	Tuning bool
	// By are those who may set it besides whoever runs the host; 0 for no one else.
	By Setters

	// contained limits a project file to paths within its own directory.
	contained bool
	// optional is set if an empty path means "none".
	optional bool
	// secret hides a wrong value, which may be an API key.
	secret bool
	// valid judges a text; nil allows any. want says in words what it allows; "" is what the type allows.
	valid func(string) bool
	want  string
	// judge says what is wrong with an element of Strings, as the end of a sentence about it; nil allows any. There may be
	// most of them; 0 is no bound.
	judge func(string) error
	most  int
	// fallback computes a default that depends on the machine.
	fallback func(places) any
}

// Want describes the allowed values, for example "a number above 0 and at most 1". It completes "; want …" in errors.
func (s Spec) Want() string {
	if s.want != "" {
		return s.want
	}
	switch s.Type {
	case Boolean:
		return "true or false"
	case Integer:
		return "an integer" + s.bounds()
	case Number:
		return "a number" + s.bounds()
	case Duration:
		return "a duration" + s.bounds() + ", such as 10s or 2m"
	case Name:
		return "a name of lower-case letters, digits and single hyphens, such as high-density"
	case Path:
		return "a path"
	case EnvName:
		return "the name of an environment variable in upper case, such as OPENAI_API_KEY"
	case URL:
		return "an address such as https://api.example.com/v1, without credentials and query"
	case Paths:
		return "a list of paths"
	case Objects:
		return "a list of objects"
	case Scalar:
		return "text, a number, true or false"
	case Strings:
		if len(s.Allowed) > 0 {
			return "a list of: " + quoteEmpty(s.Allowed)
		}
		return "a list of strings"
	default:
		if len(s.Allowed) > 0 {
			return "one of: " + quoteEmpty(s.Allowed)
		}
		return "text"
	}
}

// bounds returns the bounds in words, with a leading space; "" if there are none.
func (s Spec) bounds() string {
	var parts []string
	// A duration's bound, in seconds, would read wrong, except 0. No duration has another.
	if s.Min != nil && s.OpenMin {
		parts = append(parts, "above "+number(*s.Min))
	} else if s.Min != nil {
		parts = append(parts, "of at least "+number(*s.Min))
	}
	if s.Max != nil {
		parts = append(parts, "at most "+number(*s.Max))
	}
	if len(parts) == 0 {
		return ""
	}
	return " " + strings.Join(parts, " and ")
}

// number writes a bound with all its digits: bytes as 6.7108864e+07 are hard to read.
func number(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }

// inBounds is false for NaN and infinities, with or without bounds.
func (s Spec) inBounds(f float64) bool {
	if f-f != 0 {
		return false
	}
	if s.Min != nil && (f < *s.Min || s.OpenMin && f == *s.Min) {
		return false
	}
	return s.Max == nil || f <= *s.Max
}

func quoteEmpty(values []string) string {
	shown := slices.Clone(values)
	for i, v := range shown {
		if v == "" {
			shown[i] = `""`
		}
	}
	return strings.Join(shown, ", ")
}
