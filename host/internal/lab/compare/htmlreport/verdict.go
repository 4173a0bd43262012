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
	v := &verdict{Headline: x.Headline(short, recalled)}
	if x.Variant == "" {
		return v
	}
	add := func(value, text string, several bool, worst string) {
		if several {
			text += ", " + worst + " in the worst session"
		}
		v.Figures = append(v.Figures, figure{value, text})
	}
	add(relative(x.Relative), "cost against doing nothing", x.Dearest.Differs(x.Relative), relative(x.Dearest.Worst))
	kept := min(x.Lines, x.Own)
	add(recalled(kept), "kept of the lines that later turns used or, if that is less, of the agent's own words and edits",
		x.Worst.Differs(kept), recalled(x.Worst.Worst))
	add(dollars(x.PerSession, x.PerSession), "USD saved in a session", false, "")
	return v
}
