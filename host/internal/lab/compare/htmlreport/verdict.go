package htmlreport

import "github.com/thresh-dev/thresh/host/internal/lab/compare"

// verdict is what the page begins with: what the comparison comes to, in one line and at most three figures.
type verdict struct {
	Headline string
	Figures  []figure
}

type figure struct{ Value, Text string }

func verdictOf(x *compare.Recommendation) *verdict {
	if x == nil {
		return nil
	}
	v := &verdict{Headline: x.Headline(short, kept)}
	if x.Variant == "" {
		return v
	}
	add := func(value, text string, several bool, worst string) {
		if several {
			text += ", " + worst + " in the worst session"
		}
		v.Figures = append(v.Figures, figure{value, text})
	}
	add(show(compare.Change, x.Relative), "cost against doing nothing", x.Dearest.Differs(x.Relative), show(compare.Change, x.Dearest.Worst))
	least := min(x.Lines, x.Own)
	add(kept(least), "kept of the lines that later turns used or, if that is less, of the agent's own words and edits",
		x.Worst.Differs(least), kept(x.Worst.Worst))
	add(show(compare.USD, x.PerSession), "USD saved in a session", false, "")
	return v
}

func kept(share float64) string { return show(compare.Kept, share) }
