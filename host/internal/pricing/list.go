package pricing

import "time"

// List is what a provider charges for a family of models. Prices are in USD per million tokens.
type List struct {
	// Name identifies the list, for example "anthropic-sonnet".
	Name string `yaml:"name" json:"name"`
	// Models are patterns of model names ("claude-sonnet-*").
	Models []string `yaml:"models" json:"models,omitempty"`
	// Input is for prompt tokens neither read from the prompt cache nor written to it.
	Input float64 `yaml:"input" json:"input"`
	// CacheRead is for prompt tokens read from the cache. 0 means no cache: a cache with free reads needs a tiny price.
	CacheRead float64 `yaml:"cacheRead" json:"cacheRead"`
	// CacheWrite is for prompt tokens written to the cache; 0 for the same as Input.
	CacheWrite float64 `yaml:"cacheWrite" json:"cacheWrite"`
	// CacheWriteHour is for prompt tokens written to a cache that is kept for an hour; 0 if there is none, or a list of
	// its own has it.
	CacheWriteHour float64 `yaml:"cacheWriteHour" json:"cacheWriteHour,omitempty"`
	// Output is for generated tokens, reasoning included.
	Output float64 `yaml:"output" json:"output"`
	// Over are the prices of requests with long prompts, by rising bounds, and From those of days: [List.For] chooses. Of
	// a list in a [Catalog], the fields above are the prices of today.
	Over []Over `yaml:"over" json:"over,omitempty"`
	From []From `yaml:"from" json:"from,omitempty"`
	// Fast is how many times as much a request costs that asks for speed; 0 if the provider offers none.
	Fast float64 `yaml:"fast" json:"fast,omitempty"`
	// CacheTTL is how long a prompt stays cached after its last use; 0, with a cache, for ever.
	CacheTTL time.Duration `yaml:"cacheTTL" json:"cacheTTLNs,omitempty"`
	// CacheMinimum is the shortest prompt (or beginning of one) that is cached, in tokens.
	CacheMinimum int `yaml:"cacheMinimum" json:"cacheMinimum,omitempty"`
	// AsOf is the day of the prices ("2006-01-02"), Source the web page that states them.
	AsOf   string `yaml:"asOf" json:"asOf"`
	Source string `yaml:"source" json:"source"`
	Note   string `yaml:"note" json:"note,omitempty"`
	// Hour is the list of the same models for a cache that is kept for an hour: the one with "-1h" added to the name,
	// which a catalog makes of CacheWriteHour. It is nil if there is none.
	Hour *List `yaml:"-" json:"-"`
}

// ForHour returns the list for a cache that is kept for an hour, l itself if there is no other.
func (l *List) ForHour() *List {
	if l.Hour == nil {
		return l
	}
	return l.Hour
}

// Prompt is a prompt as a provider counted it, in tokens by price category.
type Prompt struct {
	// CacheWrite was written to a cache that is kept for minutes, CacheWriteHour to one that is kept for an hour.
	CacheRead, CacheWrite, CacheWriteHour, Uncached int
}

// Cost prices a prompt whose parts are known, today and at ordinary speed.
func (l *List) Cost(p Prompt) Cost {
	l = l.For(Terms{Tokens: p.CacheRead + p.CacheWrite + p.CacheWriteHour + p.Uncached})
	return Cost{CacheRead: p.CacheRead, CacheWrite: p.CacheWrite + p.CacheWriteHour, Uncached: p.Uncached,
		USD: perMillion * (float64(p.CacheRead)*l.Read() + float64(p.CacheWrite)*l.Write() +
			float64(p.CacheWriteHour)*l.ForHour().Write() + float64(p.Uncached)*l.Input)}
}

// Read is the price of a cached token: the input price for a provider without a cache.
func (l *List) Read() float64 {
	if l.CacheRead == 0 {
		return l.Input
	}
	return l.CacheRead
}

// Write is the price of a token not cached yet: the input price unless writing has its own.
func (l *List) Write() float64 {
	if l.CacheRead == 0 || l.CacheWrite == 0 {
		return l.Input
	}
	return l.CacheWrite
}

// Cold reports whether the cache is empty after a pause of this length. Without a cache it always is.
func (l *List) Cold(idle time.Duration) bool {
	return l.CacheRead == 0 || l.CacheTTL > 0 && idle > l.CacheTTL
}
