package htmlreport

import (
	"fmt"
	"html/template"
	"slices"

	"github.com/thresh-dev/thresh/host/internal/lab/compare"
)

// Limits that keep the page below 2 MB, which browsers and mail systems handle well.
const (
	maxRows     = 500 // of one table
	maxName     = 120 // bytes
	maxSentence = 500 // bytes
)

// page is what the template shows. The template escapes every string; only Style, which holds nothing of a session, is
// taken as it is.
type page struct {
	Style template.CSS
	// StyleHash is the base64 SHA-256 of Style for the page's Content-Security-Policy: a browser applies these styles
	// and loads nothing else.
	StyleHash string

	Title, Scope string
	Incomplete   bool
	Verdict      *verdict   // nil without a recommendation
	Chart        []*drawing // none without turns
	Priced       string     // what is in the figures in USD
	Totals       table
	Warnings     []string
	NotRun       []string
	Details      []section
	Meanings     []meaning
	// Times is all that differs between two runs.
	Times section
}

// section is a part of the page that is closed until a reader opens it.
type section struct {
	Title, Lead string
	Tables      []table
}

func newPage(r *compare.Report, o Options) *page {
	p := &page{Title: "Strategies compared on recorded sessions", Incomplete: r.Incomplete,
		Scope: scope(r), Verdict: verdictOf(r, o), Priced: priceText(r), Totals: totals(r, "Totals of all sessions", o.Every), Times: times(r, o), Meanings: meanings()}
	for _, w := range r.Warnings() {
		p.Warnings = append(p.Warnings, shorten(w, maxSentence))
	}
	for _, v := range r.Totals.Variants {
		if v.Turns == 0 && v.Error != "" {
			p.NotRun = append(p.NotRun, short(v.Variant)+": "+shorten(v.Error, maxSentence))
		}
	}
	p.Details = append(p.Details, more(r, o.Every))
	if chosen := shown(r); chosen >= 0 {
		p.Chart = contextChart(r, chosen)
		p.Details = append(p.Details, sessions(r, chosen), pruned(r, chosen), lost(r, chosen))
	}
	p.Details = append(p.Details, compared(r))
	return p
}

// priceText says what the figures in USD are of: they have the answers where the recording does.
func priceText(r *compare.Report) string {
	billed := 0
	for _, s := range r.Sessions {
		if s.Billed > 0 {
			billed++
		}
	}
	const answers = "the answers of the agent's model, which are the same for all variants"
	switch {
	case billed == 0:
		return "Prompts without " + answers + "."
	case billed == len(r.Sessions):
		return "Prompts and " + answers + ", as the provider counted them."
	}
	return fmt.Sprintf("Prompts; in the %d of %d sessions that were recorded with usage, also %s.", billed,
		len(r.Sessions), answers)
}

func scope(r *compare.Report) string {
	turns, entries := 0, 0
	for _, s := range r.Sessions {
		turns += s.Nothing.Turns
		entries += s.Entries
	}
	return fmt.Sprintf("%s, %s turns, %s entries.", compare.Counted(len(r.Sessions), "recorded session"), number(turns),
		number(entries))
}

// shown returns the index of the variant that the chart and the details are about: the recommended one, or else the
// first that ran; -1 if none did.
func shown(r *compare.Report) int {
	at := slices.IndexFunc(r.Totals.Variants, func(v compare.Result) bool {
		return v.Variant == r.Recommendation.Taken()
	})
	if at < 0 {
		at = slices.IndexFunc(r.Totals.Variants, func(v compare.Result) bool { return v.Turns > 0 })
	}
	return at
}

func times(r *compare.Report, o Options) section {
	out := section{Title: "Times", Lead: "They differ from run to run. The comparison took " +
		show(compare.Time, float64(r.Took)) + "."}
	if !o.Made.IsZero() {
		out.Lead += " Made on " + o.Made.UTC().Format("2006-01-02 15:04 UTC") + " by thresh " + clean(o.Version) + "."
	}
	rows := r.Rows(&r.Totals, true)
	out.Tables = []table{results("Time of all sessions together", rows[1:], r.Columns(rows),
		func(c compare.Column) bool { return c.Kind == compare.Time })}
	return out
}
