package main

import (
	"fmt"
	"slices"

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

// legend says in a line each what the columns of a comparison mean that their heads do not tell.
var legend = []struct{ column, head, text string }{
	{"cost", "$", "cost against doing nothing; WORST: of the session whose cost rose most"},
	{"recall", "RECALL", "share of the names used later that were still in the context"},
	{"lines", "LINES", "share of those names that still stood on a line with more"},
	{"needs", "NEEDS", "share of the later calls for which everything was still in the context"},
	{"own", "OWN", "what the agent said, and its current edits, that requests still held"},
}

func (a *app) explainColumns(shown []string) {
	first := true
	for _, l := range legend {
		if !slices.Contains(shown, l.column) {
			continue
		}
		if first {
			fmt.Fprintln(a.out)
		}
		first = false
		fmt.Fprintf(a.out, "%-6s  %s\n", l.head, l.text)
	}
}

// withoutHidden drops the rows of variants that decide by a price list whose column does not fit.
func withoutHidden(r *compare.Report, rows []int, shown []table.Column) []int {
	return slices.DeleteFunc(slices.Clone(rows), func(i int) bool {
		list := r.Variants[i].PriceList
		return list != "" && len(r.Prices) > 1 && !slices.ContainsFunc(shown, func(c table.Column) bool {
			return c.Name == "cost" && c.Head == costHead(list)
		})
	})
}
