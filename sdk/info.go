package sdk

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/thresh-dev/thresh/internal/lazyregexp"
)

// Info is what a strategy tells the host at the handshake.
type Info struct {
	// Name is lower-case letters, digits and hyphens: what follows "thresh-strategy-" in the binary's name.
	Name string
	// Version is for people and for the host's lock file.
	Version string
	// Description is one line for people.
	Description string
	Trigger     Trigger
	// RequiresLLM says that Compress calls [Host.Generate].
	RequiresLLM bool
	// NeedsNetwork says that the strategy cannot work without the network, which its user must grant
	// (plugins.grants.<name>.network). [Host.Generate] needs no network.
	NeedsNetwork bool
	// Config declares the strategy's own settings, which users set as strategies.<name>.<key>.
	Config []ConfigField
}

// TriggerMode says when the host calls a strategy.
type TriggerMode string

// The trigger modes.
const (
	ModeContinuous TriggerMode = "continuous"
	ModeThreshold  TriggerMode = "threshold"
)

// Known reports whether m is one of the trigger modes.
func (m TriggerMode) Known() bool { return m == ModeContinuous || m == ModeThreshold }

// Trigger says when the host calls a strategy. Make it with [Continuous] or [Threshold].
type Trigger struct {
	Mode TriggerMode
	// DefaultThreshold is the share of the context limit, in (0, 1], from which Compress is called when
	// compression.threshold is not set.
	DefaultThreshold float64
	// EarlyThreshold asks for a Compress below the threshold too where a rewrite pays: by the prices of the model, which
	// then put [CompressParams.Threshold] lower, or because the provider's prompt cache has expired in a pause
	// ([ReasonCacheCold]). It is the share from which on that is welcome of the room that system prompt and tools leave
	// the history, at most DefaultThreshold. It counts only while compression.threshold is not set. 0: never below the
	// threshold.
	EarlyThreshold float64
}

// Continuous is the trigger of a strategy that has Optimize, which then runs before every threshold check.
func Continuous(defaultThreshold float64) Trigger {
	return Trigger{Mode: ModeContinuous, DefaultThreshold: defaultThreshold}
}

// Threshold is the trigger of a strategy that only has Compress.
func Threshold(defaultThreshold float64) Trigger {
	return Trigger{Mode: ModeThreshold, DefaultThreshold: defaultThreshold}
}

// Early returns t with a [Trigger.EarlyThreshold].
func (t Trigger) Early(share float64) Trigger {
	t.EarlyThreshold = share
	return t
}

// A name is part of a file's name and of settings: it must need no quotes anywhere.
var (
	nameRule = lazyregexp.New(`^[a-z0-9]+(-[a-z0-9]+)*$`)
	keyRule  = lazyregexp.New(`^[A-Za-z][A-Za-z0-9_-]*$`)
)

// ValidName reports whether a strategy may have this name: lower-case letters and digits in groups joined by single
// hyphens.
func ValidName(name string) bool { return nameRule().MatchString(name) }

// ValidKey reports whether a setting may have this key: a letter, then at most 99 letters, digits, hyphens and
// underscores.
//
// The length is not part of the expression: with {0,99} in it, each plugin took 1.4 ms longer to start.
func ValidKey(key string) bool { return len(key) <= 100 && keyRule().MatchString(key) }

// Validate returns everything that is wrong with an Info, joined: an author corrects it in one go.
func (i Info) Validate() error {
	var errs []error
	if !ValidName(i.Name) {
		errs = append(errs, fmt.Errorf("Info.Name is %q; it must be lower-case letters and digits in groups "+
			"joined by single hyphens", i.Name))
	}
	if i.Version == "" || len(i.Version) > 100 || strings.ContainsFunc(i.Version, unprintable) {
		errs = append(errs, fmt.Errorf("Info.Version is %q; it must be 1 to 100 bytes of printable text", i.Version))
	}
	if m := i.Trigger.Mode; !m.Known() {
		errs = append(errs, fmt.Errorf("Info.Trigger has the mode %q; make it with sdk.Continuous or sdk.Threshold", m))
	}
	if t := i.Trigger.DefaultThreshold; !(t > 0 && t <= 1) {
		errs = append(
			errs, fmt.Errorf("Info.Trigger has the default threshold %v; it must be above 0 and at most 1", t),
		)
	}
	if t := i.Trigger; !(t.EarlyThreshold >= 0 && t.EarlyThreshold <= t.DefaultThreshold) {
		errs = append(errs, fmt.Errorf("Info.Trigger has the early threshold %v; it must be above 0 and at most the "+
			"default threshold, %v, or 0 for none", t.EarlyThreshold, t.DefaultThreshold))
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

// unprintable text could control a terminal.
func unprintable(r rune) bool { return !unicode.IsPrint(r) || r == utf8.RuneError }

func (f ConfigField) validate() error {
	if !ValidKey(f.Key) {
		return errors.New("a key is a letter followed by at most 99 letters, digits, hyphens and underscores, " +
			"for example maxEntries")
	}
	if !f.Type.Known() {
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

// validateDefault judges the default as a user's value is judged; nil is no default.
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

// number takes any number type of Go, as authors write what they like.
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
