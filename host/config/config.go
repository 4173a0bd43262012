package config

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"

	"github.com/go-viper/mapstructure/v2"
	"github.com/knadh/koanf/v2"

	"github.com/thresh-dev/thresh/internal/nearest"
)

// Config is a set of layers and the values that result. It is immutable and safe for concurrent use.
type Config struct {
	places places
	env    []string
	// files are absolute paths of files that exist, weakest first.
	files []string
	// layers (files, environment, flags) never change after [Load]; copies share them.
	layers []*layer
	stray  []error
	// session holds the overrides of [Config.With]; each copy has its own.
	session *layer

	settings Settings
	// merged has what holds, as a [setting] by key, and all profiles, in force or not.
	merged *koanf.Koanf
	// profiles has the names of all profiles, each with the mention of it that is nearest to the user.
	profiles map[string]Origin
	// providers has the profiles that have one.
	providers map[string]Provider
}

// Settings returns a copy of the values in force, in about a microsecond.
func (c *Config) Settings() Settings { return c.settings.clone() }

// Files returns the absolute paths of the files that were read, weakest first.
func (c *Config) Files() []string { return slices.Clone(c.files) }

// UserFile returns where the user's file is, or would be; "" without a home directory.
func (c *Config) UserFile() string { return c.places.userFile() }

// Stray says which variables of the environment have the prefix of settings and are none, each with the setting that was
// probably meant. They are not used. Those of a Kubernetes Service are one.
func (c *Config) Stray() []error { return slices.Clone(c.stray) }

// LookupEnv looks up a variable where [Load] did. Settings name variables that hold secrets.
func (c *Config) LookupEnv(name string) (value string, ok bool) {
	for _, v := range slices.Backward(c.env) {
		if value, ok = strings.CutPrefix(v, name+"="); ok {
			return value, true
		}
	}
	return "", false
}

// Profiles returns the names of the profiles, sorted.
func (c *Config) Profiles() []string { return slices.Sorted(maps.Keys(c.profiles)) }

// With returns a copy with a session override; c does not change. Value is a typed value, a value as JSON decodes it,
// or text. Nil removes an earlier override of the key. [Config.WithAll] takes several.
func (c *Config) With(key string, value any, source string) (*Config, error) {
	return c.WithAll(Override{Key: key, Value: value, Source: source})
}

// WithAll is [Config.With] for several overrides. The error joins everything that is wrong with them.
func (c *Config) WithAll(overrides ...Override) (*Config, error) {
	return c.WithBy(operator, overrides...)
}

// WithBy is [Config.WithAll] for a setter who may not set everything: see [Spec.By].
func (c *Config) WithBy(by Setter, overrides ...Override) (*Config, error) {
	derived := &Config{places: c.places, env: c.env, files: c.files, layers: c.layers, stray: c.stray,
		session: c.session.clone()}
	p := &problems{}
	for _, ov := range overrides {
		derived.session.override(by, ov, c.places, p)
	}
	return derived.resolved(p)
}

// resolved stacks the layers and fills in the fields that follow from them, or returns everything that is wrong. It is
// called once for each Config, before it is shared.
func (c *Config) resolved(p *problems) (*Config, error) {
	// A new slice: appending to c.layers could write into an array that copies share.
	all := append([]*layer{defaults(c.places)}, c.layers...)
	all = append(all, c.session)
	// The choice of a profile decides which layers there are, so it is looked up before they are stacked.
	chosen := setting{Value: ""}
	others := chosen // the choice without the project file
	c.profiles = map[string]Origin{}
	for _, l := range all {
		// Errors about a whole profile point to the nearest layer that mentions it.
		maps.Copy(c.profiles, l.profiles)
		if v, ok := l.values[keyProfile].(setting); ok {
			chosen = v
			if l.name != LayerProjectFile {
				others = v
			}
		}
	}
	known, err := stack(all...)
	if err != nil {
		return nil, err
	}
	profile := profileLayer(chosen.Value.(string), known)
	// A project file must not choose a profile to do what the file itself may not, nor disable one that does.
	c.checkChoice(chosen, profile, "the profile sets ", p)
	if name := others.Value.(string); name != chosen.Value {
		c.checkChoice(chosen, profileLayer(name, known), "it takes profile "+name+" out of force, which sets ", p)
	}
	// A profile is above all files, wherever it is defined: the environment and flags are nearer to the user.
	above := slices.IndexFunc(all, func(l *layer) bool { return l.name == LayerEnvironment || l.name == LayerSession })
	// Merging is most of the cost of an override, and without a profile one is enough.
	if c.merged = known; len(profile.values) > 0 {
		if c.merged, err = stack(slices.Insert(all, above, profile)...); err != nil {
			return nil, err
		}
	}
	if err := c.decode(); err != nil {
		return nil, err
	}
	c.crossCheck(p)
	if err := c.readProviders(p); err != nil {
		return nil, err
	}
	if err := p.err(); err != nil {
		return nil, &invalid{error: err, log: c.settings.Log}
	}
	return c, nil
}

