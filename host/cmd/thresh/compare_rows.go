package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/host/cmd/thresh/internal/table"
	"github.com/thresh-dev/thresh/host/internal/lab/compare"
)

// costOf returns the costs of variant i. A strategy with one row that decides by prices decides in each column by those
// of the column: what another run of it cost.
func costOf(r *compare.Report, res *compare.Results, i int, every bool) func(list string) (compare.Cost, bool) {
	return func(list string) (compare.Cost, bool) {
		c, ok := res.Variants[i].Cost(list)
		for k, v := range r.Variants {
			if !ok && !every && v.PriceList == list && r.Label(k, false) == r.Label(i, false) {
				return res.Variants[k].Cost(list)
			}
		}
		return c, ok
	}
}

// explainColumns says in a line each what the shown columns mean that their heads do not tell.
func (a *app) explainColumns(shown []string) {
	var lines [][2]string
	width := 0
	for _, m := range compare.Measures() {
		if m.Legend != "" && slices.Contains(shown, m.Name) {
			head := strings.ReplaceAll(cmp.Or(m.Head, strings.ToUpper(m.Name)), "\n", " ")
			lines, width = append(lines, [2]string{head, m.Legend}), max(width, len(head))
		}
	}
	if lines != nil {
		fmt.Fprintln(a.out)
	}
	for _, l := range lines {
		fmt.Fprintf(a.out, "%-*s  %s\n", width, l[0], l[1])
	}
}

// withoutHidden drops the rows of variants that decide by a price list whose column does not fit.
func withoutHidden(r *compare.Report, rows []int, shown []table.Column) []int {
	return slices.DeleteFunc(slices.Clone(rows), func(i int) bool {
		list := r.Variants[i].PriceList
		return list != "" && len(r.Prices) > 1 && !slices.ContainsFunc(shown, func(c table.Column) bool {
			return c.Name == "cost" && c.Head == priceHead("$", list)
		})
	})
}
