package config

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/thresh-dev/thresh/internal/nearest"
)

// What a key stands for. Keys are dotted paths; those of the registry are fixed, and below profiles, strategies and
// grants there are names of the user's. What is wrong with a key is found here, with a guess at what was meant.

// Keys that this package itself refers to, and the groups below which names are the user's.
const (
	keyProfile            = "profile"
	keyCompressionProfile = "compression.profile"
	keyContextLimit       = "model.contextLimit"
	keyCompletionBudget   = "model.completionBudget"

	groupProfiles   = "profiles"
	groupStrategies = "strategies"
	groupGrants     = "plugins.grants"
	groupProvider   = "provider" // in a profile only

	envPrefix = "THRESH_"
)

var (
	// strategyName is also what a plugin's file name must end with. freeName is for profiles and the settings of
	// strategies: without dots, which separate the parts of a key.
	strategyName = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)
	freeName     = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]*$`)
)

// index is the registry, ready to be asked. It does not change after it was built. It is built once, as each key of
// each layer asks it.
type index struct {
	// keys are in the order of [Specs].
	keys  []string
	specs map[string]Spec
	// renames are the keys of settings of which a value has another name now.
	renames []string
	groups  map[string]bool // every proper prefix of a key, and the two free groups
	// Built from the keys and not parsed back: "_" in a variable may be a dot or the end of a word.
	env map[string]string // variable to key

	provider map[string]Spec // by key in a profile, such as provider.kind
}

// registry returns the index. It is not a variable that init fills, so that a program that never loads a
// configuration does not pay for it.
var registry = sync.OnceValue(func() *index {
	x := &index{specs: map[string]Spec{}, groups: map[string]bool{groupProfiles: true, groupStrategies: true,
		groupGrants: true}, env: map[string]string{}, provider: map[string]Spec{}}
	for _, s := range ProviderSpecs() {
		x.provider[s.Key] = s
	}
	for _, s := range Specs() {
		x.keys = append(x.keys, s.Key)
		x.specs[s.Key] = s
		if len(s.renamed) > 0 {
			x.renames = append(x.renames, s.Key)
		}
		x.env[envName(s.Key)] = s.Key
		// Each prefix before a dot is a group.
		for i, c := range s.Key {
			if c == '.' {
				x.groups[s.Key[:i]] = true
			}
		}
	}
	return x
})

// envName returns the environment variable of a key. compression.llm.maxCalls is THRESH_COMPRESSION_LLM_MAX_CALLS.
// The way back is ambiguous: a capital letter and a dot both become "_".
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

// target is what a full key stands for: a setting (leaf), a group of settings, or nothing (then problem says why). Both
// kinds of "something" have an empty problem.
type target struct {
	leaf    bool
	spec    Spec   // of a leaf
	profile string // the profile that the key is in; "" for none
	problem string
	nearest string
}

// find says what a full key stands for.
func (x *index) find(key string) target {
	rest, ok := strings.CutPrefix(key, groupProfiles+".")
	if !ok {
		return x.findPlain(key)
	}
	profile, sub, more := strings.Cut(rest, ".")
	if !freeName.MatchString(profile) {
		return target{problem: "a profile's name consists of letters, digits, hyphens and underscores"}
	}
	// The profile as a whole: a group.
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
	// The setting "profile" itself, for one: a profile cannot choose another.
	if t.leaf && !t.spec.PersistToProfile {
		return target{problem: "cannot be set in a profile"}
	}
	if t.nearest != "" {
		t.nearest = groupProfiles + "." + profile + "." + t.nearest
	}
	return t
}

// findPlain is find for a key outside of profiles.
func (x *index) findPlain(key string) target {
	if s, ok := x.specs[key]; ok {
		return target{leaf: true, spec: s}
	}
	if x.groups[key] {
		return target{}
	}
	// The most likely mistake, as a provider looks like a group of settings.
	if first, _, _ := strings.Cut(key, "."); first == groupProvider {
		return target{problem: "a provider belongs in a profile", nearest: groupProfiles + ".<name>." + key}
	}
	if rest, ok := strings.CutPrefix(key, groupGrants+"."); ok {
		return findGrant(key, rest)
	}
	rest, ok := strings.CutPrefix(key, groupStrategies+".")
	if !ok {
		return target{problem: "unknown setting", nearest: x.nearestKey(key)}
	}
	strategy, own, more := strings.Cut(rest, ".")
	if !strategyName.MatchString(strategy) {
		return target{problem: "a strategy's name consists of lower-case letters, digits and single hyphens"}
	}
	if !more {
		return target{}
	}
	// A dot in it would look like a group.
	if !freeName.MatchString(own) {
		return target{problem: "the key of a strategy's own setting consists of letters, digits, hyphens and " +
			"underscores"}
	}
	// Any key and any simple value: the plugin that knows better may not even be installed. [Config.Strategy] checks
	// again.
	s := ownSpec
	s.Key = key
	return target{leaf: true, spec: s}
}

// findGrant is find for a key below plugins.grants, of which rest is the part after that.
func findGrant(key, rest string) target {
	name, own, more := strings.Cut(rest, ".")
	switch {
	case !strategyName.MatchString(name):
		return target{problem: "a strategy's name consists of lower-case letters, digits and single hyphens"}
	case !more:
		return target{}
	}
	for _, s := range grantSpecs {
		if s.Key == own {
			s.Key = key
			return target{leaf: true, spec: s}
		}
	}
	known := make([]string, len(grantSpecs))
	for i, s := range grantSpecs {
		known[i] = s.Key
	}
	t := target{problem: "unknown grant: there are " + strings.Join(known, ", ")}
	if guess := nearest.One(own, known); guess != "" {
		t.nearest = groupGrants + "." + name + "." + guess
	}
	return t
}

// ownSpec is the row of every strategy's own setting. What a token may set of them depends on what is declared.
var ownSpec = Spec{Key: "<key>", By: ByProject | BySession | ByToken, Type: Scalar, PersistToProfile: true,
	DefaultText: "the strategy's own", Category: categoryBehavior,
	Meaning: "The strategy's own setting. A token sets numbers, durations, truth values and choices, no free text."}

// grantSpecs are what can be granted to a plugin, by the last part of the key. A grant is an exception from isolation.
var grantSpecs = []Spec{
	{Key: "network", Type: Boolean, Default: false, Category: categoryHost,
		Meaning: "Whether the plugin may use the network."},
	{Key: "processes", Type: Boolean, Default: false, Category: categoryHost,
		Meaning: "Whether the plugin may start other processes."},
	{Key: "read", Type: Paths, DefaultText: "none", Category: categoryHost,
		Meaning: "Files and directories that the plugin may read, and run programs from, in addition to those of " +
			"the system."},
}

// NamedSpecs returns the settings with a name of the user's in their key: those of strategies, and grants for plugins.
func NamedSpecs() []Spec {
	own := ownSpec
	own.Key = groupStrategies + ".<name>." + own.Key
	specs := []Spec{own}
	for _, s := range grantSpecs {
		s.Key = groupGrants + ".<name>." + s.Key
		specs = append(specs, s)
	}
	return specs
}

// nearestKey guesses at a full key, and at the last part of a key if there is only one part. "" if nothing is
// similar.
func (x *index) nearestKey(key string) string {
	candidates := slices.Concat(x.keys, slices.Sorted(maps.Keys(x.groups)))
	if guess := nearest.One(key, candidates); guess != "" || strings.Contains(key, ".") {
		return guess
	}
	// "threshold" alone is what a user remembers of compression.threshold.
	last := map[string]string{}
	for _, k := range x.keys {
		last[k[strings.LastIndexByte(k, '.')+1:]] = k
	}
	return last[nearest.One(key, slices.Sorted(maps.Keys(last)))]
}

// under returns the keys of the settings in a group.
func (x *index) under(group string) []string {
	var keys []string
	for _, k := range x.keys {
		if strings.HasPrefix(k, group+".") {
			keys = append(keys, k)
		}
	}
	return keys
}
