package compare

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/thresh-dev/thresh/host/internal/pricing"
)

// A strategy has one row, the cheapest at the first price list or the recommended one, unless all variants are asked
// for or have a strategy each. What decides by prices has in each column what the run by those prices cost.
func TestRows(t *testing.T) {
	cost := func(list string, usd float64) Cost { return Cost{List: list, USD: usd, Nothing: 1} }
	variants := []VariantInfo{{Name: "h gated", Strategy: "h"}, {Name: "h priced (a)", Strategy: "h", PriceList: "a"},
		{Name: "h priced (b)", Strategy: "h", PriceList: "b"}, {Name: "t", Strategy: "t"}, {Name: "m", Strategy: "m"}}
	r := &Report{Variants: variants, Prices: []*pricing.List{{Name: "a"}, {Name: "b"}}, Totals: Results{Variants: []Result{
		{Done: true, Costs: []Cost{cost("a", 0.5), cost("b", 0.5)}}, {Done: true, Costs: []Cost{cost("a", 0.4)}},
		{Done: true, Costs: []Cost{cost("b", 0.3)}}, {Done: true, Costs: []Cost{cost("a", 2), cost("b", 2)}},
		{Error: "no model"},
	}}}
	type row struct {
		Label string
		A, B  float64
	}
	shown := func(every bool) (rows []row) {
		for _, one := range r.Rows(&r.Totals, every)[1:] {
			a, _ := one.Cost("a")
			b, _ := one.Cost("b")
			rows = append(rows, row{one.Label, a.USD, b.USD})
		}
		return rows
	}
	if diff := cmp.Diff([]row{{"h priced", 0.4, 0.3}, {"t", 2, 2}}, shown(false)); diff != "" {
		t.Errorf("a row for each strategy:\n%s", diff)
	}
	all := []row{{"h gated", 0.5, 0.5}, {"h priced (a)", 0.4, 0}, {"h priced (b)", 0, 0.3}, {"t", 2, 2}}
	if diff := cmp.Diff(all, shown(true)); diff != "" {
		t.Errorf("a row for each variant:\n%s", diff)
	}
	r.Recommendation = &Recommendation{Variant: "h gated"}
	if diff := cmp.Diff([]row{{"h gated", 0.5, 0.5}, {"t", 2, 2}}, shown(false)); diff != "" {
		t.Errorf("with a recommendation:\n%s", diff)
	}
	r.Variants, r.Totals.Variants = variants[2:], r.Totals.Variants[2:]
	if rows := shown(false); !r.Every(false) || rows[0].Label != "h priced (b)" {
		t.Errorf("strategies with one variant each: %+v", rows)
	}
}
