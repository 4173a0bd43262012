package llm

import (
	"net/url"

	"github.com/thresh-dev/thresh/host/config"
	"github.com/thresh-dev/thresh/host/internal/provider"
)

// Profile describes how a model is reached. Zero numbers and durations mean "no limit", except: MaxOutput 0 is
// [DefaultMaxOutput] tokens, and Retries 0 is no retry.
type Profile struct {
	Name string
	config.Provider
}

// DefaultMaxOutput limits an answer, in tokens, if neither the request nor the profile does.
const DefaultMaxOutput = 8192

// setting returns the full key of one of the profile's settings.
func (p Profile) setting(key string) string { return "profiles." + p.Name + ".provider." + key }

// ownHosts are the providers' own servers, which require a key.
var ownHosts = map[string]string{config.KindOpenAI: "api.openai.com", config.KindAnthropic: "api.anthropic.com"}

// official reports whether the server is the provider's own.
func (p Profile) official() bool {
	u, err := url.Parse(p.BaseURL)
	return p.BaseURL == "" || err == nil && u.Hostname() == ownHosts[p.Kind]
}

func (p Profile) server() string {
	if p.BaseURL == "" {
		return "https://" + ownHosts[p.Kind]
	}
	return p.BaseURL
}

// maxOutput returns the token limit for a request: the profile's, or wanted if that is lower and not 0.
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

// exceeded returns the error for a request that, by the host's count, does not fit into the model's context window; nil
// if it does, or the window is unknown. Servers of local models cut such a request instead of refusing it: they would
// summarise a part of the conversation as if it were all.
func (p Profile) exceeded(u provider.Usage) *Error {
	if p.ContextLimit <= 0 || u.Prompt()+u.Output <= p.ContextLimit {
		return nil
	}
	e := p.failf(ErrContextExceeded, "%d tokens of input and %d of output do not fit into %d", u.Prompt(), u.Output,
		p.ContextLimit)
	e.Hint = p.hint(e)
	return e
}

// check returns what is wrong with a profile; "" if nothing. Errors show the URL, so it must not hold credentials.
func (p Profile) check() string {
	u, err := url.Parse(p.BaseURL)
	switch {
	case p.Kind != config.KindOpenAI && p.Kind != config.KindAnthropic:
		return p.setting("kind") + " is \"" + clip(p.Kind) + "\"; want openai or anthropic"
	case p.Model == "":
		return p.setting("model") + " is missing; want the model's name, as the provider calls it"
	case p.KeyEnv != "" && p.KeyFile != "":
		return p.setting("keyEnv") + " and keyFile are both set; want one of them"
	case p.BaseURL != "" && (err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" ||
		u.User != nil || u.RawQuery != "" || u.Fragment != ""):
		return p.setting("baseURL") + " is not usable; want an address such as https://api.example.com/v1, without " +
			"credentials and query"
	case p.official() && p.KeyEnv == "" && p.KeyFile == "":
		return "no key: set " + p.setting("keyEnv") +
			" to the name of the environment variable that holds it, or keyFile to a file"
	}
	return ""
}
