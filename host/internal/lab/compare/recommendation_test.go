package compare

import (
	"testing"
	"time"

	"github.com/thresh-dev/thresh/host/internal/pricing"
)

func TestTheRecommendationIsTheCheapestThatKeepsEnough(t *testing.T) {
	result := func(name string, relative, recall float64, overLimit int) Result {
		return Result{Variant: name, Done: true, Sessions: 2, OverLimit: overLimit, Recall: Recall{Share: recall},
			Costs: []Cost{{List: "l", USD: 10 * (1 + relative), Nothing: 10, Relative: relative}}}
	}
	failed := result("failed", -0.9, 1, 0)
	failed.Done = false
	for name, tt := range map[string]struct {
		nothingOver int
		variants    []Result
		want        string
	}{
		"the cheapest":               {0, []Result{result("a", -0.1, 0.99, 0), result("b", -0.2, 0.96, 0)}, "b"},
		"not below the floor":        {0, []Result{result("a", -0.1, 0.99, 0), result("b", -0.2, 0.94, 0)}, "a"},
		"nothing, if all are dearer": {0, []Result{result("a", 0.1, 1, 0)}, ""},
		"nothing, for next to none":  {0, []Result{result("a", -0.001, 1, 0)}, ""},
		"what failed does not count": {0, []Result{failed, result("a", -0.1, 1, 0)}, "a"},
		"dearer, if nothing fits":    {3, []Result{result("b", 0.2, 1, 0), result("a", 0.1, 1, 0)}, "a"},
		"at the same cost, what keeps more": {0, []Result{result("a", -0.1, 0.97, 0), result("b", -0.1, 0.99, 0),
			result("c", -0.1, 0.98, 0)}, "b"},
		"else what decides by prices": {0, []Result{result("a", -0.1, 1, 0), result("by prices", -0.1, 1, 0),
			result("c", -0.1, 1, 0)}, "by prices"},
		"what does not fit is no use": {0, []Result{result("a", -0.3, 1, 1), result("b", -0.1, 1, 0)}, "b"},
	} {
		t.Run(name, func(t *testing.T) {
			r := &Report{Prices: []*pricing.List{{Name: "l"}}, Span: 48 * time.Hour}
			r.Totals.Nothing.OverLimit, r.Totals.Variants = tt.nothingOver, tt.variants
			for _, v := range tt.variants {
				info := VariantInfo{Name: v.Variant, Strategy: "s" + v.Variant}
				if v.Variant == "by prices" {
					info.PriceList = "l"
				}
				r.Variants = append(r.Variants, info)
			}
			got := r.Recommend(0.95)
			if got == nil || got.Variant != tt.want {
				t.Fatalf("got %+v, want %q", got, tt.want)
			}
			if got.Variant == "b" && tt.nothingOver == 0 && got.Relative == -0.2 {
				if got.PerSession != 1 || got.PerMonth != 30 || got.Settings["compression.strategy"] != "sb" {
					t.Errorf("got %+v", got)
				}
			}
		})
	}
	if got := (&Report{}).Recommend(0.95); got != nil {
		t.Errorf("without prices: %+v", got)
	}
}
