package config

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"

	"github.com/go-viper/mapstructure/v2"
	"github.com/knadh/koanf/providers/confmap"
	"github.com/knadh/koanf/v2"

	"github.com/thresh-dev/thresh/internal/text"
)

// Config is a set of layers and the values that result. It is immutable and safe for concurrent use.
type Config struct {
	places  places
	files   []string
	layers  []*layer // files, environment, flags
	session *layer

	settings Settings
	values   map[string]setting // what holds, by key outside of profiles
	profiles map[string]Origin
	// providers are those of the profiles that have one.
	providers map[string]Provider
}

// Settings returns the values in force, as a copy.
func (c *Config) Settings() Settings { return c.settings.clone() }

// Files returns the absolute paths of the files that were read, weakest first.
func (c *Config) Files() []string { return slices.Clone(c.files) }

// Profiles returns the names of the profiles, sorted.
func (c *Config) Profiles() []string { return slices.Sorted(maps.Keys(c.profiles)) }

// With returns a copy with a session override; c does not change. Value is a typed value, a value as JSON decodes it,
// or text. Nil removes an earlier override of the key. Setting "profile" activates another profile.
//
// If several overrides only make sense together, use [Config.WithAll].
func (c *Config) With(key string, value any, source string) (*Config, error) {
	return c.WithAll(Override{Key: key, Value: value, Source: source})
}

// WithAll is [Config.With] for several overrides at once. The error joins everything that is wrong with them.
func (c *Config) WithAll(overrides ...Override) (*Config, error) {
	derived := &Config{places: c.places, files: c.files, layers: c.layers, session: c.session.clone()}
	p := &problems{}
	for _, ov := range overrides {
		derived.session.override(ov, c.places, p)
	}
	return derived.resolved(p)
}

// resolved stacks the layers and returns c, or everything that is wrong.
func (c *Config) resolved(p *problems) (*Config, error) {
	all := append(slices.Clone(c.layers), c.session)
	c.profiles = map[string]Origin{}
	profile := setting{value: ""}
	others := profile // what it would be without the project's file
	for _, l := range all {
		for name, at := range l.profiles {
			c.profiles[name] = at
		}
		if v, ok := l.values[keyProfile]; ok {
			profile = v
			if l.name != LayerProjectFile {
				others = v
			}
		}
	}

	// The profile goes above the files, wherever it is defined: the environment and flags are nearer to the user.
	stack := []*layer{defaults(c.places)}
	above := []*layer{}
	for _, l := range all {
		switch l.name {
		case LayerUserFile, LayerProjectFile, LayerConfigFile:
			stack = append(stack, l)
		default:
			above = append(above, l)
		}
	}
	inForce := profileLayer(profile.value.(string), all)
	c.checkChosenProfile(profile, inForce, p)
	if name := others.value.(string); name != profile.value {
		c.checkLostProfile(profile, name, profileLayer(name, all), p)
	}
	stack = append(stack, inForce)
	stack = append(stack, above...)

	if err := c.merge(stack); err != nil {
		return nil, err
	}
	c.crossCheck(p)
	if err := c.gatherProviders(all, p); err != nil {
		return nil, err
	}
	if err := p.err(); err != nil {
		return nil, err
	}
	return c, nil
}

// defaults is the layer of the registry.
func defaults(pl places) *layer {
	l, x := newLayer(LayerDefault), registry()
	for _, key := range x.keys {
		if v := x.specs[key].defaultOn(pl); v != nil {
			l.values[key] = setting{v, Origin{Layer: LayerDefault}}
		}
	}
	return l
}

// profileLayer collects what all layers set for a profile. Its provider is left out: that is read for all profiles.
func profileLayer(name string, all []*layer) *layer {
	collected := newLayer(LayerProfile)
	if name == "" {
		return collected
	}
	for _, l := range all {
		for key, v := range l.values {
			if own, ok := strings.CutPrefix(key, groupProfiles+"."+name+"."); ok && !strings.HasPrefix(own, groupProvider+".") {
				v.origin.Layer, v.origin.Profile = LayerProfile, name
				collected.values[own] = v
			}
		}
	}
	return collected
}

// merge stacks the layers, fills c.values and decodes c.settings. A decoding error is a bug in the registry.
func (c *Config) merge(stack []*layer) error {
	k := koanf.New(".")
	c.values = map[string]setting{}
	for _, l := range stack {
		if len(l.values) == 0 {
			continue // koanf indexes all that it holds at each load.
		}
		flat := make(map[string]any, len(l.values))
		for key, v := range l.values {
			if strings.HasPrefix(key, groupProfiles+".") {
				continue
			}
			c.values[key] = v
			if raw, ok := v.value.(json.RawMessage); ok {
				// koanf copies values by reflection, bytes one by one.
				flat[key] = string(raw)
				continue
			}
			flat[key] = v.value
		}
		if err := k.Load(confmap.Provider(flat, "."), nil); err != nil {
			return err
		}
	}
	err := k.UnmarshalWithConf("", &c.settings, koanf.UnmarshalConf{DecoderConfig: &mapstructure.DecoderConfig{
		ErrorUnused: true, // A row of the registry without a field in Settings.
		DecodeHook:  mapstructure.DecodeHookFuncType(decodeHook),
	}})
	if err != nil {
		return fmt.Errorf("a setting in the registry does not fit its field: %w", err)
	}
	return nil
}

// decodeHook converts values whose types in the registry and in [Settings] differ: JSON that passed through koanf as
// text, and numbers that end in an int field.
func decodeHook(_, to reflect.Type, v any) (any, error) {
	switch v := v.(type) {
	case string:
		if to == reflect.TypeFor[json.RawMessage]() {
			return json.RawMessage(v), nil
		}
	case float64:
		if to == reflect.TypeFor[int]() {
			return int(min(max(math.Floor(v), 0), math.MaxInt32)), nil
		}
	}
	return v, nil
}

// crossCheck finds values that are valid by themselves but not together.
func (c *Config) crossCheck(p *problems) {
	for _, key := range []string{keyProfile, keyCompressionProfile} {
		v := c.values[key]
		name := v.value.(string)
		if _, ok := c.profiles[name]; ok || name == "" || p.unread {
			continue
		}
		known := c.Profiles()
		want := "a profile that is defined under profiles; there is none"
		if len(known) > 0 {
			want = "one of: " + strings.Join(known, ", ")
		}
		p.add(key, func() *Error {
			return &Error{Origin: v.origin, Key: key, Value: show(name), Problem: "is not a profile",
				Allowed: want, Nearest: text.Nearest(name, known)}
		})
	}
	m := c.settings.Model
	if m.CompletionBudget >= m.ContextLimit && !p.keys[keyContextLimit] && !p.keys[keyCompletionBudget] && !p.unread {
		at := c.values[keyCompletionBudget].origin // Never the default, as 0 leaves something.
		p.add(keyCompletionBudget, func() *Error {
			return &Error{Origin: at, Key: keyCompletionBudget, Value: show(m.CompletionBudget),
				Problem: "leaves nothing of the context window",
				Allowed: "less than " + keyContextLimit + ", which is " + show(m.ContextLimit) + " (" + c.values[keyContextLimit].origin.String() + ")"}
		})
	}
}
