package config

import (
	"maps"
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/thresh-dev/thresh/internal/lazyregexp"
	"github.com/thresh-dev/thresh/internal/nearest"
)

// What a key means. Keys are dotted paths. The registry's are fixed; users name those below profiles, strategies, grants
// and required plugins.

const (
	keyProfile            = "profile"
	keyCompressionProfile = "compression.profile"
	keyContextLimit       = "model.contextLimit"
	keyCompletionBudget   = "model.completionBudget"

	groupProfiles   = "profiles"
	groupStrategies = "strategies"
	groupGrants     = "plugins.grants"
	groupRequired   = "plugins.required"
	groupProvider   = "provider" // in a profile only

	envPrefix = "THRESH_"
)

var (
	// strategyName is also what a plugin's file name ends with. freeName is for profiles and strategies' settings: no
	// dots, which separate the parts of a key.
	strategyName = lazyregexp.New(`^[a-z0-9]+(-[a-z0-9]+)*$`)
	freeName     = lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9_-]*$`)
)

// index is the registry, prepared for lookups. It never changes.
type index struct {
	keys   []string
	specs  map[string]Spec
	groups map[string]bool // every proper prefix of a key, and the two free groups
	// Not parsed back from names: "_" in a variable may be a dot or precede a capital letter.
	env map[string]string // variable to key

	provider map[string]Spec // by key in a profile, such as provider.kind
}

// registry returns the index. Built on first use: a program that never loads a configuration does not pay for it.
var registry = sync.OnceValue(func() *index {
	x := &index{specs: map[string]Spec{}, groups: map[string]bool{groupProfiles: true, groupStrategies: true,
		groupGrants: true, groupRequired: true}, env: map[string]string{}, provider: map[string]Spec{}}
	for _, s := range ProviderSpecs() {
		x.provider[s.Key] = s
	}
	for _, s := range Specs() {
		x.keys = append(x.keys, s.Key)
		x.specs[s.Key] = s
		x.env[envName(s.Key)] = s.Key
		for i, c := range s.Key {
			if c == '.' {
				x.groups[s.Key[:i]] = true
			}
		}
	}
	return x
})

// envName returns the environment variable of a key: compression.hardLimit is THRESH_COMPRESSION_HARD_LIMIT.
func envName(key string) string {
	var b strings.Builder
	b.WriteString(envPrefix)
	for _, c := range key {
		switch {
		case c == '.':
			b.WriteByte('_')
		case unicode.IsUpper(c):
			b.WriteByte('_')
			b.WriteRune(c)
		default:
			b.WriteRune(unicode.ToUpper(c))
		}
	}
	return b.String()
}

// target is what a full key means: a setting (leaf), a group of settings, or nothing (then problem says why).
type target struct {
	leaf    bool
	spec    Spec   // of a leaf
	profile string // the profile that the key is in; "" for none
	problem string
	nearest string
}

func (x *index) find(key string) target {
	rest, ok := strings.CutPrefix(key, groupProfiles+".")
	if !ok {
		return x.findPlain(key)
	}
	profile, sub, more := strings.Cut(rest, ".")
	if !freeName().MatchString(profile) {
		return target{problem: "a profile's name consists of letters, digits, hyphens and underscores"}
	}
	if !more {
		return target{profile: profile}
	}
	if sub == groupProfiles || strings.HasPrefix(sub, groupProfiles+".") {
		return target{problem: "a profile cannot hold profiles"}
	}
	var t target
	if sub == groupProvider || strings.HasPrefix(sub, groupProvider+".") {
		t = x.findProvider(sub)
	} else {
		t = x.findPlain(sub)
	}
	t.profile = profile
	t.spec.By &= inProfile
	// Such as the setting "profile": a profile cannot choose another.
	if t.leaf && !t.spec.PersistToProfile {
		return target{problem: "cannot be set in a profile"}
	}
	if t.nearest != "" {
		t.nearest = groupProfiles + "." + profile + "." + t.nearest
	}
	return t
}

func (x *index) findPlain(key string) target {
	if s, ok := x.specs[key]; ok {
		return target{leaf: true, spec: s}
	}
	if x.groups[key] {
		return target{}
	}
	// The most likely mistake: a provider looks like a group of settings.
	if first, _, _ := strings.Cut(key, "."); first == groupProvider {
		return target{problem: "a provider belongs in a profile", nearest: groupProfiles + ".<name>." + key}
	}
	if rest, ok := strings.CutPrefix(key, groupGrants+"."); ok {
		return findNamed(key, groupGrants, rest, "unknown grant", grantSpecs)
	}
	if rest, ok := strings.CutPrefix(key, groupRequired+"."); ok {
		return findNamed(key, groupRequired, rest, "unknown setting", requiredSpecs)
	}
	rest, ok := strings.CutPrefix(key, groupStrategies+".")
	if !ok {
		return target{problem: "unknown setting", nearest: x.nearestKey(key)}
	}
	strategy, own, more := strings.Cut(rest, ".")
	if !strategyName().MatchString(strategy) {
		return target{problem: "a strategy's name consists of lower-case letters, digits and single hyphens"}
	}
	if !more {
		return target{}
	}
	if !freeName().MatchString(own) {
		return target{problem: "the key of a strategy's own setting consists of letters, digits, hyphens and " +
			"underscores"}
	}
	// Any key and any simple value, as the plugin may not even be installed. [Config.Strategy] checks again.
	s := ownSpec
	s.Key = key
	return target{leaf: true, spec: s}
}

// findNamed is find for a key below a group whose next part is a strategy's name; rest is what follows the group.
func findNamed(key, group, rest, unknown string, specs []Spec) target {
	name, own, more := strings.Cut(rest, ".")
	switch {
	case !strategyName().MatchString(name):
		return target{problem: "a strategy's name consists of lower-case letters, digits and single hyphens"}
	case !more:
		return target{}
	}
	known := make([]string, len(specs))
	for i, s := range specs {
		if known[i] = s.Key; s.Key == own {
			s.Key = key
			return target{leaf: true, spec: s}
		}
	}
	t := target{problem: unknown + ": there are " + strings.Join(known, ", ")}
	if guess := nearest.One(own, known); guess != "" {
		t.nearest = group + "." + name + "." + guess
	}
	return t
}

// ownSpec is the row of every strategy's own setting. What a token may set depends on what the strategy declares.
var ownSpec = Spec{Key: "<key>", By: ByProject | BySession | ByToken, Type: Scalar, PersistToProfile: true,
	DefaultText: "the strategy's own", Category: categoryBehavior,
	Meaning: "The strategy's own setting. A token sets numbers, durations, truth values and choices, no free text."}

// grantSpecs are the exceptions from isolation that a plugin can be granted, by the last part of the key.
var grantSpecs = []Spec{
	{Key: "network", Type: Boolean, Default: false, Category: categoryHost,
		Meaning: "Whether the plugin may use the network."},
	{Key: "processes", Type: Boolean, Default: false, Category: categoryHost,
		Meaning: "Whether the plugin may start other processes."},
	{Key: "read", Type: Paths, DefaultText: "none", Category: categoryHost,
		Meaning: "Files and directories that the plugin may read, and run programs from, in addition to those of " +
			"the system."},
}

var (
	// A version as people write it, and as the library of package install reads it; ^ allows what is compatible.
	versionWanted = lazyregexp.New(`^\^?[0-9]+(\.[0-9]+){0,2}(-[0-9A-Za-z.-]+)?$`)
	publicKey     = lazyregexp.New(`^RW[0-9A-Za-z+/]{54}$`)
)

// requiredSpecs say which plugin a host needs, by the last part of the key.
var requiredSpecs = []Spec{
	{Key: "source", Type: String, DefaultText: "required", Category: categoryHost,
		Meaning: "Where 'thresh plugins install' gets the plugin: github.com/OWNER/REPO, the https:// address of a " +
			"directory or an archive, or an absolute path."},
	{Key: "version", Type: String, DefaultText: "any", Category: categoryHost,
		valid:   func(v string) bool { return versionWanted().MatchString(v) },
		want:    "a version such as 1.2.3, or ^1.2 for that and later ones of 1",
		Meaning: "Version of the plugin: this one (1.2.3), or the newest that is compatible (^1.2)."},
	{Key: "key", Type: String, DefaultText: "the one of the first installation", Category: categoryHost,
		valid:   func(v string) bool { return publicKey().MatchString(v) },
		want:    "a public key of minisign, which begins with RW",
		Meaning: "Publisher's public key of minisign: the checksums must be signed with it."},
}

// NamedSpecs returns the settings with a user's name in their key: those of strategies, grants for plugins, and required
// plugins.
func NamedSpecs() []Spec {
	own := ownSpec
	own.Key = groupStrategies + ".<name>." + own.Key
	specs := []Spec{own}
	for _, named := range []struct {
		group string
		specs []Spec
	}{{groupGrants, grantSpecs}, {groupRequired, requiredSpecs}} {
		for _, s := range named.specs {
			s.Key = named.group + ".<name>." + s.Key
			specs = append(specs, s)
		}
	}
	return specs
}

// nearestKey guesses at a full key, or, for a key without dots, at the last part of one. "" if nothing is similar.
func (x *index) nearestKey(key string) string {
	candidates := slices.Concat(x.keys, slices.Sorted(maps.Keys(x.groups)))
	if guess := nearest.One(key, candidates); guess != "" || strings.Contains(key, ".") {
		return guess
	}
	// Users remember "threshold" of compression.threshold.
	last := map[string]string{}
	for _, k := range x.keys {
		last[k[strings.LastIndexByte(k, '.')+1:]] = k
	}
	return last[nearest.One(key, slices.Sorted(maps.Keys(last)))]
}

func (x *index) under(group string) []string {
	var keys []string
	for _, k := range x.keys {
		if strings.HasPrefix(k, group+".") {
			keys = append(keys, k)
		}
	}
	return keys
}
