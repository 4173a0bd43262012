package htmlreport

import (
	"fmt"

	"github.com/thresh-dev/thresh/host/internal/lab/compare"
)

// verdict is what the page begins with: what the comparison comes to, in one line and at most three figures.
type verdict struct {
	Headline string
	Figures  []figure
}

// figure is a number in large type, and what it says.
type figure struct{ Value, Text string }

// verdictOf returns the verdict of a recommendation; nil if there is none.
func verdictOf(x *compare.Recommendation) *verdict {
	if x == nil {
		return nil
	}
	floor := "with a recall of at least " + recalled(x.MinRecall)
	switch {
	case x.Variant == "" && x.Needed:
		return &verdict{
			Headline: "Requests do not fit without a strategy, and none that was compared fits them " + floor,
		}
	case x.Variant == "":
		return &verdict{Headline: fmt.Sprintf("Doing nothing is best at %s's prices, %s", short(x.PriceList), floor)}
	}
	v := &verdict{
		Headline: fmt.Sprintf("%s is the cheapest at %s's prices %s", short(x.Variant), short(x.PriceList), floor),
	}
	add := func(value, text string, several bool, worst string) {
		if several {
			text += ", " + worst + " in the worst session"
		}
		v.Figures = append(v.Figures, figure{value, text})
	}
	add(relative(x.Relative), "cost against doing nothing", x.Dearest.Worst != x.Relative, relative(x.Dearest.Worst))
	add(recalled(x.Recall), "recall", x.Worst.Worst != x.Recall, recalled(x.Worst.Worst))
	add(dollars(x.PerSession, x.PerSession), "USD saved in a session", false, "")
	return v
}
