package pricing

import (
	"encoding/json"
	"slices"
)

// modelsDev reads api.json of models.dev: providers, whose models have a cost, tiers by the size of the context, and modes
// with a cost of their own.
func (r *reader) modelsDev(data []byte) (out []offer) {
	type cost struct {
		Input      *float64
		Output     *float64
		CacheRead  *float64 `json:"cache_read"`
		CacheWrite *float64 `json:"cache_write"`
	}
	var providers map[string]struct {
		Doc    string
		Models map[string]json.RawMessage
	}
	if !r.decode(data, &providers) {
		return nil
	}
	for _, provider := range sorted(providers) {
		p := providers[provider]
		for _, id := range sorted(p.Models) {
			name := provider + "/" + id
			rates := func(c cost) Rates {
				return Rates{r.price(name, "cost.input", c.Input, 1), r.price(name, "cost.cache_read", c.CacheRead, 1),
					r.price(name, "cost.cache_write", c.CacheWrite, 1), 0, r.price(name, "cost.output", c.Output, 1)}
			}
			var m struct {
				Cost *struct {
					cost
					Over200k *cost `json:"context_over_200k"`
					Tiers    []struct {
						cost
						Tier struct{ Size int }
					}
				}
				Experimental struct {
					Modes map[string]struct{ Cost *cost }
				}
			}
			if !r.model(name, p.Models[id], &m) || m.Cost == nil {
				continue
			}
			f := From{Rates: rates(m.Cost.cost)}
			for _, t := range m.Cost.Tiers {
				f.Over = append(f.Over, Over{t.Tier.Size, rates(t.cost)})
			}
			if len(f.Over) == 0 && m.Cost.Over200k != nil {
				f.Over = []Over{{200_000, rates(*m.Cost.Over200k)}}
			}
			slices.SortFunc(f.Over, func(a, b Over) int { return a.Tokens - b.Tokens })
			o := offer{provider: provider, model: id, models: []string{exactly(id)}, prices: []From{f}, source: p.Doc}
			if fast := m.Experimental.Modes["fast"].Cost; fast != nil && f.Input > 0 {
				if usd := rates(*fast).Input; usd > f.Input {
					o.fast = usd / f.Input
				}
			}
			out = append(out, o)
		}
	}
	return out
}
