package htmlreport

import (
	"fmt"
	"html/template"
	"time"

	"github.com/thresh-dev/thresh/host/internal/lab/compare"
)

// Limits that keep the page below 2 MB, which browsers and mail systems handle well. Byte figures are estimates from
// measured pages, with a margin.
const (
	// Beyond it the page lists how many are missing.
	maxSessions  = 40      // sessions shown one by one
	sessionBytes = 850_000 // of all sessions together, without the points of lines
	pointsOfAll  = 55_000  // points of all lines of all charts, about 11 bytes each
	// Every second pixel of the plot area: more could not be told apart.
	pointsOfALine  = 360
	shareRowsOfAll = 600 // about 350 bytes each
	lostRowsOfAll  = 500
	maxVariants    = 60  // in charts, in what was pruned and in what was lost; the table of totals has all
	maxName        = 120 // bytes
	maxSentence    = 500 // bytes
)

// sizeOf estimates the bytes that one session takes on the page, without the points of its lines.
func sizeOf(variants, lists int) int {
	rows := variants + 1
	charts := (1 + lists) * (1800 + 450*min(rows, maxVariants))
	return charts + rows*(400+30*(len(moreColumns)+len(mainColumns(nil))+lists))
}

// page is what the template shows: text and numbers only. The template escapes every string, wherever it comes from;
// nothing here has type template.HTML. Style is the exception, and contains nothing from a session.
type page struct {
	Style template.CSS
	// base64 SHA-256 of Style, for the page's Content-Security-Policy: a browser applies these styles and loads
	// nothing else
	StyleHash string

	Title string
	// Incomplete is shown at the top: an interrupted comparison must not pass for a whole one.
	Incomplete bool
	// Sessions, Entries and Turns are of the whole report, also of what is not drawn.
	Sessions int
	Entries  int
	Turns    int
	Warnings []string
	// Verdict is nil for a report without a recommendation.
	Verdict *verdict
	// NotRun says of each variant without figures why it has none; it has no rows.
	NotRun []string
	Series []series
	Totals tables
	Costs  []table
	Drawn  []session
	// Undrawn is how many sessions have no section.
	Undrawn  int
	Pruned   []pruned
	Lost     []lostTable
	Prices   []priceRow
	Settings []settingsRow
	Times    times
}

// series is a variant as legends show it. Index 0 is doing nothing, index i+1 is variant i of the report.
type series struct {
	Index int
	Name  string
}

// session is the section of one session. Numbers are already formatted.
type session struct {
	ID, Name, Format string
	Entries, Tokens  string
	// Timed is set if the recording has times, so that caches expire in the calculation.
	Timed      bool
	Boundaries int
	Charts     []drawing
	Rows       tables
}

// Scope says in one line what the report covers.
func (p *page) Scope() string {
	plural := "s"
	if p.Sessions == 1 {
		plural = ""
	}
	return fmt.Sprintf(
		"%d recorded session%s, %s turns, %s entries.", p.Sessions, plural, number(p.Turns), number(p.Entries),
	)
}

// settingsRow shows the settings of a variant, so that a page can be reproduced without the command line.
type settingsRow struct{ Name, Strategy, Settings, PriceList string }

// times is the last section of the page. It holds everything that differs between runs, so that two pages can be
// compared up to there.
type times struct {
	Made, Version, Took string
	Rows                []timeRow
}

type timeRow struct{ Name, Host, Plugin, Model string }

// newPage prepares all sections. It copies nothing that is unbounded: names are shortened, rows counted.
func newPage(r *compare.Report, o Options) *page {
	p := &page{Title: clean(o.Title), Incomplete: r.Incomplete, Sessions: len(r.Sessions)}
	// After cleaning, which never empties a title.
	if p.Title == "" {
		p.Title = "Strategies compared on recorded sessions"
	}
	for _, s := range r.Sessions {
		p.Entries += s.Entries
		p.Turns += s.Nothing.Turns
	}
	p.Series = append(p.Series, series{0, compare.NothingName})
	for i, v := range r.Variants {
		p.Series = append(p.Series, series{i + 1, short(v.Name)})
		p.Settings = append(
			p.Settings, settingsRow{short(v.Name), short(v.Strategy), settingsText(v.Settings), short(v.PriceList)},
		)
	}
	for _, c := range r.Warnings() {
		p.Warnings = append(p.Warnings, shorten(c, maxSentence))
	}
	p.Verdict = verdictOf(r.Recommendation)
	for _, v := range r.Totals.Variants {
		if v.Turns == 0 && v.Error != "" {
			p.NotRun = append(p.NotRun, short(v.Variant)+": "+shorten(v.Error, maxSentence))
		}
	}
	// Every variant that ran has a row here, however many there are.
	p.Totals = resultTables(r, &r.Totals, "all sessions")
	p.Costs = costTables(r)
	p.Lost = lostTables(r)
	p.Pruned = prunedTables(r)
	p.Prices = priceRows(r.Prices)
	p.drawSessions(r)
	p.Times = timesOf(r, o)
	if len(p.Series) > maxVariants { // the check boxes toggle lines, and only these variants have some
		p.Series = p.Series[:maxVariants]
	}
	return p
}

// timesOf fills the last section. A report read from elsewhere may have fewer totals than variants.
func timesOf(r *compare.Report, o Options) times {
	t := times{Version: clean(o.Version), Took: duration(r.Took)}
	if !o.Made.IsZero() {
		t.Made = o.Made.UTC().Format("2006-01-02 15:04 UTC")
	}
	for i, v := range r.Variants {
		// What is missing is left out rather than invented.
		if i >= len(r.Totals.Variants) {
			break
		}
		res := &r.Totals.Variants[i]
		row := timeRow{Name: short(v.Name), Host: duration(res.HostTime), Plugin: duration(res.PluginTime), Model: "–"}
		if res.LLM != nil {
			row.Model = duration(res.LLM.Time)
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// drawSessions draws the largest sessions, in the order in which they were given: large ones are those in which
// strategies differ. The number of points per line follows from how many lines share the page.
func (p *page) drawSessions(r *compare.Report) {
	shown := largest(r.Sessions, min(max(sessionBytes/sizeOf(len(r.Variants), len(r.Prices)), 1), maxSessions))
	p.Undrawn = len(r.Sessions) - len(shown)
	// One line per variant in each chart, and a chart for each price list besides that of the context.
	lines := len(shown) * min(len(r.Variants)+1, maxVariants) * (1 + len(r.Prices))
	most := min(max(pointsOfAll/max(lines, 1), 8), pointsOfALine)
	for n, i := range shown {
		s := &r.Sessions[i]
		v := session{
			ID: fmt.Sprintf("session-%d", i+1), Name: short(s.Name), Format: short(string(s.Format)),
			Entries: number(s.Entries), Tokens: number(s.Tokens), Timed: s.Timed, Boundaries: len(s.Boundaries),
			Rows: resultTables(r, &s.Results, "session "+short(s.Name)),
		}
		v.Charts = charts(r, s, n, most)
		p.Drawn = append(p.Drawn, v)
	}
}

// duration formats a duration with about three significant digits.
func duration(d time.Duration) string {
	switch {
	case d >= time.Second:
		return d.Round(10 * time.Millisecond).String()
	case d >= time.Millisecond:
		return d.Round(10 * time.Microsecond).String()
	}
	return d.Round(time.Microsecond).String()
}
