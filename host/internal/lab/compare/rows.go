package compare

import (
	"maps"
	"slices"
	"strings"
)

// Rows returns which variants have a row in a table, by position: with every, all of them, otherwise one for each
// strategy. That is the recommended one or, of the others, the cheapest at the first price list.
func (r *Report) Rows(every bool) (rows []int) {
	best := map[string]int{}
	for i, v := range r.Variants {
		if every {
			rows = append(rows, i)
		} else if k, ok := best[v.Strategy]; !ok || r.represents(i, k) {
			best[v.Strategy] = i
		}
	}
	for _, i := range best {
		rows = append(rows, i)
	}
	slices.Sort(rows)
	return rows
}

// represents reports whether variant i represents its strategy better than variant k.
func (r *Report) represents(i, k int) bool {
	if x := r.Recommendation; x != nil {
		switch x.Variant {
		case r.Variants[i].Name:
			return true
		case r.Variants[k].Name:
			return false
		}
	}
	a, b := &r.Totals.Variants[i], &r.Totals.Variants[k]
	if a.Done != b.Done || len(r.Prices) == 0 {
		return a.Done && !b.Done
	}
	costA, pricedA := a.Cost(r.Prices[0].Name)
	costB, pricedB := b.Cost(r.Prices[0].Name)
	if pricedA != pricedB {
		return pricedA
	}
	return costA.USD < costB.USD
}

// Label is the name of variant i in a table. Which prices it decides by is said only where the others have rows too.
func (r *Report) Label(i int, every bool) string {
	v := r.Variants[i]
	if !every {
		return strings.TrimSuffix(v.Name, " ("+v.PriceList+")")
	}
	return v.Name
}

// SettingsText returns a variant's settings as KEY=VALUE, sorted by key.
func SettingsText(settings map[string]string, separator string) string {
	var parts []string
	for _, key := range slices.Sorted(maps.Keys(settings)) {
		parts = append(parts, key+"="+settings[key])
	}
	return strings.Join(parts, separator)
}
