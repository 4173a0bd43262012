package compare

import (
	"maps"
	"slices"
	"strings"
)

// Row is a row of a table of results. It has figures.
type Row struct {
	*Result
	Label string
	// PriceList is [VariantInfo.PriceList].
	PriceList string
	others    map[string]Cost // by price lists that the result is not priced by
}

// Cost is [Result.Cost], at other lists that of another run: a strategy that decides by prices and has one row decides
// in each column by those of the column.
func (r *Row) Cost(list string) (c Cost, ok bool) {
	if c, ok = r.Result.Cost(list); !ok {
		c, ok = r.others[list]
	}
	return c, ok
}

// Every reports whether each variant has a row: if they are asked for, or if each is another strategy.
func (r *Report) Every(asked bool) bool { return asked || len(r.chosen()) == len(r.Variants) }

// Rows returns the rows of res, the totals or the results of a session: that of doing nothing and, with every, those of
// all variants, otherwise one for each strategy. What was not run has no row.
func (r *Report) Rows(res *Results, every bool) []Row {
	rows := []Row{{Result: &res.Nothing, Label: NothingName}}
	every = r.Every(every)
	chosen := r.chosen()
	for i := range res.Variants {
		v := r.Variants[i]
		if !every && chosen[v.Strategy] != i || !res.Variants[i].Ran() {
			continue
		}
		row := Row{Result: &res.Variants[i], Label: v.Name, PriceList: v.PriceList, others: map[string]Cost{}}
		if !every {
			row.Label = v.label()
			for k, o := range r.Variants {
				if c, ok := res.Variants[k].Cost(o.PriceList); ok && o.label() == row.Label {
					row.others[o.PriceList] = c
				}
			}
		}
		rows = append(rows, row)
	}
	return rows
}

// label is the name without the prices that the variant decides by.
func (v VariantInfo) label() string { return strings.TrimSuffix(v.Name, " ("+v.PriceList+")") }

// chosen has the variant that stands for each strategy: the recommended one or, of the others, the cheapest at the
// first price list; without prices, the one that sends the least.
func (r *Report) chosen() map[string]int {
	best := map[string]int{}
	for i, v := range r.Variants {
		if k, ok := best[v.Strategy]; !ok || r.represents(i, k) {
			best[v.Strategy] = i
		}
	}
	return best
}

// represents reports whether variant i represents its strategy better than variant k.
func (r *Report) represents(i, k int) bool {
	switch r.Recommendation.Taken() {
	case r.Variants[i].Name:
		return true
	case r.Variants[k].Name:
		return false
	}
	a, b := &r.Totals.Variants[i], &r.Totals.Variants[k]
	if a.Done != b.Done {
		return a.Done
	}
	if len(r.Prices) == 0 {
		return a.Sent < b.Sent
	}
	costA, pricedA := a.Cost(r.Prices[0].Name)
	costB, pricedB := b.Cost(r.Prices[0].Name)
	if pricedA != pricedB {
		return pricedA
	}
	return costA.USD < costB.USD
}

// SettingsText returns a variant's settings as KEY=VALUE, sorted by key.
func SettingsText(settings map[string]string, separator string) string {
	var parts []string
	for _, key := range slices.Sorted(maps.Keys(settings)) {
		parts = append(parts, key+"="+settings[key])
	}
	return strings.Join(parts, separator)
}
