package htmlreport

import (
	"fmt"
	"slices"

	"github.com/thresh-dev/thresh/host/internal/lab/compare"
	"github.com/thresh-dev/thresh/host/internal/pricing"
	"github.com/thresh-dev/thresh/internal/text"
)

// table is a table of results: one row for doing nothing and one for each variant. Lists are the price lists, one
// cost column each.
type table struct {
	Caption string
	Lists   []string
	Rows    []row
}

// Span returns the number of columns after the first, for rows whose message takes the place of all figures.
func (t table) Span() int { return resultColumns + len(t.Lists) }

// resultColumns is the number of columns after the costs. It must match resultRow and the head in report.tmpl. A
// mismatch would shift the figures under wrong heads.
const resultColumns = 16

// row is one row of a table. Series selects the colour of its marker.
type row struct {
	Series int
	Name   string
	// Problem says why there are no figures or not all of them. Empty means that there are none.
	Problem string
	Empty   bool
	// Cells are in the order of the head in the template.
	Cells []string
}

// resultTable returns the table of results without times, which differ between runs and have a section of their own.
func resultTable(r *compare.Report, res *compare.Results) table {
	t := table{Caption: "Totals of all sessions"}
	for _, l := range r.Prices {
		t.Lists = append(t.Lists, short(l.Name))
	}
	t.Rows = append(t.Rows, resultRow(r, &res.Nothing, 0))
	for i := range res.Variants {
		if v := &res.Variants[i]; v.Turns > 0 || v.Done {
			t.Rows = append(t.Rows, resultRow(r, v, i+1))
		}
	}
	return t
}

// resultRow returns a row with cells in the order of the template's head. Costs of variants include the difference to
// doing nothing; a variant that decided by one price list has "–" for the others.
func resultRow(r *compare.Report, res *compare.Result, series int) row {
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
	if out.Empty {
		return out
	}
	for _, list := range r.Prices {
		c, ok := res.Cost(list.Name)
		switch {
		case !ok:
			out.Cells = append(out.Cells, "–")
		case series == 0:
			out.Cells = append(out.Cells, dollars(c.USD, c.USD))
		default:
			worst := ""
			if c.PerSession != nil && res.Sessions > 1 {
				worst = ", worst " + relative(c.PerSession.Worst)
			}
			out.Cells = append(out.Cells, dollars(c.USD, c.Nothing)+" ("+relative(c.Relative)+worst+")")
		}
	}
	out.Cells = append(
		out.Cells,
		percent(res.Saved),
		spread(res.Recall.Share, res.PerSession, func(p *compare.PerSession) compare.Spread { return p.Recall }),
		recalled(res.Recall.ShareResults),
		spread(res.Needs.Share, res.PerSession, func(p *compare.PerSession) compare.Spread { return p.Needs }),
		spread(res.Needs.ShareEdits, res.PerSession, func(p *compare.PerSession) compare.Spread { return p.Edits }),
		number(res.Rereads.Calls),
		number(res.OverLimit),
		number(res.Turns),
		number(res.Sent),
		number(res.Peak),
		number(res.Rewrites),
		number(res.Optimized),
		number(res.Held),
		number(res.Compressed),
		number(res.Laddered),
		number(res.Pruned.Tokens),
	)
	return out
}

// spread formats a share; in totals also the mean and the lowest of the sessions' shares.
func spread(share float64, sessions *compare.PerSession, of func(*compare.PerSession) compare.Spread) string {
	if sessions == nil {
		return recalled(share)
	}
	s := of(sessions)
	return fmt.Sprintf("%s (mean %s, worst %s)", recalled(share), recalled(s.Mean), recalled(s.Worst))
}

// costTable breaks the cost by one price list down into cache reads, cache writes, uncached tokens and model calls.
type costTable struct {
	List string
	Rows []row
}

// costTables returns one table per price list, without variants that were not priced by it.
func costTables(r *compare.Report) []costTable {
	var out []costTable
	for _, list := range r.Prices {
		t := costTable{List: short(list.Name)}
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
