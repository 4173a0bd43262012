package htmlreport

import (
	"fmt"
	"slices"

	"github.com/thresh-dev/thresh/host/internal/lab/compare"
	"github.com/thresh-dev/thresh/host/internal/pricing"
	"github.com/thresh-dev/thresh/internal/text"
)

// table is a table of results: one row for doing nothing and one for each variant. Heads are those of the columns
// after the variant's name, and of each row's cells.
type table struct {
	Caption string
	Heads   []string
	Rows    []row
}

// tables are the figures of all variants: those that most readers want in a table that fits the page, and More.
type tables struct{ Main, More table }

// row is one row of a table. Series selects the colour of its marker.
type row struct {
	Series int
	Name   string
	// Problem says why there are no figures or not all of them. Empty means that there are none.
	Problem string
	Empty   bool
	// Cells are in the order of the heads.
	Cells []string
}

// column is one column of the tables of results.
type column struct {
	head string
	cell func(*compare.Result) string
}

// moreColumns are the columns of the table that readers open. Soft hyphens let long heads break on a phone.
var moreColumns = []column{
	{"recall, results only", func(r *compare.Result) string { return recalled(r.Recall.ShareResults) }},
	{"needs of edits", func(r *compare.Result) string {
		return spread(r.Needs.ShareEdits, r.PerSession, func(p *compare.PerSession) compare.Spread { return p.Edits })
	}},
	{"re-reads", func(r *compare.Result) string { return number(r.Rereads.Calls) }},
	{"turns", func(r *compare.Result) string { return number(r.Turns) }},
	{"tokens sent", func(r *compare.Result) string { return number(r.Sent) }},
	{"peak", func(r *compare.Result) string { return number(r.Peak) }},
	{"opti\u00admised", func(r *compare.Result) string { return number(r.Optimized) }},
	{"held back", func(r *compare.Result) string { return number(r.Held) }},
	{"com\u00adpressed", func(r *compare.Result) string { return number(r.Compressed) }},
	{"at the hard limit", func(r *compare.Result) string { return number(r.Laddered) }},
	{"tokens pruned", func(r *compare.Result) string { return number(r.Pruned.Tokens) }},
}

// mainColumns are the columns of the other table: the cost by each price list first.
func mainColumns(lists []*pricing.List) []column {
	var out []column
	for _, l := range lists {
		cell := func(r *compare.Result) string { return costCell(r, l.Name) }
		out = append(out, column{"USD, " + short(l.Name), cell})
	}
	return append(out,
		column{"saved", func(r *compare.Result) string { return percent(r.Saved) }},
		column{"recall", func(r *compare.Result) string {
			return spread(r.Recall.Share, r.PerSession, func(p *compare.PerSession) compare.Spread { return p.Recall })
		}},
		column{"needs", func(r *compare.Result) string {
			return spread(r.Needs.Share, r.PerSession, func(p *compare.PerSession) compare.Spread { return p.Needs })
		}},
		column{"over limit", func(r *compare.Result) string { return number(r.OverLimit) }},
		column{"rewrites", func(r *compare.Result) string { return number(r.Rewrites) }},
	)
}

// Doing nothing is the first row and has the first colour.
// resultTables returns the results without times, which differ between runs and have a section of their own. of is what
// they are the results of.
func resultTables(r *compare.Report, res *compare.Results, of string) tables {
	return tables{
		Main: resultTable(res, "Totals of "+of, mainColumns(r.Prices)),
		More: resultTable(res, "More figures of "+of, moreColumns),
	}
}

// resultTable makes the rows of one table. A variant that did not run has none.
func resultTable(res *compare.Results, caption string, columns []column) table {
	t := table{Caption: caption}
	for _, f := range columns {
		t.Heads = append(t.Heads, f.head)
	}
	t.Rows = append(t.Rows, resultRow(&res.Nothing, 0, columns))
	for i := range res.Variants {
		if v := &res.Variants[i]; v.Ran() {
			t.Rows = append(t.Rows, resultRow(v, i+1, columns))
		}
	}
	return t
}

