package pricing

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
)

// litellm reads model_prices_and_context_window.json of BerriAI/litellm: a table of models, in which prices are for one
// token and names of fields say for which ("…_above_272k_tokens", "…_priority").
func (r *reader) litellm(data []byte) (out []offer) {
	var all map[string]json.RawMessage
	if !r.decode(data, &all) {
		return nil
	}
	for _, name := range sorted(all) {
		var m struct {
			Provider string `json:"litellm_provider"`
			Mode     string `json:"mode"`
			Source   string `json:"source"`
			Specific struct {
				Fast float64 `json:"fast"`
			} `json:"provider_specific_entry"`
		}
		// The sample explains the fields, in words.
		if name == "sample_spec" || !r.model(name, all[name], &m) {
			continue
		}
		if m.Mode != "" && m.Mode != "chat" && m.Mode != "responses" && m.Mode != "completion" {
			continue
		}
		var fields map[string]json.RawMessage
		if !r.model(name, all[name], &fields) {
			continue
		}
		usd := func(field string) float64 {
			raw := fields[field]
			if raw == nil {
				return 0
			}
			var price *float64
			if !r.model(name, raw, &price) {
				return 0
			}
			return r.price(name, field, price, 1e6)
		}
		rates := func(suffix string, usual Rates) Rates {
			of := func(field string, otherwise float64) float64 {
				if fields[field+suffix] == nil {
					return otherwise
				}
				return usd(field + suffix)
			}
			return Rates{of("input_cost_per_token", usual.Input), of("cache_read_input_token_cost", usual.CacheRead),
				of("cache_creation_input_token_cost", usual.CacheWrite),
				of("cache_creation_input_token_cost_above_1hr", usual.CacheWriteHour), of("output_cost_per_token", usual.Output)}
		}
		f := From{Rates: rates("", Rates{})}
		for field := range fields {
			k, ok := strings.CutPrefix(field, "input_cost_per_token_above_")
			k, is := strings.CutSuffix(k, "k_tokens")
			if n, err := strconv.Atoi(k); ok && is && err == nil && n > 0 && n < 100_000 {
				f.Over = append(f.Over, Over{n * 1000, rates("_above_"+k+"k_tokens", f.Rates)})
			}
		}
		slices.SortFunc(f.Over, func(a, b Over) int { return a.Tokens - b.Tokens })
		o := offer{provider: m.Provider, model: name, models: []string{exactly(name)}, prices: []From{f},
			fast: m.Specific.Fast, source: m.Source}
		if priority := usd("input_cost_per_token_priority"); o.fast == 0 && priority > f.Input && f.Input > 0 {
			o.fast = priority / f.Input
		}
		// With a prefix, it is somebody else's, unless that is the maker: "xai/grok-4".
		if at := strings.IndexByte(name, '/'); at >= 0 && name[:at] != m.Provider {
			o.provider = m.Provider + "/" + name[:at]
		}
		out = append(out, o)
	}
	return out
}