// defaults is the layer of the registry. A setting without a default is absent from it.
func defaults(pl places) *layer {
	l, x := newLayer(LayerDefault), registry()
	for _, key := range x.keys {
		if v := x.specs[key].defaultOn(pl); v != nil {
			l.values[key] = setting{v, Origin{Layer: LayerDefault}}
		}
	}
	return l
}

// profileLayer is what all layers together set for a profile; empty for the name "". The provider is left out: it is
// not a setting, and is read for all profiles.
func profileLayer(name string, known *koanf.Koanf) *layer {
	l := newLayer(LayerProfile)
	for key, v := range known.Cut(groupProfiles + "." + name).All() {
		if v, ok := v.(setting); ok && name != "" && !strings.HasPrefix(key, groupProvider+".") {
			v.Origin.Layer, v.Origin.Profile = LayerProfile, name
			l.values[key] = v
		}
	}
	return l
}

// decode fills c.settings. An error is a bug in the registry.
func (c *Config) decode() error {
	into := struct {
		Settings `koanf:",squash"`
		Profiles any `koanf:"profiles"` // read by [Config.readProviders]
	}{}
	if err := c.merged.UnmarshalWithConf("", &into, unmarshalConf); err != nil {
		return fmt.Errorf("a setting in the registry does not fit its field: %w", err)
	}
	c.settings = into.Settings
	c.settings.Sessions.Store = c.places.store(c.settings.Sessions.Store)
	return nil
}

// unmarshalConf makes koanf as strict as the checks before it: no type conversion, and each registry row needs a field.
var unmarshalConf = koanf.UnmarshalConf{DecoderConfig: &mapstructure.DecoderConfig{
	ErrorUnused: true,
	DecodeHook:  mapstructure.DecodeHookFuncType(decodeHook),
}}

// decodeHook unwraps a [setting] and rounds a float down to an int field: numbers in files and JSON may be floats.
func decodeHook(_, to reflect.Type, v any) (any, error) {
	if s, ok := v.(setting); ok {
		v = s.Value
	}
	if f, ok := v.(float64); ok && to == reflect.TypeFor[int]() {
		return int(min(max(math.Floor(f), 0), math.MaxInt32)), nil
	}
	return v, nil
}

// setting returns what holds for a key; the zero setting if it is not set.
func (c *Config) setting(key string) setting {
	v, _ := c.merged.Get(key).(setting)
	return v
}

// Origin returns where what holds for a key was set; [LayerDefault] if nothing sets it.
func (c *Config) Origin(key string) Origin {
	at := c.setting(key).Origin
	at.Layer = cmp.Or(at.Layer, LayerDefault)
	return at
}

// crossCheck finds values that are valid by themselves but not together.
func (c *Config) crossCheck(p *problems) {
	if p.unread {
		return // what seems missing may be in the unread file
	}
	known := c.Profiles()
	want := "a profile that is defined under profiles; there is none"
	if len(known) > 0 {
		want = "one of: " + strings.Join(known, ", ")
	}
	for _, key := range []string{keyProfile, keyCompressionProfile} {
		v := c.setting(key)
		name := v.Value.(string)
		if _, ok := c.profiles[name]; !ok && name != "" {
			p.add(key, &Error{Origin: v.Origin, Key: key, Value: show(name), Problem: "is not a profile",
				Allowed: want, Nearest: nearest.One(name, known)})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(c.settings.Plugins.Required)) {
		if c.settings.Plugins.Required[name].Source == "" {
			key := groupRequired + "." + name + ".source"
			p.add(key, &Error{Key: key, Problem: "is missing", Allowed: "where " + name + " is installed from"})
		}
	}
	m := c.settings.Model
	if m.CompletionBudget >= m.ContextLimit && !p.keys[keyContextLimit] && !p.keys[keyCompletionBudget] {
		limit := show(m.ContextLimit) + " (" + c.setting(keyContextLimit).Origin.String() + ")"
		p.add(keyCompletionBudget, &Error{
			Origin: c.setting(keyCompletionBudget).Origin, // never the default, as 0 leaves room
			Key:    keyCompletionBudget, Value: show(m.CompletionBudget),
			Problem: "leaves nothing of the context window",
			Allowed: "less than " + keyContextLimit + ", which is " + limit})
	}
}
