package main

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/thresh-dev/thresh/host/cmd/thresh/internal/table"
	"github.com/thresh-dev/thresh/host/internal/lab/compare"
	"github.com/thresh-dev/thresh/host/internal/pricing"
)

// figure is a column of a comparison: a measure, at the prices of a list if it is about money.
type figure struct {
	table.Column
	measure compare.Measure
	list    string
	worst   bool // of the session that was worst off
}

// figures returns the columns behind the name of the variant. Those of several price lists share their names, so
// --columns chooses them together; those of the last list are dropped first where the table is too wide. Requests that
// would fail are always shown where there are any.
func figures(prices []*pricing.List, failing bool) (out []figure) {
	all := compare.Measures()
	for i := 0; i < len(all); {
		next := i + 1
		for next < len(all) && all[i].PerList && all[next].PerList {
			next++
		}
		lists := []*pricing.List{{}}
		if all[i].PerList {
			lists = prices
		}
		for n, l := range lists {
			for _, m := range all[i:next] {
				f := figure{measure: m, list: l.Name, Column: table.Column{Name: m.Name, Head: m.Head, Right: true, Rank: m.Rank}}
				if m.PerList {
					f.Head, f.Rank = priceHead(m.Head, l.Name), m.Rank+min(2*n, 3)
				}
				if m.Name == "over-limit" && failing {
					f.Rank = 0
				}
				out = append(out, f)
				if m.Worst > 0 {
					f.worst, f.Name, f.Rank = true, m.Name+"-worst", m.Worst+min(3*n, 3)
					f.Head = "WORST\n" + cmp.Or(m.Head, strings.ToUpper(m.Name))
					out = append(out, f)
				}
			}
		}
		i = next
	}
	return out
}

func compareColumns(figures []figure) []table.Column {
	columns := []table.Column{{Name: "variant"}}
	for _, f := range figures {
		columns = append(columns, f.Column)
	}
	return columns
}

// priceHead is the head of a column about money.
func priceHead(head, list string) string {
	if head == "$" {
		return twoLines(list + " $")
	}
	return twoLines(head + " " + list)
}

// withWorst lists the measures that have a column with the worst session.
func withWorst() string {
	var names []string
	for _, m := range compare.Measures() {
		if m.Worst > 0 {
			names = append(names, m.Name)
		}
	}
	return strings.Join(names, ", ")
}

// measureHelp explains the columns, in lines of at most helpWidth.
func measureHelp() string {
	var b strings.Builder
	for _, m := range compare.Measures() {
		line, indent := fmt.Sprintf("  %-11s", m.Name), strings.Repeat(" ", 13)
		for word := range strings.FieldsSeq(m.Help) {
			if utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) > helpWidth {
				b.WriteString(line + "\n")
				line = indent[1:]
			}
			line += " " + word
		}
		b.WriteString(line + "\n")
	}
	return b.String()
}

// printCompared prints the comparison for people: with sessions a table for each, then the totals, then errors and
// warnings, where they are still visible after a long output has scrolled by.
func (a *app) printCompared(r *compare.Report, c comparison) error {
	rows := r.Rows(len(c.vary) > 0)
	every := len(rows) == len(r.Variants)
	if c.sessions || c.turns {
		// By index, as the results are large structs.
		for i := range r.Sessions {
			s := &r.Sessions[i]
			fmt.Fprintf(a.out, "%s (%d entries, %s tokens%s)\n", s.Name, s.Entries, table.Int(s.Tokens),
				compactions(len(s.Boundaries)))
			for _, v := range rows {
				if err := a.printTurns(r.Label(v, every), s.Variants[v].Steps); err != nil {
					return err
				}
			}
			// One session: a variant that stopped in it is "incomplete", not "0 of 1".
			if _, _, err := a.printResults(r, &s.Results, rows, 1); err != nil {
				return err
			}
			fmt.Fprintln(a.out)
		}
		fmt.Fprintln(a.out, "all sessions")
	}
	columns, rows, err := a.printResults(r, &r.Totals, rows, len(r.Sessions))
	if err != nil {
		return err
	}
	a.explainColumns(columns)
	var notes []string
	if !every {
		notes = append(notes, "one row per strategy, at its best cadence; "+
			"--vary compression.density.cadence=gated,every-turn,priced shows all")
	}
	for i := range r.Totals.Variants {
		if v := &r.Totals.Variants[i]; v.Error != "" {
			notes = append(notes, r.Variants[i].Name+": "+v.Error)
		}
	}
	most := r.KeepsMost()
	for _, i := range rows {
		if r.Variants[i].Name == most {
			notes = append(notes, "keeps most of "+compare.WhatIsKept+": "+r.Label(i, every))
		}
	}
	notes = append(notes, r.Warnings()...)
	if len(notes) > 0 {
		fmt.Fprintln(a.out)
	}
	for _, n := range notes {
		fmt.Fprintln(a.out, n)
	}
	if r.Recommendation != nil {
		a.printRecommendation(r.Recommendation)
	}
	return nil
}

// compactions describes how often the recorder itself compacted the history: each such point resets what a strategy had
// achieved.
func compactions(n int) string {
	switch n {
	case 0:
		return ""
	case 1:
		return ", compacted once by the recorder"
	}
	return fmt.Sprintf(", compacted %d times by the recorder", n)
}

