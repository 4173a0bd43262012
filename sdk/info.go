package sdk

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	threshv1 "github.com/thresh-dev/thresh/proto/thresh/v1"
)

var (
	nameRule = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)
	keyRule  = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_-]{0,99}$`)
)

// Check returns what is wrong with a strategy before any host has seen it: an invalid [Info], or a trigger that does not
// go with its methods. [Serve] refuses to start such a strategy. It is nil for a good one.
func Check(s Strategy) error {
	if s == nil {
		return errors.New("sdk.Serve needs a strategy, not nil")
	}
	info := s.Info()
	err := info.Validate()
	_, optimizes := s.(Optimizer)
	switch {
	case info.Trigger.Mode == ModeContinuous && !optimizes:
		err = errors.Join(err, fmt.Errorf("%T declares the trigger sdk.Continuous but has no method Optimize "+
			"(sdk.Optimizer); add it or declare sdk.Threshold", s))
	case info.Trigger.Mode == ModeThreshold && optimizes:
		err = errors.Join(err, fmt.Errorf("%T has a method Optimize, but its trigger is sdk.Threshold, so that nobody "+
			"would call it; declare sdk.Continuous or remove the method", s))
	}
	return err
}

// Validate returns all that breaks the rules for an Info, joined; nil if nothing does.
func (i Info) Validate() error {
	var errs []error
	if !nameRule.MatchString(i.Name) {
		errs = append(errs, fmt.Errorf("Info.Name is %q; it must be lower-case letters and digits in groups joined by single hyphens", i.Name))
	}
	if i.Version == "" || len(i.Version) > 100 || strings.ContainsFunc(i.Version, unprintable) {
		errs = append(errs, fmt.Errorf("Info.Version is %q; it must be 1 to 100 bytes of printable text", i.Version))
	}
	if m := i.Trigger.Mode; m != ModeContinuous && m != ModeThreshold {
		errs = append(errs, fmt.Errorf("Info.Trigger has the mode %q; make it with sdk.Continuous or sdk.Threshold", m))
	}
	if t := i.Trigger.DefaultThreshold; !(t > 0 && t <= 1) {
		errs = append(errs, fmt.Errorf("Info.Trigger has the default threshold %v; it must be above 0 and at most 1", t))
	}
	seen := make(map[string]bool, len(i.Config))
	for n, f := range i.Config {
		if err := f.validate(); err != nil {
			errs = append(errs, fmt.Errorf("Info.Config[%d] (%q): %w", n, f.Key, err))
		}
		if seen[f.Key] {
			errs = append(errs, fmt.Errorf("Info.Config[%d]: the key %q stands twice", n, f.Key))
		}
		seen[f.Key] = true
	}
	return errors.Join(errs...)
}

func unprintable(r rune) bool { return !unicode.IsPrint(r) || r == utf8.RuneError }

func (f ConfigField) validate() error {
	if !keyRule.MatchString(f.Key) {
		return errors.New("a key is a letter followed by at most 99 letters, digits, hyphens and underscores, for example maxEntries")
	}
	switch f.Type {
	case Boolean, Integer, Number, String:
	default:
		return fmt.Errorf("the type is %q; it must be sdk.Boolean, sdk.Integer, sdk.Number or sdk.String", f.Type)
	}
	if len(f.Allowed) > 0 && f.Type != String {
		return fmt.Errorf("the field Allowed goes with sdk.String only, not with %s", f.Type)
	}
	if (f.Minimum != nil || f.Maximum != nil) && f.Type != Integer && f.Type != Number {
		return fmt.Errorf("the fields Minimum and Maximum go with sdk.Integer and sdk.Number only, not with %s", f.Type)
	}
	for name, bound := range map[string]*float64{"Minimum": f.Minimum, "Maximum": f.Maximum} {
		if bound != nil && (math.IsNaN(*bound) || math.IsInf(*bound, 0)) {
			return fmt.Errorf("%s is %v, which is no bound", name, *bound)
		}
	}
	if f.Minimum != nil && f.Maximum != nil && *f.Minimum > *f.Maximum {
		return fmt.Errorf("the Minimum %v is above the Maximum %v", *f.Minimum, *f.Maximum)
	}
	return f.validateDefault()
}

func (f ConfigField) validateDefault() error {
	if f.Default == nil {
		return nil
	}
	v := reflect.ValueOf(f.Default)
	wrong := fmt.Errorf("the default %v (%T) is not of type %s", f.Default, f.Default, f.Type)
	switch f.Type {
	case Boolean:
		if v.Kind() != reflect.Bool {
			return wrong
		}
	case String:
		if v.Kind() != reflect.String {
			return wrong
		}
		if len(f.Allowed) > 0 && !slices.Contains(f.Allowed, v.String()) {
			return fmt.Errorf("the default %q is not one of the allowed values %q", v.String(), f.Allowed)
		}
	case Integer, Number:
		n, ok := number(v)
		if !ok || (f.Type == Integer && n != math.Trunc(n)) || math.IsNaN(n) || math.IsInf(n, 0) {
			return wrong
		}
		if (f.Minimum != nil && n < *f.Minimum) || (f.Maximum != nil && n > *f.Maximum) {
			return fmt.Errorf("the default %v is out of bounds", f.Default)
		}
	}
	return nil
}

func number(v reflect.Value) (float64, bool) {
	switch {
	case v.CanInt():
		return float64(v.Int()), true
	case v.CanUint():
		return float64(v.Uint()), true
	case v.CanFloat():
		return v.Float(), true
	}
	return 0, false
}

// infoMessage is what GetInfo answers. The info is valid.
func infoMessage(i Info) (*threshv1.GetInfoResponse, error) {
	out := &threshv1.GetInfoResponse{
		Name:        i.Name,
		Version:     i.Version,
		Description: i.Description,
		Trigger:     &threshv1.Trigger{DefaultThreshold: i.Trigger.DefaultThreshold},
		RequiresLlm: i.RequiresLLM,
		Features:    &threshv1.Features{NeedsNetwork: i.NeedsNetwork},
		Sdk:         sdkName(),
	}
	switch i.Trigger.Mode {
	case ModeContinuous:
		out.Trigger.Mode = threshv1.TriggerMode_TRIGGER_MODE_CONTINUOUS
	case ModeThreshold:
		out.Trigger.Mode = threshv1.TriggerMode_TRIGGER_MODE_THRESHOLD
	}
	for _, f := range i.Config {
		field := &threshv1.ConfigField{
			Key: f.Key, Type: configTypes[f.Type], Description: f.Description,
			Allowed: f.Allowed, Minimum: f.Minimum, Maximum: f.Maximum,
		}
		if f.Default != nil {
			var err error
			if field.DefaultValue, err = json.Marshal(f.Default); err != nil {
				return nil, fmt.Errorf("default of %q: %w", f.Key, err)
			}
		}
		out.Config = append(out.Config, field)
	}
	return out, nil
}

var configTypes = map[ConfigType]threshv1.ConfigType{
	Boolean: threshv1.ConfigType_CONFIG_TYPE_BOOLEAN,
	Integer: threshv1.ConfigType_CONFIG_TYPE_INTEGER,
	Number:  threshv1.ConfigType_CONFIG_TYPE_NUMBER,
	String:  threshv1.ConfigType_CONFIG_TYPE_STRING,
}