// resultRow formats one result. A row with a problem keeps the figures that it has.
func resultRow(res *compare.Result, series int, columns []column) row {
	out := row{
		Series: series, Name: short(res.Variant), Problem: shorten(res.Error, maxSentence), Empty: res.Turns == 0,
	}
	if series == 0 {
		out.Name = compare.NothingName
	}
	// A failed variant has its own reason.
	if !res.Done && out.Problem == "" {
		out.Problem = "not finished: the comparison was stopped"
	}
	if !out.Empty {
		for _, f := range columns {
			out.Cells = append(out.Cells, f.cell(res))
		}
	}
	return out
}

// costCell is the cost by a list, of variants with the difference to doing nothing; "–" for a variant that decided by
// another list.
func costCell(res *compare.Result, list string) string {
	c, ok := res.Cost(list)
	switch {
	case !ok:
		return "–"
	case res.Variant == compare.NothingName:
		return dollars(c.USD, c.USD)
	}
	// In totals over several sessions, one bad session may hide in the sum.
	worst := ""
	if c.PerSession != nil && res.Sessions > 1 {
		worst = ", worst " + relative(c.PerSession.Worst)
	}
	return dollars(c.USD, c.Nothing) + " (" + relative(c.Relative) + worst + ")"
}

// spread formats a share; in totals also the mean and the lowest of the sessions' shares.
func spread(share float64, sessions *compare.PerSession, of func(*compare.PerSession) compare.Spread) string {
	if sessions == nil {
		return recalled(share)
	}
	s := of(sessions)
	return fmt.Sprintf("%s (mean %s, worst %s)", recalled(share), recalled(s.Mean), recalled(s.Worst))
}

// costHeads are the columns of the tables that break a cost down.
var costHeads = []string{"USD", "against nothing", "tokens read from the cache", "tokens written to the cache",
	"tokens without the cache", "USD for the strategy's own model calls"}

// costTables returns one table per price list, without variants that were not priced by it.
func costTables(r *compare.Report) []table {
	var out []table
	for _, list := range r.Prices {
		t := table{Caption: "Cost by " + short(list.Name) + " in detail", Heads: costHeads}
		// A variant that did not run has no row, as all its figures would be 0.
		add := func(res *compare.Result, series int, name string) {
			c, ok := res.Cost(list.Name)
			if !ok || res.Turns == 0 {
				return
			}
			t.Rows = append(t.Rows, row{Series: series, Name: short(name), Cells: []string{
				dollars(c.USD, c.Nothing), relative(c.Relative), number(c.CacheRead), number(c.CacheWrite),
				number(c.Uncached), dollars(c.Model, c.Nothing),
			}})
		}
		add(&r.Totals.Nothing, 0, compare.NothingName)
		for i := range r.Totals.Variants {
			add(&r.Totals.Variants[i], i+1, r.Totals.Variants[i].Variant)
		}
		out = append(out, t)
	}
	return out
}

// pruned shows what one variant removed, by tool and by file.
type pruned struct {
	Series       int
	Name         string
	Entries      string
	Tokens       string
	Tools, Files []shareRow
}

// shareTable is one of the two tables of pruned.
type shareTable struct {
	Caption, Head string
	Series        int
	Rows          []shareRow
}

// ToolTable and FileTable are called by the template, which cannot construct values.
func (p pruned) ToolTable() shareTable {
	return shareTable{"By tool: " + p.Name, "tool", p.Series, p.Tools}
}

func (p pruned) FileTable() shareTable {
	return shareTable{"By file: " + p.Name, "file", p.Series, p.Files}
}

// shareRow is one row of a shareTable, with a bar that shows its size relative to the largest row.
type shareRow struct {
	Name, Count, Tokens, Part string
	// Bar is the width of the bar, from 0 to barWidth.
	Bar string
}

// maxPath is how many characters of a path are shown: its root and its end, which tell files apart.
const maxPath = 56

// barWidth is the width of the longest bar, in pixels.
const barWidth = 120

// prunedTables returns a section for each variant that pruned anything. The row budget of the page is divided among
// the variants, with three rows as the least that is of use.
func prunedTables(r *compare.Report) []pruned {
	var out []pruned
	// Half for tools, half for files.
	most := max(shareRowsOfAll/2/max(len(r.Variants), 1), 3)
	// There are colours for so many variants.
	for i := range r.Totals.Variants[:min(len(r.Totals.Variants), maxVariants-1)] {
		res := &r.Totals.Variants[i]
		if res.Pruned.Entries == 0 {
			continue
		}
		out = append(out, pruned{
			Series: i + 1, Name: short(res.Variant),
			Entries: number(res.Pruned.Entries), Tokens: number(res.Pruned.Tokens),
			Tools: shareRows(res.Pruned.Tools, res.Pruned.Tokens, most),
			Files: shareRows(res.Pruned.Files, res.Pruned.Tokens, most),
		})
	}
	return out
}

