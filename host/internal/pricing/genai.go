package pricing

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
)

// genai reads prices/data.json of pydantic/genai-prices, in either of its versions: a list of providers, whose models
// have rules that match names, prices by date and by the size of the prompt, and windows.
func (r *reader) genai(data []byte) (out []offer) {
	var providers []struct {
		ID     string   `json:"id"`
		URLs   []string `json:"pricing_urls"`
		Models []json.RawMessage
	}
	if !r.decode(data, &providers) {
		return nil
	}
	for _, p := range providers {
		for _, raw := range p.Models {
			var head struct {
				ID string `json:"id"`
			}
			_ = json.Unmarshal(raw, &head)
			var m struct {
				Match  json.RawMessage `json:"match"`
				Window int             `json:"context_window"`
				Prices json.RawMessage `json:"prices"`
			}
			// Others' offers of Claude are what Anthropic's are, where a catalogue has these under another provider.
			if !r.model(head.ID, raw, &m) || p.ID == "google" && strings.HasPrefix(head.ID, "claude-") {
				continue
			}
			o := offer{provider: p.ID, model: head.ID, window: m.Window, models: r.matching(head.ID, m.Match)}
			if len(p.URLs) > 0 {
				o.source = p.URLs[0]
			}
			r.genaiPrices(&o, m.Prices)
			out = append(out, o)
		}
	}
	return out
}

// genaiPrices reads one set of prices, or several with a condition each. Of those for a time of day, the first are taken:
// no catalogue here has them.
func (r *reader) genaiPrices(o *offer, raw json.RawMessage) {
	var dated []struct {
		Constraint struct {
			Day  string `json:"start_date"`
			Time string `json:"start_time"`
		}
		Prices json.RawMessage
	}
	if strings.HasPrefix(strings.TrimSpace(string(raw)), "[") {
		if !r.model(o.model, raw, &dated) {
			return
		}
	} else {
		dated = slices.Grow(dated, 1)[:1]
		dated[0].Prices = raw
	}
	for i, d := range dated {
		if d.Constraint.Time != "" {
			continue
		}
		f := r.genaiRates(o.model, d.Prices)
		if f.Day = d.Constraint.Day; i == 0 {
			f.Day = ""
		}
		o.prices = append(o.prices, f)
	}
	slices.SortStableFunc(o.prices, func(a, b From) int { return strings.Compare(a.Day, b.Day) })
}

func (r *reader) genaiRates(model string, raw json.RawMessage) (f From) {
	var fields map[string]json.RawMessage
	if !r.model(model, raw, &fields) {
		return f
	}
	over := map[int]Rates{}
	type tier struct {
		Start int
		Price *float64
	}
	tiers := map[string][]tier{}
	read := func(field string) float64 {
		raw := fields[field]
		if raw == nil {
			return 0
		}
		var of struct {
			Base  *float64
			Tiers []tier
		}
		if raw[0] != '{' {
			if !r.model(model, raw, &of.Base) {
				return 0
			}
		} else if !r.model(model, raw, &of) {
			return 0
		}
		tiers[field] = of.Tiers
		for _, t := range of.Tiers {
			over[t.Start] = Rates{}
		}
		return r.price(model, field, of.Base, 1)
	}
	const input, cacheRead, cacheWrite, hour, output = "input_mtok", "cache_read_mtok", "cache_write_mtok",
		"cache_write_1h_mtok", "output_mtok"
	f.Rates = Rates{read(input), read(cacheRead), read(cacheWrite), read(hour), read(output)}
	at := func(field string, start int, usd float64) float64 {
		for _, t := range tiers[field] {
			if t.Start <= start {
				usd = r.price(model, field, t.Price, 1)
			}
		}
		return usd
	}
	for start := range over {
		f.Over = append(f.Over, Over{start, Rates{at(input, start, f.Input), at(cacheRead, start, f.CacheRead),
			at(cacheWrite, start, f.CacheWrite), at(hour, start, f.CacheWriteHour), at(output, start, f.Output)}})
	}
	slices.SortFunc(f.Over, func(a, b Over) int { return a.Tokens - b.Tokens })
	return f
}

// matching returns the patterns of a rule. What no pattern says, such as "and", matches nothing: then only the model's own
// name does.
func (r *reader) matching(model string, raw json.RawMessage) (out []string) {
	var rule struct {
		Equals   string `json:"equals"`
		Starts   string `json:"starts_with"`
		Ends     string `json:"ends_with"`
		Contains string `json:"contains"`
		Regex    string `json:"regex"`
		Or       []json.RawMessage
	}
	if raw != nil && !r.model(model, raw, &rule) {
		return nil
	}
	add := func(pattern string) {
		if !slices.Contains(out, pattern) {
			out = append(out, pattern)
		}
	}
	switch {
	case rule.Equals != "":
		add(exactly(rule.Equals))
	case rule.Starts != "":
		add(exactly(rule.Starts) + "*")
	case rule.Ends != "":
		add("*" + exactly(rule.Ends))
	case rule.Contains != "":
		add("*" + exactly(rule.Contains) + "*")
	case rule.Regex != "":
		if p, ok := globOf(rule.Regex); ok {
			add(p)
		}
	}
	for _, one := range rule.Or {
		for _, p := range r.matching(model, one) {
			add(p)
		}
	}
	if len(out) == 0 {
		add(exactly(model))
	}
	return out
}

var digits = regexp.MustCompile(`\\d(?:\{(\d)\})?`)

// globOf returns the pattern of a simple regular expression: letters, and so many digits.
func globOf(expression string) (string, bool) {
	s, from := strings.CutPrefix(expression, "^")
	s, to := strings.CutSuffix(s, "$")
	s = digits.ReplaceAllStringFunc(s, func(d string) string {
		n := 1
		if at := strings.IndexByte(d, '{'); at >= 0 {
			n = int(d[at+1] - '0')
		}
		return strings.Repeat("?", n)
	})
	s = strings.ReplaceAll(s, `\.`, ".")
	if strings.ContainsAny(s, `\[](){}+*|^$`) {
		return "", false
	}
	s = s[strings.LastIndexByte(s, '/')+1:]
	if !from {
		s = "*" + s
	}
	if !to {
		s += "*"
	}
	return strings.ToLower(s), true
}
