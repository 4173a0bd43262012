package main

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/thresh-dev/thresh/host/cmd/thresh/internal/table"
	"github.com/thresh-dev/thresh/host/internal/lab/compare"
	"github.com/thresh-dev/thresh/host/internal/pricing"
)

// compareColumns returns the columns of a comparison, with one cost and one USD column for each price list. Columns of
// different lists share the names "cost" and "usd", so --columns chooses them together. Columns without a rank survive
// longest when the table is too wide: what a strategy gains and loses at the first list's prices, on average and in the
// worst session, fits into 80 characters.
func compareColumns(prices []*pricing.List) []table.Column {
	columns := []table.Column{
		{Name: "variant"},
		{Name: "sent", Right: true, Rank: 4},
		{Name: "saved", Right: true},
	}
	for i, l := range prices {
		columns = append(
			// Each further list has a higher rank: the columns of the last list are dropped first.
			columns, table.Column{Name: "cost", Head: costHead(l.Name), Right: true, Rank: 1 + min(2*i, 3)},
			table.Column{Name: "cost-worst", Head: "WORST\n$", Right: true, Rank: 2 + min(3*i, 3)},
		)
	}
	columns = append(columns, []table.Column{
		{Name: "recall", Right: true, Rank: 1},
		{Name: "recall-worst", Head: "WORST\nRECALL", Right: true, Rank: 3},
		{Name: "lines", Right: true, Rank: 1},
		{Name: "own", Right: true, Rank: 1},
		{Name: "needs", Right: true, Rank: 3},
		{Name: "edits", Right: true, Rank: 4},
		{Name: "over-limit", Head: "OVER\nLIMIT", Right: true, Rank: 4},
		{Name: "peak", Right: true, Rank: 4},
		{Name: "rewrites", Right: true, Rank: 5},
		{Name: "optimized", Right: true, Rank: 6},
		{Name: "compressed", Right: true, Rank: 6},
		{Name: "rereads", Right: true, Rank: 6},
		{Name: "own-worst", Head: "OWN\nWORST", Right: true, Rank: 6},
		{Name: "results", Head: "RECALL\nRESULTS", Right: true, Rank: 6},
		{Name: "mean", Head: "NEEDS\nMEAN", Right: true, Rank: 7},
		{Name: "worst", Head: "NEEDS\nWORST", Right: true, Rank: 7},
	}...)
	for _, l := range prices {
		columns = append(columns, table.Column{Name: "usd", Head: twoLines("USD " + l.Name), Right: true, Rank: 7})
	}
	return append(
		columns, table.Column{Name: "host", Right: true, Rank: 8}, table.Column{Name: "plugin", Right: true, Rank: 7},
	)
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
	fill := func(rows []int) *table.Table {
		t := table.New(compareColumns(r.Prices)...)
		t.Row(compareRow(r, compare.NothingName, &res.Nothing, res.Nothing.Cost, sessions)...)
		for _, i := range rows {
			// What was not run has no figures, and a reason below the tables.
			if v := &res.Variants[i]; v.Ran() {
				t.Row(compareRow(r, r.Label(i, every), v, costOf(r, res, i, every), sessions)...)
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

// compareRow returns a row with a cell for each of [compareColumns]. Costs are relative to doing nothing; the baseline
// itself shows USD instead. A variant that did not run through all sessions is marked with how many it did, because its
// sums are not comparable with the others.
func compareRow(
	r *compare.Report, name string, res *compare.Result, costs func(list string) (compare.Cost, bool), sessions int,
) []string {
	nothing := name == compare.NothingName
	if !res.Done && sessions > 1 {
		name += fmt.Sprintf(" (%d of %d)", res.Sessions, sessions)
	} else if !res.Done {
		name += " (incomplete)"
	}
	row := []string{name, table.Short(res.Sent), table.Percent(res.Unpruned-res.Sent, res.Unpruned)}
	several := res.PerSession != nil && res.Sessions > 1
	var sums []string
	for _, l := range r.Prices {
		c, priced := costs(l.Name)
		// A variant that decides by the prices of one list has no cost at another's.
		cost, sum := "-", "-"
		if priced {
			cost, sum = against(c.Relative), usd(c.USD, c.Nothing)
		}
		worst := ""
		if c.PerSession != nil && several && !nothing {
			worst = against(c.PerSession.Worst)
		}
		// Relative to itself, the baseline would always be at 0 %.
		if nothing {
			cost = sum
		}
		row, sums = append(row, cost, worst), append(sums, sum)
	}
	worstRecall := ""
	if several && !nothing {
		worstRecall = share(res.PerSession.Recall.Worst)
	}
	row = append(row, share(res.Recall.Share), worstRecall, share(res.Recall.ShareLines), share(res.Own.Share),
		share(res.Needs.Share), share(res.Needs.ShareEdits), table.Int(res.OverLimit), table.Short(res.Peak),
		table.Int(res.Rewrites),
		table.Int(res.Optimized), table.Int(res.Compressed), table.Int(res.Rereads.Calls),
		share(res.Own.Worst), share(res.Recall.ShareResults))
	// Of one session, mean and worst are its own.
	mean, worst := res.Needs.Share, res.Needs.Share
	if p := res.PerSession; p != nil {
		mean, worst = p.Needs.Mean, p.Needs.Worst
	}
	row = append(row, share(mean), share(worst))
	// The baseline has no time of host or plugin.
	row = append(row, sums...)
	if nothing {
		return append(row, "-", "-")
	}
	return append(row, table.Duration(res.HostTime), table.Duration(res.PluginTime))
}

func costHead(list string) string { return twoLines(list + " $") }

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
