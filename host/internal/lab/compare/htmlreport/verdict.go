package htmlreport

import (
	"strings"

	"github.com/thresh-dev/thresh/host/internal/lab/compare"
)

// verdict is what the page begins with: what the comparison comes to, in one line, at most four figures, and what is
// behind them.
type verdict struct {
	Headline string
	Figures  []figure
	Lines    []compare.Line
	// Set is what to set, and Settings the lines.
	Set      string
	Settings []string
}

type figure struct{ Value, Text string }

func verdictOf(r *compare.Report, o Options) *verdict {
	headline, lines := r.Advice(short)
	if headline == "" {
		return nil
	}
	v := &verdict{Headline: headline, Set: spaced(o.Set), Settings: o.Lines}
	for _, l := range lines {
		v.Lines = append(v.Lines, compare.Line{About: l.About, Text: spaced(l.Text)})
	}
	x := r.Recommendation
	t := r.Total(x.Taken())
	if t == nil {
		return v
	}
	add := func(value, text string) { v.Figures = append(v.Figures, figure{value, text}) }
	c, _ := t.Cost(x.PriceList)
	add(show(compare.Change, c.Relative), "cost: "+show(compare.USD, c.USD)+" USD instead of "+show(compare.USD, c.Nothing))
	if m := x.Month; m != nil && m.USD >= 0.01 {
		add(show(compare.USD, m.USD), "USD saved in 30 days")
	} else {
		add(show(compare.USD, t.SavedPerSession(x.PriceList)), "USD saved in a session")
	}
	text := "of the lines that later turns used are kept"
	if s, ok := t.PerSession["lines"]; ok && s.Differs(t.Recall.ShareLines) {
		text += ", and in the worst session " + kept(s.Worst)
	}
	add(kept(t.Recall.ShareLines), text)
	add(kept(t.Own.Share), "of the agent's own words and edits are kept")
	return v
}

func kept(share float64) string { return show(compare.Kept, share) }

// spaced keeps percent signs on the line of their figure.
func spaced(text string) string { return strings.ReplaceAll(text, " %", "\u00a0%") }
