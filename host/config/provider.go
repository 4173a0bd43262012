package config

import (
	"maps"
	"net"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/knadh/koanf/v2"

	"github.com/thresh-dev/thresh/internal/lazyregexp"
	"github.com/thresh-dev/thresh/internal/nearest"
)

// How models are reached: the part of a profile that is not settings of the host. It names keys and addresses, so its
// rules about who may set it are stricter.

const (
	// KindOpenAI is chat completions: OpenAI and every compatible server.
	KindOpenAI = "openai"
	// KindAnthropic is the messages API.
	KindAnthropic = "anthropic"
)

// Provider holds the settings under profiles.<name>.provider: how a model is reached. It never holds a key.
type Provider struct {
	// Kind is [KindOpenAI] or [KindAnthropic].
	Kind string `koanf:"kind"`
	// Model is the provider's name for the model.
	Model string `koanf:"model"`
	// BaseURL is "" for the provider's own.
	BaseURL string `koanf:"baseURL"`
	// KeyEnv names an environment variable, and KeyFile (absolute) a file, with the key. At most one is set; none if
	// the server wants no key.
	KeyEnv  string `koanf:"keyEnv"`
	KeyFile string `koanf:"keyFile"`
	// ContextLimit and MaxOutput are in tokens; MaxOutput is smaller.
	ContextLimit int `koanf:"contextLimit"`
	MaxOutput    int `koanf:"maxOutput"`
	// Timeout is for a whole call with its retries, IdleTimeout for silence of the server.
	Timeout     time.Duration `koanf:"timeout"`
	IdleTimeout time.Duration `koanf:"idleTimeout"`
	Retries     int           `koanf:"retries"`
	Prices      Prices        `koanf:"prices"`
}

// Prices are in US dollars per million tokens. In the zero value they are not known.
type Prices struct {
	// Input and Output, if both are nil, are those of the model's price list; one alone that is nil is 0.
	Input  *float64 `koanf:"input"`
	Output *float64 `koanf:"output"`
	// CacheRead and CacheWrite are for reads and writes of the provider's cache; nil is the input price.
	CacheRead  *float64 `koanf:"cacheRead"`
	CacheWrite *float64 `koanf:"cacheWrite"`
}

// Known reports whether there are prices, which may be 0.
func (p Prices) Known() bool { return p.Input != nil || p.Output != nil }

