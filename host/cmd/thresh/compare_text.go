package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/thresh-dev/thresh/host/internal/lab/compare"
	"github.com/thresh-dev/thresh/host/internal/pricing"
	"github.com/thresh-dev/thresh/host/internal/table"
)

// compareColumns returns the columns of a table, with that of the name.
func compareColumns(measured []compare.Column) []table.Column {
	columns := []table.Column{{Name: "variant"}}
	for _, c := range measured {
		columns = append(columns, table.Column{Name: c.Name, Head: heading(c), Rank: c.Rank, Right: true})
		if w := c.Worst; w != nil {
			columns = append(columns, table.Column{Name: w.Name, Head: w.Head, Rank: w.Rank, Right: true})
		}
	}
	return columns
}

// heading names the price list of a column, if it has one.
func heading(c compare.Column) string {
	if c.List == "" {
		return c.Head
	}
	return twoLines(c.List + " " + c.Head)
}

// allColumns are those of --columns.
func allColumns() []table.Column {
	r := compare.Report{Prices: []*pricing.List{{}}}
	return compareColumns(r.Columns(nil))
}

// measureHelp explains the columns, in lines of at most helpWidth.
func measureHelp() string {
	var b strings.Builder
	for _, m := range compare.Measures {
		line, help := fmt.Sprintf("  %-11s", m.Name), m.Help
		if m.PerList() {
			help += "; for each price list"
		}
		for word := range strings.FieldsSeq(help) {
			if utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) > helpWidth {
				b.WriteString(line + "\n")
				line = strings.Repeat(" ", 13)
			}
			line += " " + word
		}
		b.WriteString(line + "\n")
	}
	return b.String()
}

// printCompared prints the comparison for people: with sessions a table for each, then the totals, then errors and
// warnings, where they are still visible after a long output has scrolled by.
func (a *app) printCompared(r *compare.Report, c comparison, set *toSet) error {
	every := r.Every(len(c.vary) > 0)
	if c.sessions || c.turns {
		// By index, as the results are large structs.
		for i := range r.Sessions {
			s := &r.Sessions[i]
			a.paragraph(fmt.Sprintf("%s (%d entries, %s tokens, %s%s)", s.Name, s.Entries, table.Int(s.Tokens), s.Window,
				compactions(len(s.Boundaries))), 2)
			for _, row := range r.Rows(&s.Results, every) {
				if err := a.printTurns(row.Label, row.Steps); err != nil {
					return err
				}
			}
			if _, err := a.printResults(r, &s.Results, every, 1); err != nil {
				return err
			}
			fmt.Fprintln(a.out)
		}
		fmt.Fprintln(a.out, "all sessions")
	}
	columns, err := a.printResults(r, &r.Totals, every, len(r.Sessions))
	if err != nil {
		return err
	}
	a.explainColumns(columns)
	var notes []string
	if !every {
		best := ", at its best cadence"
		if len(r.Prices) == 0 {
			best = ", at the cadence that sends least"
		}
		notes = append(notes, "one row per strategy"+best+"; "+
			"--vary compression.density.cadence=gated,every-turn,priced shows all")
	}
	for i := range r.Totals.Variants {
		if v := &r.Totals.Variants[i]; v.Error != "" {
			notes = append(notes, r.Variants[i].Name+": "+v.Error)
		}
	}
	notes = append(notes, r.Warnings()...)
	if len(notes) > 0 {
		fmt.Fprintln(a.out)
	}
	for _, n := range notes {
		a.paragraph(n, 2)
	}
	a.printAdvice(r, set)
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

// printResults prints a table: doing nothing first, then the variants. sessions is how many it sums up: a variant that
// did not run through all of them is marked, because its sums are not comparable. It returns the names of the columns
// that it shows.
func (a *app) printResults(
	r *compare.Report, res *compare.Results, every bool, sessions int,
) (columns []string, err error) {
	rows := r.Rows(res, every)
	measured := r.Columns(rows)
	fill := func() *table.Table {
		t := table.New(compareColumns(measured)...)
		for _, row := range rows {
			cells := []string{row.Label}
			if !row.Done && sessions > 1 {
				cells[0] += fmt.Sprintf(" (%d of %d)", row.Sessions, sessions)
			} else if !row.Done {
				cells[0] += " (incomplete)"
			}
			for _, c := range measured {
				cells = append(cells, c.Text(row))
				if c.Worst != nil {
					cells = append(cells, c.Worst.Text(row))
				}
			}
			t.Row(cells...)
		}
		return t
	}
	t := fill()
	if shown := t.Shown(a.tableOptions()); len(a.columns) == 0 && len(r.Prices) > 1 {
		fits := func(list string) bool {
			return slices.ContainsFunc(measured, func(c compare.Column) bool {
				return c.List == list && slices.ContainsFunc(shown, func(s table.Column) bool { return s.Head == heading(c) })
			})
		}
		// A variant that decides by a list of which no column fits would have no cost.
		rows = slices.DeleteFunc(rows, func(row compare.Row) bool { return row.PriceList != "" && !fits(row.PriceList) })
		t = fill()
	}
	return table.Names(t.Shown(a.tableOptions())), a.printTable(t)
}

// explainColumns says in a line each what the shown columns mean that their heads do not tell.
func (a *app) explainColumns(shown []string) {
	var lines [][2]string
	width := 0
	for _, m := range compare.Measures {
		if m.Legend != "" && slices.Contains(shown, m.Name) {
			head := cmp.Or(m.Head, strings.ToUpper(m.Name))
			lines, width = append(lines, [2]string{head, m.Legend}), max(width, len(head))
		}
	}
	if lines != nil {
		fmt.Fprintln(a.out)
	}
	for _, l := range lines {
		a.paragraph(fmt.Sprintf("%-*s  %s", width, l[0], l[1]), width+2)
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
