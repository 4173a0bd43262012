package pricing

import (
	"strings"
	"time"
)

// Rates are prices in USD per million tokens, with the meanings that they have in a [List].
type Rates struct {
	Input      float64 `yaml:"input" json:"input"`
	CacheRead  float64 `yaml:"cacheRead,omitempty" json:"cacheRead,omitempty"`
	CacheWrite float64 `yaml:"cacheWrite,omitempty" json:"cacheWrite,omitempty"`
	// CacheWriteHour is there if the list has it.
	CacheWriteHour float64 `yaml:"cacheWriteHour,omitempty" json:"cacheWriteHour,omitempty"`
	Output         float64 `yaml:"output" json:"output"`
}

func (r Rates) times(f float64) Rates {
	return Rates{r.Input * f, r.CacheRead * f, r.CacheWrite * f, r.CacheWriteHour * f, r.Output * f}
}

// Over are the prices of a whole request whose prompt has more than so many tokens.
type Over struct {
	Tokens int `yaml:"tokens" json:"tokens"`
	Rates  `yaml:",inline"`
}

// From are prices from the beginning of a day on ("2006-01-02", UTC); "" is the beginning.
type From struct {
	Day   string `yaml:"day" json:"day,omitempty"`
	Rates `yaml:",inline"`
	Over  []Over `yaml:"over,omitempty" json:"over,omitempty"`
}

// Terms are what a request's prices depend on. The zero value is a short, ordinary request of today.
type Terms struct {
	Tokens int       // of the whole prompt
	At     time.Time // zero: today
	Fast   bool      // the request asked for speed and got it
}

// For returns the prices of a request: l itself if its own prices hold.
func (l *List) For(t Terms) *List {
	r, over, dated := l.rates(), l.Over, false
	if len(l.From) > 0 && !t.At.IsZero() {
		day := t.At.UTC().Format(time.DateOnly)
		for _, f := range l.From {
			if f.Day <= day {
				r, over, dated = f.Rates, f.Over, true
			}
		}
	}
	long := false
	for _, o := range over {
		if t.Tokens > o.Tokens {
			r, long = o.Rates, true
		}
	}
	fast := t.Fast && l.Fast > 0
	if fast {
		r = r.times(l.Fast)
	}
	if !dated && !long && !fast {
		return l
	}
	flat := *l
	flat.set(r, over)
	flat.From, flat.Fast = nil, 0
	if long || fast {
		flat.Over = nil
	}
	if l.Hour != nil {
		flat.Hour = l.Hour.For(t)
	}
	return &flat
}

func (l *List) rates() Rates {
	return Rates{l.Input, l.CacheRead, l.CacheWrite, l.CacheWriteHour, l.Output}
}

// rest returns the rates of long prompts and other days.
func (l *List) rest() (all []Rates) {
	add := func(over []Over) {
		for _, o := range over {
			all = append(all, o.Rates)
		}
	}
	add(l.Over)
	for _, f := range l.From {
		all = append(all, f.Rates)
		add(f.Over)
	}
	return all
}

func (l *List) set(r Rates, over []Over) {
	l.Input, l.CacheRead, l.CacheWrite, l.CacheWriteHour, l.Output = r.Input, r.CacheRead, r.CacheWrite, r.CacheWriteHour, r.Output
	l.Over = over
}

// Dear returns the bound beyond which a prompt costs more, in tokens, and the list for those that do; 0 and l itself if
// there is none.
func (l *List) Dear() (bound int, dear *List) {
	if len(l.Over) == 0 {
		return 0, l
	}
	bound = l.Over[0].Tokens
	return bound, l.For(Terms{Tokens: bound + 1})
}

// today returns the list with the prices of a day. From then has the earlier ones too.
func (l *List) today(day time.Time) *List {
	if len(l.From) == 0 {
		return l
	}
	now := *l
	now.From = append([]From{{Rates: l.rates(), Over: l.Over}}, l.From...)
	is := now.For(Terms{At: day})
	now.set(is.rates(), is.Over)
	return &now
}

// hourly returns the list for a cache that is kept for an hour, which differs in what a write costs.
func (l *List) hourly() *List {
	hour := l.with(func(r Rates) Rates { return Rates{r.Input, r.CacheRead, r.CacheWriteHour, 0, r.Output} })
	hour.Name, hour.Models, hour.CacheTTL = l.Name+hourSuffix, nil, time.Hour
	hour.Note = strings.TrimSpace("The cache is kept for an hour, which costs more to write. " + l.Note)
	return hour
}

// faster returns the list for requests that ask for speed.
func (l *List) faster() *List {
	fast := l.with(func(r Rates) Rates { return r.times(l.Fast) })
	fast.Name, fast.Models, fast.Fast = l.Name+fastSuffix, nil, 0
	if l.Hour != nil {
		fast.Hour = l.Hour.with(func(r Rates) Rates { return r.times(l.Fast) })
		fast.Hour.Name, fast.Hour.Fast = fast.Name+hourSuffix, 0
	}
	return fast
}

// with returns a copy with other rates.
func (l *List) with(other func(Rates) Rates) *List {
	over := func(all []Over) (out []Over) {
		for _, o := range all {
			out = append(out, Over{o.Tokens, other(o.Rates)})
		}
		return out
	}
	x := *l
	x.From = nil
	x.set(other(l.rates()), over(l.Over))
	for _, f := range l.From {
		x.From = append(x.From, From{f.Day, other(f.Rates), over(f.Over)})
	}
	return &x
}

// hourSuffix makes the name of the list for a cache that is kept for an hour, and fastSuffix that for requests that ask
// for speed.
const hourSuffix, fastSuffix = "-1h", "-fast"
