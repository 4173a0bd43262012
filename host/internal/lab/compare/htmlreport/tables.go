package htmlreport

import (
	"fmt"
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/host/internal/lab/compare"
	"github.com/thresh-dev/thresh/host/internal/pricing"
	"github.com/thresh-dev/thresh/internal/text"
)

// table is a table of the page. The first of Heads stands above the rows' names.
type table struct {
	Caption string
	Heads   []string
	// Text aligns the cells at the left.
	Text bool
	Rows []row
	// Rest is how many rows were left out.
	Rest int
}

// row is one row. Problem says why figures are missing or not of all sessions.
type row struct {
	Name, Problem string
	Cells         []string
}

func (t *table) add(name string, cells ...string) { t.addRow(row{Name: name, Cells: cells}) }

func (t *table) addRow(r row) {
	if len(t.Rows) == maxRows {
		t.Rest++
		return
	}
	t.Rows = append(t.Rows, r)
}

// results is a table with a row for each of rows, and the columns that are chosen.
func results(caption string, rows []compare.Row, columns []compare.Column, chosen func(compare.Column) bool) table {
	t := table{Caption: caption, Heads: []string{"variant"}}
	columns = slices.DeleteFunc(slices.Clone(columns), func(c compare.Column) bool { return !chosen(c) })
	for _, c := range columns {
		t.Heads = append(t.Heads, title(c.Measure.Name))
	}
	for _, r := range rows {
		out := row{Name: short(r.Label), Problem: shorten(r.Error, maxSentence)}
		if !r.Done && r.Error == "" {
			out.Problem = "not finished: the comparison was stopped"
		}
		for _, c := range columns {
			text := c.Text(r)
			if c.Worst != nil {
				if worst := c.Worst.Text(r); worst != "" && worst != text {
					text += " (worst " + worst + ")"
				}
			}
			out.Cells = append(out.Cells, typeset(text))
		}
		t.addRow(out)
	}
	return t
}

// title is the name of a measure as the page has it.
func title(name string) string { return strings.ReplaceAll(name, "-", " ") }

// meaning is an entry of the explanations.
type meaning struct{ Name, Text string }

func meanings() (out []meaning) {
	for _, m := range compare.Measures {
		out = append(out, meaning{title(m.Name), strings.ToUpper(m.Help[:1]) + m.Help[1:] + "."})
	}
	return out
}

// totals has what most readers choose by, at the first price list.
func totals(r *compare.Report, caption string, every bool) table {
	rows := priced(r, first(r), every)
	return results(caption, rows, r.Columns(rows), func(c compare.Column) bool {
		return c.Rank < compare.Details && (c.List == "" || c.List == first(r))
	})
}

// first is the first price list; "" for none.
func first(r *compare.Report) string {
	if len(r.Prices) == 0 {
		return ""
	}
	return r.Prices[0].Name
}

// priced are the rows of what did not decide by another list.
func priced(r *compare.Report, list string, every bool) []compare.Row {
	return slices.DeleteFunc(r.Rows(&r.Totals, every), func(row compare.Row) bool {
		_, ok := row.Cost(list)
		return list != "" && !ok
	})
}

// more has the rest of the figures, and the cost by each price list in detail.
func more(r *compare.Report, every bool) section {
	out := section{Title: "More figures"}
	if !r.Every(every) {
		out.Tables = append(out.Tables, totals(r, "Totals of all variants", true))
	}
	rows := r.Rows(&r.Totals, true)
	columns := r.Columns(rows)
	out.Tables = append(out.Tables, results("More totals of all sessions", rows, columns, func(c compare.Column) bool {
		return c.Rank >= compare.Details && c.List == "" && c.Kind != compare.Time
	}))
	for _, l := range r.Prices {
		out.Tables = append(out.Tables, results("Cost by "+short(l.Name), priced(r, l.Name, true), columns,
			func(c compare.Column) bool { return c.List == l.Name }))
	}
	return out
}