// ProviderSpecs returns the settings of a profile's provider (provider.kind and others), found in profiles.<name> only.
func ProviderSpecs() []Spec {
	row := func(s Spec) Spec {
		s.Key, s.Category, s.PersistToProfile = groupProvider+"."+s.Key, categoryProvider, true
		s.By |= BySession
		return s
	}
	// A project may use less of a model's window than the user configured.
	tokens := func(s Spec) Spec {
		s.By |= ByProject
		s.Type, s.Min, s.OpenMin, s.Unit = Integer, new(0.0), true, "tokens"
		return row(s)
	}
	// A project that set these would decide how long a session hangs.
	wait := func(s Spec) Spec {
		s.Type, s.Min, s.OpenMin = Duration, new(0.0), true
		return row(s)
	}
	// Not for projects either: wrong prices distort the user's budget and decisions.
	price := func(s Spec) Spec {
		s.Key, s.Type, s.Min, s.Unit = "prices."+s.Key, Number, new(0.0), "US dollars per million tokens"
		return row(s)
	}
	return []Spec{
		row(Spec{Key: "kind", Type: String, DefaultText: "none: required",
			Allowed: []string{KindOpenAI, KindAnthropic},
			Meaning: "Protocol of the provider: openai (chat completions, any compatible server) or anthropic " +
				"(messages)."}),
		row(Spec{Key: "model", Type: String, DefaultText: "none: required",
			Meaning: "Name of the model, as the provider calls it."}),
		row(Spec{Key: "baseURL", Type: URL, secret: true, valid: validURL,
			DefaultText: "https://api.openai.com/v1 or https://api.anthropic.com",
			Meaning:     "Base URL of the server: with /v1 for kind openai, without it for kind anthropic."}),
		row(Spec{Key: "keyEnv", Type: EnvName, secret: true, valid: envVariable().MatchString,
			DefaultText: "no key is sent",
			Meaning:     "Environment variable that holds the API key."}),
		row(Spec{Key: "keyFile", Type: Path, secret: true, valid: plausiblePath, DefaultText: "no key is sent",
			Meaning: "File that holds the API key and nothing else."}),
		tokens(Spec{Key: "contextLimit", DefaultText: "128000 for openai, 200000 for anthropic",
			Meaning: "Size of the model's context window."}),
		tokens(Spec{Key: "maxOutput", Default: 8192,
			Meaning: "Maximum number of tokens in one answer, thinking included; less than provider.contextLimit."}),
		wait(Spec{Key: "timeout", Default: 5 * time.Minute, Meaning: "Timeout of one call, retries included."}),
		wait(Spec{Key: "idleTimeout", Default: 2 * time.Minute,
			Meaning: "Timeout while the server sends nothing during a call."}),
		row(Spec{Key: "retries", Type: Integer, Default: 3, Min: new(0.0), Max: new(10.0),
			Meaning: "Maximum number of retries after a transient error."}),
		price(Spec{Key: "input", DefaultText: "the price list's", Meaning: "Price of input."}),
		price(Spec{Key: "output", DefaultText: "the price list's", Meaning: "Price of output."}),
		price(Spec{Key: "cacheRead", DefaultText: "the price of input",
			Meaning: "Price of input that is read from the prompt cache."}),
		price(Spec{Key: "cacheWrite", DefaultText: "the price of input",
			Meaning: "Price of input that is written to the prompt cache."}),
	}
}

// Provider returns how a profile's model is reached; false if there is no such profile, or it has no provider.
func (c *Config) Provider(profile string) (Provider, bool) {
	p, ok := c.providers[profile]
	for _, price := range []**float64{&p.Prices.Input, &p.Prices.Output, &p.Prices.CacheRead, &p.Prices.CacheWrite} {
		if *price != nil {
			*price = new(**price)
		}
	}
	return p, ok
}

var (
	// envVariable is upper case, to catch a key written in place of a name.
	envVariable = lazyregexp.New(`^[A-Z_][A-Z0-9_]*$`)
	// literalKey matches the usual beginnings of keys, secretName the last part of a setting's key, and providerKeys
	// what people write for a key under provider.
	literalKey   = lazyregexp.New(`^(sk|pk|key|gsk|xai|nvapi)[-_][^/\\.]*$`)
	secretName   = lazyregexp.New(`(?i)(^|[_-]|api|auth|access|secret)(key|token|secret|password|credentials?)$`)
	providerKeys = lazyregexp.New(`(?i)^provider\.(api|auth|secret)?[_-]?(key|token|secret|password|credentials?)$`)
)

// looksSecret guesses from a key's last part that its value is secret.
func looksSecret(key string) bool {
	return secretName().MatchString(key[strings.LastIndexByte(key, '.')+1:])
}

// plausiblePath is false for a key written in place of a file name.
func plausiblePath(text string) bool { return text != "" && !literalKey().MatchString(text) }

// validURL refuses credentials, queries and fragments: paths are appended to it, and a key in it would be logged.
func validURL(text string) bool {
	u, err := url.Parse(text)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Hostname() != "" && u.User == nil &&
		u.RawQuery == "" && !u.ForceQuery && u.Fragment == ""
}

// validUpstream is validURL for an address that agents' keys are sent to: in the clear only to this machine.
func validUpstream(text string) bool {
	u, err := url.Parse(text)
	return validURL(text) && err == nil &&
		(u.Scheme == "https" || u.Hostname() == "localhost" || net.ParseIP(u.Hostname()).IsLoopback())
}

