package compare

import (
	"fmt"
	"strings"
)

// Advice returns sentences that say which variant is best for whom: for people who pay for requests, by each price
// list, and for those whose agent should miss nothing. There are none if fewer than two variants kept all requests of
// all sessions under the limit, because shares of different requests cannot be compared.
func (r *Report) Advice() (out []string) {
	var fit []*Result
	for i := range r.Totals.Variants {
		if v := &r.Totals.Variants[i]; v.Done && v.OverLimit == 0 {
			fit = append(fit, v)
		}
	}
	if len(fit) < 2 {
		return nil
	}
	var parts []string
	for _, l := range r.Prices {
		best := ""
		least := 0.0
		for _, v := range fit {
			if c, ok := v.Cost(l.Name); ok && (best == "" || c.Relative < least) {
				best, least = v.Variant, c.Relative
			}
		}
		if best != "" {
			parts = append(parts, fmt.Sprintf("%s by %s", best, l.Name))
		}
	}
	needs := fit[0]
	for _, v := range fit[1:] {
		if v.Needs.Share > needs.Needs.Share {
			needs = v
		}
	}
	if len(parts) > 0 {
		out = append(out, "costs least: "+strings.Join(parts, ", "))
	}
	return append(out, "keeps most of what calls needed: "+needs.Variant)
}
