package llm

import (
	"net/url"

	"github.com/thresh-dev/thresh/host/config"
)

// Profile is how a model is reached. The zero value of a number or a duration is no limit, except: MaxOutput 0 is
// [DefaultMaxOutput] tokens, and Retries 0 is no retry.
type Profile struct {
	// Name is for errors, and names the settings: profiles.<name>.provider.
	Name string
	config.Provider
}

// DefaultMaxOutput is the most that is generated, in tokens, where neither request nor profile says.
const DefaultMaxOutput = 8192

// setting names a setting of the profile for an error.
func (p Profile) setting(key string) string { return "profiles." + p.Name + ".provider." + key }

// hosts of the providers themselves; they want a key.
var ownHosts = map[string]string{config.KindOpenAI: "api.openai.com", config.KindAnthropic: "api.anthropic.com"}

// official says that the profile's server is the provider's own.
func (p Profile) official() bool {
	u, err := url.Parse(p.BaseURL)
	return p.BaseURL == "" || err == nil && u.Hostname() == ownHosts[p.Kind]
}

// server is the address for an error.
func (p Profile) server() string {
	if p.BaseURL == "" {
		return "https://" + ownHosts[p.Kind]
	}
	return p.BaseURL
}

// maxOutput is the limit for a request that wants at most so many tokens.
func (p Profile) maxOutput(wanted int) int {
	limit := p.MaxOutput
	if limit <= 0 {
		limit = DefaultMaxOutput
	}
	if wanted > 0 {
		limit = min(limit, wanted)
	}
	return limit
}

// check returns what is wrong with a profile, "" if nothing.
func (p Profile) check() string {
	u, err := url.Parse(p.BaseURL)
	switch {
	case p.Kind != config.KindOpenAI && p.Kind != config.KindAnthropic:
		return p.setting("kind") + " is \"" + clip(p.Kind) + "\"; want openai or anthropic"
	case p.Model == "":
		return p.setting("model") + " is missing; want the model's name, as the provider calls it"
	case p.KeyEnv != "" && p.KeyFile != "":
		return p.setting("keyEnv") + " and keyFile are both set; want one of them"
	case p.BaseURL != "" && (err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.User != nil || u.RawQuery != "" || u.Fragment != ""):
		return p.setting("baseURL") + " is not usable; want an address such as https://api.example.com/v1, without credentials and query"
	case p.official() && p.KeyEnv == "" && p.KeyFile == "":
		return "no key: set " + p.setting("keyEnv") + " to the name of the environment variable that holds it, or keyFile to a file"
	}
	return ""
}
