package htmlreport

import (
	"fmt"
	"slices"

	"github.com/thresh-dev/thresh/host/internal/lab/compare"
	"github.com/thresh-dev/thresh/host/internal/pricing"
)

// table is one of results: a row for doing nothing and for each variant.
type table struct {
	Caption string
	Lists   []string
	Rows    []row
}

// Span is how many columns there are after the first: [resultColumns] and the price lists.
func (t table) Span() int { return resultColumns + len(t.Lists) }

const resultColumns = 14

type row struct {
	Series int
	Name   string
	// Problem says why there are no figures, or not all; Empty that there are none.
	Problem string
	Empty   bool
	// Cells are in the order of the head in the template.
	Cells []string
}

// resultTable has no times: those are in a section of their own.
func resultTable(r *compare.Report, res *compare.Results) table {
	t := table{Caption: "Totals of all sessions"}
	for _, l := range r.Prices {
		t.Lists = append(t.Lists, short(l.Name))
	}
	t.Rows = append(t.Rows, resultRow(r, &res.Nothing, 0))
	for i := range res.Variants {
		t.Rows = append(t.Rows, resultRow(r, &res.Variants[i], i+1))
	}
	return t
}

func resultRow(r *compare.Report, res *compare.Result, series int) row {
	out := row{
		Series: series, Name: short(res.Variant), Problem: shorten(res.Error, maxSentence), Empty: res.Turns == 0,
	}
	if series == 0 {
		out.Name = compare.NothingName
	}
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
			out.Cells = append(out.Cells, dollars(c.USD, c.Nothing)+" ("+relative(c.Relative)+")")
		}
	}
	out.Cells = append(
		out.Cells,
		percent(
			res.Saved,
		),
		recalled(res.Recall.Share),
		recalled(res.Recall.ShareResults),
		number(res.Rereads.Calls),
		number(res.OverLimit),
		number(res.Turns),
		number(res.Sent),
		number(res.Peak),
		number(res.Rewrites),
		number(
			res.Optimized,
		),
		number(res.Held),
		number(res.Compressed),
		number(res.Laddered),
		number(res.Pruned.Tokens),
	)
	return out
}

// costTable is how the cost by one price list came about.
type costTable struct {
	List string
	Rows []row
}

func costTables(r *compare.Report) []costTable {
	var out []costTable
	for _, list := range r.Prices {
		t := costTable{List: short(list.Name)}
		add := func(res *compare.Result, series int, name string) {
			c, ok := res.Cost(list.Name)
			if !ok || res.Turns == 0 {
				return
			}
			t.Rows = append(t.Rows, row{Series: series, Name: short(name), Cells: []string{
				dollars(
					c.USD, c.Nothing,
				), relative(c.Relative), number(c.CacheRead), number(c.CacheWrite), number(c.Uncached),
				dollars(c.Model, c.Nothing),
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

// pruned is what one variant took away.
type pruned struct {
	Series       int
	Name         string
	Entries      string
	Tokens       string
	Tools, Files []shareRow
}

// shareTable is what was pruned of tools, or of files.
type shareTable struct {
	Caption, Head string
	Series        int
	Rows          []shareRow
}

// ToolTable and FileTable are for the template.
func (p pruned) ToolTable() shareTable {
	return shareTable{"By tool: " + p.Name, "tool", p.Series, p.Tools}
}

func (p pruned) FileTable() shareTable {
	return shareTable{"By file: " + p.Name, "file", p.Series, p.Files}
}

type shareRow struct {
	Name, Count, Tokens, Part string
	// Bar is its width, of barWidth.
	Bar string
}

const barWidth = 120

func prunedTables(r *compare.Report) []pruned {
	var out []pruned
	most := max(shareRowsOfAll/2/max(len(r.Variants), 1), 3)
	for i := range r.Totals.Variants[:min(len(r.Totals.Variants), maxVariants-1)] {
		res := &r.Totals.Variants[i]
		if res.Pruned.Entries == 0 {
			continue
		}
		out = append(out, pruned{
			Series: i + 1, Name: short(res.Variant), Entries: number(res.Pruned.Entries), Tokens: number(res.Pruned.Tokens),
			Tools: shareRows(
				res.Pruned.Tools, res.Pruned.Tokens, most,
			), Files: shareRows(res.Pruned.Files, res.Pruned.Tokens, most),
		})
	}
	return out
}

// shareRows are the first most shares, and the others in one more.
func shareRows(shares []compare.Share, whole, most int) []shareRow {
	if len(shares) > most {
		rest := compare.Share{}
		for _, s := range shares[most-1:] {
			rest.Rest += max(s.Rest, 1)
			rest.Count += s.Count
			rest.Tokens += s.Tokens
		}
		shares = append(slices.Clone(shares[:most-1]), rest)
	}
	widest := 1
	for _, s := range shares {
		widest = max(widest, s.Tokens)
	}
	var out []shareRow
	for _, s := range shares {
		name := short(s.Name)
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

// lostTable names what a variant lost.
type lostTable struct {
	Name  string
	Count string
	Rows  []lostRow
}

type lostRow struct {
	Identifier, Session string
	Turn, Entry, From   int
}

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

type priceRow struct {
	Name, Input, Read, Write, Output, TTL, Minimum, AsOf, Source, Note string
}

func priceRows(lists []*pricing.List) []priceRow {
	var out []priceRow
	for _, l := range lists {
		row := priceRow{
			Name: short(l.Name), Input: price(l.Input), Read: "no cache", Write: "no cache", Output: price(l.Output),
			TTL: "–", Minimum: "–", AsOf: short(l.AsOf), Source: short(l.Source), Note: shorten(l.Note, maxSentence),
		}
		if l.CacheRead > 0 {
			row.Read, row.Write, row.TTL, row.Minimum = price(
				l.Read(),
			), price(
				l.Write(),
			), "no end", number(
				l.CacheMinimum,
			)
			if l.CacheTTL > 0 {
				row.TTL = l.CacheTTL.String()
			}
		}
		out = append(out, row)
	}
	return out
}

func price(usd float64) string { return fmt.Sprintf("%g", usd) }