func validIndex(text string) bool { return validUpstream(text) || filepath.IsAbs(text) }

func (x *index) findProvider(key string) target {
	if s, ok := x.provider[key]; ok {
		return target{leaf: true, spec: s}
	}
	for known := range x.provider {
		if strings.HasPrefix(known, key+".") {
			return target{}
		}
	}
	if providerKeys().MatchString(key) {
		// The value is never read, so no error can show it.
		return target{problem: "a key is not written into settings: name an environment variable in provider.keyEnv " +
			"or a file in provider.keyFile"}
	}
	return target{problem: "unknown setting", nearest: nearest.One(key, slices.Sorted(maps.Keys(x.provider)))}
}

func (c *Config) readProviders(p *problems) error {
	c.providers = map[string]Provider{}
	for _, name := range c.Profiles() {
		// From all layers: a project may add what is untrusted to a user's provider.
		set := c.merged.Cut(groupProfiles + "." + name)
		if !set.Exists(groupProvider) {
			continue
		}
		provider, err := decodeProvider(set)
		if err != nil {
			return err
		}
		if !p.unread {
			c.checkProvider(name, provider, set, p)
		}
		c.providers[name] = provider
	}
	return nil
}

func decodeProvider(profile *koanf.Koanf) (Provider, error) {
	l := newLayer(LayerDefault)
	for key, s := range registry().provider {
		if s.Default != nil {
			l.values[key] = setting{Value: s.Default}
		}
	}
	var provider Provider
	k, err := stack(l)
	if err != nil {
		return provider, err
	}
	if err := k.Merge(profile); err != nil {
		return provider, err
	}
	err = k.UnmarshalWithConf(groupProvider, &provider, unmarshalConf)
	// 0 is not a valid value, so it means unset.
	if provider.ContextLimit == 0 {
		provider.ContextLimit = 128_000
		if provider.Kind == KindAnthropic {
			provider.ContextLimit = 200_000
		}
	}
	return provider, err
}

func (c *Config) checkProvider(name string, pr Provider, profile *koanf.Koanf, p *problems) {
	const kind, model, maxOutput = "provider.kind", "provider.model", "provider.maxOutput"
	const keyEnv, keyFile, contextLimit = "provider.keyEnv", "provider.keyFile", "provider.contextLimit"
	origin := func(key string) Origin {
		v, _ := profile.Get(key).(setting)
		return v.Origin
	}
	// Keyed by the full key: two profiles may lack the same setting.
	complain := func(key string, e Error) {
		if !p.keys[key] { // else an error names the value already
			e.Key = groupProfiles + "." + name + "." + key
			p.add(e.Key, &e)
		}
	}
	if pr.Kind == "" {
		want := registry().provider[kind].Want()
		complain(kind, Error{Origin: c.profiles[name], Problem: "is missing", Allowed: want})
	}
	if pr.Model == "" {
		const want = "the model's name, as the provider calls it"
		complain(model, Error{Origin: c.profiles[name], Problem: "is missing", Allowed: want})
	}
	if pr.KeyEnv != "" && pr.KeyFile != "" {
		problem := "is set together with provider.keyEnv (" + origin(keyEnv).String() + ")"
		complain(keyFile, Error{Origin: origin(keyFile), Problem: problem, Allowed: "one of them"})
	}
	if pr.MaxOutput >= pr.ContextLimit && !p.keys[contextLimit] {
		at := origin(maxOutput)
		if !profile.Exists(maxOutput) {
			at = origin(contextLimit) // one of the two is set, as the defaults leave room
		}
		complain(maxOutput, Error{Origin: at, Value: show(pr.MaxOutput),
			Problem: "leaves nothing of the context window",
			Allowed: "less than provider.contextLimit, which is " + show(pr.ContextLimit)})
	}
}