// printResults prints one table: the baseline (doing nothing) first, then the variants at the positions in rows.
// sessions is how many the table sums up. It returns the names of the columns and the rows that it shows.
func (a *app) printResults(
	r *compare.Report, res *compare.Results, rows []int, sessions int,
) (columns []string, shown []int, err error) {
	every := len(rows) == len(r.Variants)
	figures := figures(r.Prices, fails(res))
	fill := func(rows []int) *table.Table {
		t := table.New(compareColumns(figures)...)
		t.Row(compareRow(figures, compare.NothingName, &res.Nothing, res.Nothing.Cost, sessions)...)
		for _, i := range rows {
			// What was not run has no figures, and a reason below the tables.
			if v := &res.Variants[i]; v.Ran() {
				t.Row(compareRow(figures, r.Label(i, every), v, costOf(r, res, i, every), sessions)...)
			}
		}
		return t
	}
	t := fill(rows)
	if len(a.columns) == 0 {
		rows = withoutHidden(r, rows, t.Shown(a.tableOptions()))
		t = fill(rows)
	}
	return table.Names(t.Shown(a.tableOptions())), rows, a.printTable(t)
}

// fails reports whether a request of any row would fail.
func fails(res *compare.Results) bool {
	return res.Nothing.OverLimit > 0 ||
		slices.ContainsFunc(res.Variants, func(v compare.Result) bool { return v.OverLimit > 0 })
}

// compareRow returns a row with a cell for each of figures. A variant that did not run through all sessions is marked
// with how many it did, because its sums are not comparable with the others.
func compareRow(figures []figure, name string, res *compare.Result, costs func(list string) (compare.Cost, bool),
	sessions int,
) []string {
	if !res.Done && sessions > 1 {
		name += fmt.Sprintf(" (%d of %d)", res.Sessions, sessions)
	} else if !res.Done {
		name += " (incomplete)"
	}
	row := []string{name}
	for i := range figures {
		row = append(row, figures[i].cell(res, costs))
	}
	return row
}

// cell returns the text of a figure: "-" for one that the row does not have, "" where the worst session says nothing.
// Doing nothing has no cost against itself, and shows USD.
func (f *figure) cell(res *compare.Result, costs func(list string) (compare.Cost, bool)) string {
	m, nothing := &f.measure, res.Variant == compare.NothingName
	var c compare.Cost
	priced := true
	if m.PerList {
		c, priced = costs(f.list)
	}
	switch {
	case f.worst:
		s, ok := m.Spread(res, c)
		if !ok || nothing || res.Sessions < 2 {
			return ""
		}
		return figureText(m.Kind, s.Worst, c)
	case !priced, nothing && m.Kind == compare.Seconds:
		return "-"
	case nothing && m.Kind == compare.Change:
		return usd(c.USD, c.Nothing)
	}
	return figureText(m.Kind, m.Value(res, c), c)
}

func figureText(kind compare.Kind, v float64, c compare.Cost) string {
	switch kind {
	case compare.Tokens:
		return table.Short(int(v))
	case compare.Share01:
		return share(v)
	case compare.Saving:
		return table.Percentage(100 * v)
	case compare.Change:
		return against(v)
	case compare.USD:
		return usd(v, c.Nothing)
	case compare.Seconds:
		return table.Duration(time.Duration(v * float64(time.Second)))
	default:
		return table.Int(int(v))
	}
}

// twoLines breaks a column head into two lines near its middle, after a hyphen or at a space, if there is one: heads
// with names of price lists are wider than the figures below them, and width is scarce.
func twoLines(head string) string {
	// best is where the second line begins, in bytes: names of price lists are ASCII. 0 is no break.
	best := 0
	for i, c := range head {
		// A break is better the shorter it leaves the longer of the two lines.
		if (c == '-' || c == ' ') && max(i+1, len(head)-i-1) < max(best, len(head)-best) {
			best = i + 1
		}
	}
	if best == 0 {
		return head
	}
	return strings.TrimSuffix(head[:best], " ") + "\n" + head[best:]
}

// share formats a share as a percentage, rounded down: 99.96 % must not print as 100.0 %, which would claim that
// nothing was lost.
func share(v float64) string {
	return fmt.Sprintf("%.1f %%", math.Floor(v*1000)/10)
}

// usd formats a cost with two significant digits for the baseline, at least two and at most six decimals. All rows of a
// table use the digits of the baseline, so they align and can be compared.
func usd(v, nothing float64) string {
	digits := 2
	if nothing > 0 && nothing < 1 {
		// 0.0034 USD has its first significant digit in the third decimal, and is shown with four.
		digits = min(max(1-int(math.Floor(math.Log10(nothing))), 2), 6)
	}
	return strconv.FormatFloat(v, 'f', digits, 64)
}

// against formats a cost relative to that of doing nothing, with a sign. One decimal below 10 %, none above: more would
// claim a precision that recorded sessions do not have. Values that round to zero have no sign: "-0.0 %" is noise.
func against(relative float64) string {
	switch percent := relative * 100; {
	case math.Abs(percent) < 0.05:
		return "0.0 %"
	case math.Abs(percent) < 9.95:
		return fmt.Sprintf("%+.1f %%", percent)
	default:
		return fmt.Sprintf("%+.0f %%", percent)
	}
}