func sessions(r *compare.Report, variant int) section {
	name := short(r.Totals.Variants[variant].Variant)
	var rows []compare.Row
	for i := range r.Sessions {
		rows = append(rows, compare.Row{Result: &r.Sessions[i].Variants[variant], Label: r.Sessions[i].Name})
	}
	t := results("Each session with "+name, rows, r.Columns(rows), func(c compare.Column) bool {
		return c.Rank <= compare.Details && c.List == "" || c.List != "" && c.List == first(r)
	})
	t.Heads = append(t.Heads, "entries", "compactions by the recorder")
	t.Heads[0] = "session"
	for i := range t.Rows {
		s := &r.Sessions[i]
		t.Rows[i].Cells = append(t.Rows[i].Cells, number(s.Entries), number(len(s.Boundaries)))
	}
	return section{Title: "Session by session, with " + name, Tables: []table{t}}
}

// maxPath is how many characters of a path are shown: its root and its end, which tell files apart.
const maxPath = 56

func pruned(r *compare.Report, variant int) section {
	v := &r.Totals.Variants[variant]
	out := section{Title: "What " + short(v.Variant) + " pruned",
		Lead: fmt.Sprintf("%s tokens in %s changes. What replaced them, such as a summary, is subtracted; an entry counts "+
			"each time it was changed.", number(v.Pruned.Tokens), number(v.Pruned.Entries))}
	add := func(head string, shares []compare.Share) {
		t := table{Caption: "By " + head, Heads: []string{head, "times", "tokens", "share"}}
		for _, s := range shares {
			name := clean(text.ClipMiddle(s.Name, maxPath))
			if s.Rest > 0 {
				name = number(s.Rest) + " more"
			}
			t.add(name, number(s.Count), number(s.Tokens), show(compare.Saving, float64(s.Tokens)/float64(max(v.Pruned.Tokens, 1))))
		}
		out.Tables = append(out.Tables, t)
	}
	add("tool", v.Pruned.Tools)
	add("file", v.Pruned.Files)
	return out
}

func lost(r *compare.Report, variant int) section {
	v := &r.Totals.Variants[variant]
	t := table{Caption: "The first of " + number(v.Recall.Used-v.Recall.Kept), Heads: []string{"identifier", "session",
		"used in turn", "by entry", "last seen in entry"}}
	for _, l := range v.Recall.Lost {
		t.add(short(l.Identifier), short(l.Session), number(l.Turn), number(l.Entry), number(l.From))
	}
	return section{Title: "What later turns missed with " + short(v.Variant), Tables: []table{t},
		Lead: "Identifiers that a later turn used and that were in the unpruned history then, but not in what was sent."}
}

// compared lists the settings of the variants and the prices: the page may be read long after both have changed.
func compared(r *compare.Report) section {
	variants := table{Caption: "Variants", Text: true,
		Heads: []string{"variant", "strategy", "settings", "decides by the price list"}}
	for _, v := range r.Variants {
		variants.add(short(v.Name), short(v.Strategy), short(compare.SettingsText(v.Settings, ", ")), short(v.PriceList))
	}
	prices := table{Caption: "Prices, in USD for a million tokens", Text: true, Heads: []string{"list", "input",
		"cache read", "cache write", "output", "cached for", "cached from, tokens", "as of", "source", "note"}}
	for _, l := range r.Prices {
		read, write, ttl, least := "no cache", "no cache", "–", "–"
		if l.CacheRead > 0 {
			read, write, ttl, least = price(l.Read()), price(l.Write()), lifetime(l), number(l.CacheMinimum)
		}
		if l.Name == compare.OwnModel {
			prices.add(l.Name, "–", "–", "–", "–", "–", "–", short(l.AsOf), "", shorten(l.Note, maxSentence))
			continue
		}
		prices.add(short(l.Name), price(l.Input), read, write, price(l.Output), ttl, least, short(l.AsOf), short(l.Source),
			shorten(l.Note, maxSentence))
	}
	return section{Title: "What was compared, at which prices", Tables: []table{variants, prices}}
}

// lifetime is how long a list's cache lives. 0 is a cache that does not expire within a session.
func lifetime(l *pricing.List) string {
	if l.CacheTTL > 0 {
		return l.CacheTTL.String()
	}
	return "no end"
}

// price formats USD per million tokens with as many digits as the list has.
func price(usd float64) string { return fmt.Sprintf("%g", usd) }