// shareRows returns at most most rows; the last one sums up the others. whole is the number of tokens that 100 %
// stands for. A share may be negative, if a replacement was larger than what it replaced; its bar is empty.
func shareRows(shares []compare.Share, whole, most int) []shareRow {
	if len(shares) > most {
		rest := compare.Share{}
		for _, s := range shares[most-1:] {
			// A share may already stand for several.
			rest.Rest += max(s.Rest, 1)
			rest.Count += s.Count
			rest.Tokens += s.Tokens
		}
		shares = append(slices.Clone(shares[:most-1]), rest)
	}
	// Not 0, by which it divides.
	widest := 1
	for _, s := range shares {
		widest = max(widest, s.Tokens)
	}
	var out []shareRow
	for _, s := range shares {
		name := clean(text.ClipMiddle(s.Name, maxPath))
		if s.Rest > 0 {
			name = fmt.Sprintf("%s more", number(s.Rest))
		}
		part := "–"
		if whole > 0 {
			part = percent(float64(s.Tokens) / float64(whole))
		}
		out = append(out, shareRow{Name: name, Count: number(s.Count), Tokens: number(s.Tokens), Part: part,
			Bar: coordinate(barWidth * float64(max(s.Tokens, 0)) / float64(widest))})
	}
	return out
}

// lostTable lists identifiers that a variant lost. Count is the number of all of them, Rows are the first ones.
type lostTable struct {
	Name  string
	Count string
	Rows  []lostRow
}

// lostRow is one [compare.Lost]. Turn counts from 1; Entry and From are positions of recorded entries, from 0.
type lostRow struct {
	Identifier, Session string
	Turn, Entry, From   int
}

// lostTables returns a table for each variant that lost anything, within the row budget of the page.
func lostTables(r *compare.Report) []lostTable {
	var out []lostTable
	most := max(lostRowsOfAll/max(len(r.Variants), 1), 3)
	for i := range r.Totals.Variants[:min(len(r.Totals.Variants), maxVariants-1)] {
		res := &r.Totals.Variants[i]
		if len(res.Recall.Lost) == 0 {
			continue
		}
		t := lostTable{Name: short(res.Variant), Count: number(res.Recall.Used - res.Recall.Kept)}
		for _, l := range res.Recall.Lost[:min(len(res.Recall.Lost), most)] {
			t.Rows = append(t.Rows, lostRow{short(l.Identifier), short(l.Session), l.Turn, l.Entry, l.From})
		}
		out = append(out, t)
	}
	return out
}

// priceRow is one price list, as the page is often read long after prices have changed.
type priceRow struct {
	Name, Input, Read, Write, Output, TTL, Minimum, AsOf, Source, Note string
}

// priceRows formats the price lists. A list without a price for cache reads belongs to a provider without a prompt
// cache; a TTL of 0 means that cached prompts do not expire within a session.
func priceRows(lists []*pricing.List) []priceRow {
	var out []priceRow
	for _, l := range lists {
		row := priceRow{
			Name: short(l.Name), Input: price(l.Input), Read: "no cache", Write: "no cache", Output: price(l.Output),
			TTL: "–", Minimum: "–", AsOf: short(l.AsOf), Source: short(l.Source), Note: shorten(l.Note, maxSentence),
		}
		if l.CacheRead > 0 {
			row.Read, row.Write = price(l.Read()), price(l.Write())
			row.TTL, row.Minimum = "no end", number(l.CacheMinimum)
			// 0 is a cache without an end, as far as a session goes.
			if l.CacheTTL > 0 {
				row.TTL = l.CacheTTL.String()
			}
		}
		out = append(out, row)
	}
	return out
}

// price formats USD per million tokens with as many digits as the list has.
func price(usd float64) string { return fmt.Sprintf("%g", usd) }
