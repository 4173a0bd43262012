package compare

import (
	"testing"

	"github.com/thresh-dev/thresh/host/internal/pricing"
	"github.com/thresh-dev/thresh/host/outcome"
)

func TestTheCheapestWindowIsNamedFirst(t *testing.T) {
	failed, elsewhere := made("0.2", -0.9, 1, 0), made("0.2", -0.9, 1, 0)
	failed.Done, elsewhere.Costs = false, []Cost{{List: "other"}}
	const cheapest = " than doing nothing, keeps "
	for name, tt := range map[string]struct {
		variants []Result
		want     string
	}{
		"a share": {[]Result{made("", -0.1, 0.9, 0), made("0.2", -0.2, 0.8, 0), made("0.4", -0.3, 0.7, 0), made("1", 0, 1, 0)},
			"0.4 is cheapest: 30 % less" + cheapest + "70.0 % of the lines and 100.0 % of the agent's own; " +
				"its own moment: 10 % less, 90.0 % and 100.0 %; 0.2: 20 % less, 80.0 % and 100.0 %; " +
				"1: no less, 100.0 % and 100.0 %"},
		"none, and the others equal": {[]Result{made("", -0.1, 0.9, 0), made("0.2", 0, 1, 0), made("1", 0, 1, 0)},
			"its own moment is cheapest: 10 % less" + cheapest + "90.0 % of the lines and 100.0 % of the agent's own; " +
				"0.2, 1: no less, 100.0 % and 100.0 %"},
		"what fits": {[]Result{made("0.2", -0.1, 0.9, 0), made("1", -0.5, 1, 2)},
			"0.2 is cheapest: 10 % less" + cheapest + "90.0 % of the lines and 100.0 % of the agent's own; " +
				"1: 50 % less, 100.0 % and 100.0 % (2 requests too large)"},
		"what ran at these prices": {[]Result{failed, elsewhere, made("1", 0.1, 1, 0)},
			"doing nothing is cheapest, then 1: 10 % more" + cheapest + "100.0 % of the lines and 100.0 % of the agent's own"},
	} {
		r := reported(0, tt.variants)
		for i, v := range tt.variants {
			r.Variants[i].Settings = map[string]string{KeyThreshold: v.Variant}
			r.Sessions[0].Variants[i].Limits = &outcome.Limits{Context: 1_000_000}
		}
		r.Windows = r.ByWindow()
		if got, want := r.windows(), "in a window of 1,000,000 tokens, "+tt.want; got != want {
			t.Errorf("%s:\n%s\n%s", name, got, want)
		}
	}
	for name, r := range map[string]*Report{"unpriced": {}, "cut off": {Prices: []*pricing.List{{}}, Incomplete: true}} {
		if got := r.ByWindow(); got != nil {
			t.Errorf("%s: %+v", name, got)
		}
	}
}
