package pricing

import "time"

// List is what one provider charges for one family of models. Prices are in USD per million tokens.
type List struct {
	// Name identifies the list in settings and reports, for example "anthropic-sonnet".
	Name string `yaml:"name" json:"name"`
	// Models are patterns ("claude-sonnet-*") of the model names that the list applies to.
	Models []string `yaml:"models" json:"models,omitempty"`
	// Input is the price of a prompt token that is neither read from the prompt cache nor written to it. Without a
	// cache, it is the price of every prompt token.
	Input float64 `yaml:"input" json:"input"`
	// CacheRead is the price of a prompt token that was read from the cache. 0 means that the provider has no cache,
	// so a cache with free reads needs a tiny price instead of 0.
	CacheRead float64 `yaml:"cacheRead" json:"cacheRead"`
	// CacheWrite is the price of a prompt token that is written to the cache. 0: writing costs the same as Input.
	CacheWrite float64 `yaml:"cacheWrite" json:"cacheWrite"`
	// Output is the price of a generated token.
	Output float64 `yaml:"output" json:"output"`
	// CacheTTL is how long a prompt stays cached after its last use. 0, for a provider with a cache, means for ever.
	CacheTTL time.Duration `yaml:"cacheTTL" json:"cacheTTLNs,omitempty"`
	// CacheMinimum is the length, in tokens, of the shortest prompt (or beginning of a prompt) that is cached.
	CacheMinimum int `yaml:"cacheMinimum" json:"cacheMinimum,omitempty"`
	// AsOf is the day on which the prices were looked up ("2006-01-02"), Source the web page that states them.
	AsOf   string `yaml:"asOf" json:"asOf"`
	Source string `yaml:"source" json:"source"`
	// Note is a remark for the user about the prices, or "".
	Note string `yaml:"note" json:"note,omitempty"`
}

// Read is the price of a token that the cache holds: the input price for a provider without a cache.
func (l *List) Read() float64 {
	if l.CacheRead == 0 {
		return l.Input
	}
	return l.CacheRead
}

// Write is the price of a token that the cache does not hold yet: the input price unless writing has a price of its
// own.
func (l *List) Write() float64 {
	if l.CacheRead == 0 || l.CacheWrite == 0 {
		return l.Input
	}
	return l.CacheWrite
}

// Cold reports whether the cache holds nothing any more after a pause of this length. Without a cache it always is
// cold.
func (l *List) Cold(idle time.Duration) bool {
	return l.CacheRead == 0 || l.CacheTTL > 0 && idle > l.CacheTTL
}
