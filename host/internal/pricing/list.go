package pricing

import "time"

// List is what one provider asks for one family of models. Prices are in USD for a million tokens.
type List struct {
	// Name is how settings and reports call it, for example "anthropic-sonnet".
	Name string `yaml:"name" json:"name"`
	// Models are patterns ("claude-sonnet-*") of the model names that it holds for.
	Models []string `yaml:"models" json:"models,omitempty"`
	// Input is the price of a prompt token that is neither read from the prompt cache nor written to it.
	Input float64 `yaml:"input" json:"input"`
	// CacheRead is the price of a prompt token that the cache held. 0: the provider has no cache. A cache that is read for
	// nothing has the least price that is worth writing down.
	CacheRead float64 `yaml:"cacheRead" json:"cacheRead"`
	// CacheWrite is the price of a prompt token that is written to the cache. 0: writing costs no more than Input.
	CacheWrite float64 `yaml:"cacheWrite" json:"cacheWrite"`
	// Output is the price of a generated token.
	Output float64 `yaml:"output" json:"output"`
	// CacheTTL is how long a prompt stays cached after its last use; 0 with a cache is for ever.
	CacheTTL time.Duration `yaml:"cacheTTL" json:"cacheTTLNs,omitempty"`
	// CacheMinimum is the shortest prompt, and the shortest beginning of one, that is cached, in tokens.
	CacheMinimum int `yaml:"cacheMinimum" json:"cacheMinimum,omitempty"`
	// AsOf is the day on which the prices were looked up ("2006-01-02"), Source the page they stand on.
	AsOf   string `yaml:"asOf" json:"asOf"`
	Source string `yaml:"source" json:"source"`
	// Note is what to know about the prices; "" if nothing.
	Note string `yaml:"note" json:"note,omitempty"`
}

// Read is the price of a token that the cache holds.
func (l *List) Read() float64 {
	if l.CacheRead == 0 {
		return l.Input
	}
	return l.CacheRead
}

// Write is the price of a token that the cache does not hold yet.
func (l *List) Write() float64 {
	if l.CacheRead == 0 || l.CacheWrite == 0 {
		return l.Input
	}
	return l.CacheWrite
}

// Cold reports whether nothing is left in the cache after a pause.
func (l *List) Cold(idle time.Duration) bool {
	return l.CacheRead == 0 || l.CacheTTL > 0 && idle > l.CacheTTL
}
