package htmlreport

import (
	"fmt"
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

func (t *table) add(name string, cells ...string) {
	if len(t.Rows) == maxRows {
		t.Rest++
		return
	}
	t.Rows = append(t.Rows, row{Name: name, Cells: cells})
}

type column struct {
	head string
	cell func(*compare.Result) string
}

// columns are those of a place; list is the price list of measures that have one.
func columns(place compare.Place, list string) (out []column) {
	for _, m := range compare.Measures() {
		if m.Place != place {
			continue
		}
		out = append(out, column{title(m.Name), func(r *compare.Result) string {
			c, _ := r.Cost(list)
			text := figureText(m.Kind, m.Value(r, c), c)
			if m.Spread == nil {
				return text
			}
			if s, ok := m.Spread(r, c); ok && s.Differs(m.Value(r, c)) {
				text += " (worst " + figureText(m.Kind, s.Worst, c) + ")"
			}
			return text
		}})
	}
	return out
}

// title is the name of a measure as the page has it.
func title(name string) string { return strings.ReplaceAll(name, "-", " ") }

func figureText(kind compare.Kind, v float64, c compare.Cost) string {
	switch kind {
	case compare.Share01:
		return recalled(v)
	case compare.Saving:
		return percent(v)
	case compare.USD:
		return dollars(v, c.Nothing)
	default:
		return number(int(v))
	}
}

// meaning is an entry of the explanations.
type meaning struct{ Name, Text string }

// meanings explain the measures that the page shows.
func meanings() (out []meaning) {
	for _, m := range compare.Measures() {
		if m.Place != compare.Nowhere {
			out = append(out, meaning{title(m.Name), strings.ToUpper(m.Help[:1]) + m.Help[1:] + "."})
		}
	}
	return out
}

// totals has what most readers choose by, at the first price list: a row for each strategy or, with every, for each
// variant that did not decide by another list.
func totals(r *compare.Report, every bool) table {
	var first []column
	ran := (*compare.Result).Ran
	if len(r.Prices) > 0 {
		list := r.Prices[0].Name
		first = []column{{"USD, " + short(list), func(r *compare.Result) string { return costCell(r, list) }}}
		ran = pricedBy(list)
	}
	return results(r, "Totals of all sessions", append(first, columns(compare.Totals, "")...), ran, every)
}

// more has the rest of the figures, and the cost by each price list in detail.
func more(r *compare.Report, every bool) section {
	out := section{Title: "More figures"}
	if all := totals(r, true); len(r.Rows(every)) < len(r.Variants) {
		all.Caption = "Totals of all variants"
		out.Tables = append(out.Tables, all)
	}
	out.Tables = append(out.Tables,
		results(r, "More totals of all sessions", columns(compare.More, ""), (*compare.Result).Ran, true))
	for _, l := range r.Prices {
		cost := column{"USD", func(r *compare.Result) string { return costCell(r, l.Name) }}
		out.Tables = append(out.Tables, results(r, "Cost by "+short(l.Name),
			append([]column{cost}, columns(compare.CostTable, l.Name)...), pricedBy(l.Name), true))
	}
	return out
}

// pricedBy reports of a result whether it ran and decided by no other list.
func pricedBy(list string) func(*compare.Result) bool {
	return func(r *compare.Result) bool {
		_, priced := r.Cost(list)
		return priced && r.Ran()
	}
}

// results has a row for doing nothing and one for each strategy or, with every, variant that is shown.
func results(
	r *compare.Report, caption string, columns []column, shown func(*compare.Result) bool, every bool,
) table {
	t := table{Caption: caption, Heads: []string{"variant"}}
	for _, c := range columns {
		t.Heads = append(t.Heads, c.head)
	}
	add := func(name string, res *compare.Result) {
		var cells []string
		for _, c := range columns {
			cells = append(cells, c.cell(res))
		}
		out := row{Name: short(name), Problem: shorten(res.Error, maxSentence), Cells: cells}
		if !res.Done && out.Problem == "" {
			out.Problem = "not finished: the comparison was stopped"
		}
		t.Rows = append(t.Rows, out)
	}
	add(compare.NothingName, &r.Totals.Nothing)
	for _, i := range r.Rows(every) {
		if v := &r.Totals.Variants[i]; shown(v) {
			add(r.Label(i, every), v)
		}
	}
	return t
}

// costCell is the cost by a list, of variants with the difference to doing nothing.
func costCell(res *compare.Result, list string) string {
	c, _ := res.Cost(list)
	if res.Variant == compare.NothingName {
		return dollars(c.USD, c.USD)
	}
	worst := ""
	if c.PerSession != nil && res.Sessions > 1 {
		worst = ", worst " + relative(c.PerSession.Worst)
	}
	return dollars(c.USD, c.Nothing) + " (" + relative(c.Relative) + worst + ")"
}

func sessions(r *compare.Report, variant int) section {
	total := &r.Totals.Variants[variant]
	name := short(total.Variant)
	t := table{Caption: "Each session with " + name,
		Heads: []string{"session", "entries", "turns", "tokens sent", "saved"}}
	for _, c := range total.Costs {
		t.Heads = append(t.Heads, "USD, "+short(c.List))
	}
	t.Heads = append(t.Heads, "recall", "needs", "compactions by the recorder")
	for i := range r.Sessions {
		s := &r.Sessions[i]
		res := &s.Variants[variant]
		cells := []string{number(s.Entries), number(res.Turns), number(res.Sent), percent(res.Saved)}
		for _, c := range total.Costs {
			cells = append(cells, costCell(res, c.List))
		}
		cells = append(cells, recalled(res.Recall.Share), recalled(res.Needs.Share), number(len(s.Boundaries)))
		t.add(short(s.Name), cells...)
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
			t.add(name, number(s.Count), number(s.Tokens), percent(float64(s.Tokens)/float64(max(v.Pruned.Tokens, 1))))
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
