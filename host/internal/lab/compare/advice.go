package compare

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/thresh-dev/thresh/host/internal/provider"
	"github.com/thresh-dev/thresh/host/internal/table"
)

// Line is a line of the advice: what it is about, in a word, and what it says.
type Line struct{ About, Text string }

// Advice says what the comparison comes to: what to take, in a sentence without a full stop, and the figures behind it,
// a line each. name writes the names of sessions, variants and price lists as the reader's medium has them. The
// headline is "" without a recommendation.
func (r *Report) Advice(name func(string) string) (headline string, lines []Line) {
	x := r.Recommendation
	if x == nil {
		return "", nil
	}
	add := func(about, format string, args ...any) {
		lines = append(lines, Line{about, fmt.Sprintf(format, args...)})
	}
	called := func(variant string) string { return name(strings.TrimSuffix(variant, " ("+x.PriceList+")")) }
	prices := name(x.PriceList) + "'s prices"
	if x.PriceList == OwnModel {
		prices = "the prices of each session's own model"
	}
	taken, doing := x.Taken(), "doing nothing"
	if r.Totals.Nothing.OverLimit > 0 {
		doing += " in a larger window"
	}
	switch {
	case x.Variant != "" && x.Relative > -minGain:
		headline = "Do nothing where the window has room; in this one, " + called(x.Variant) +
			" is the cheapest that keeps enough"
	case x.Variant != "":
		headline = called(x.Variant) + " is the cheapest that keeps enough"
	case taken != "":
		headline = "No strategy keeps enough; " + called(taken) + " comes closest"
	case x.Needed || len(x.Unfit) == len(r.Sessions):
		headline = "No strategy makes these sessions fit into the model"
	default:
		headline = fmt.Sprintf("Doing nothing is best: no strategy saves even %g %% at %s", 100*minGain, prices)
	}
	if n := &r.Totals.Nothing; n.OverLimit > 0 {
		add("needed", "%s of %s requests do not fit into the model without a strategy", table.Int(n.OverLimit),
			table.Int(n.Turns))
	}
	if v := r.Total(taken); v != nil {
		cost, _ := v.Cost(x.PriceList)
		text := against(cost.Relative) + " than " + doing + ", at " + prices
		if s := cost.PerSession; s != nil && s.Differs(cost.Relative) {
			text += fmt.Sprintf("; in the worst session %s (%s)", against(s.Worst), name(s.Session))
		}
		add("costs", "%s", text)
		at := slices.IndexFunc(r.Variants, func(v VariantInfo) bool { return v.Name == taken })
		if saved := v.SavedPerSession(x.PriceList); saved >= 0.0001 {
			add("saves", "%s", saves(saved, r.month(at, x.PriceList)))
		}
		r.plan(at, x.PriceList, add)
		text = fmt.Sprintf("%s of the lines that later turns used, %s of the agent's own words and edits",
			Kept.Text(v.Recall.ShareLines), Kept.Text(v.Own.Share))
		if s, ok := v.PerSession["kept"]; ok && s.Differs(v.Kept) {
			text += fmt.Sprintf("; in the worst session %s of one of them (%s)", Kept.Text(s.Worst), name(s.Session))
		}
		add("keeps", "%s", text)
	}
	if c := x.Closest; c != nil {
		add("enough", "is at least %s of both in nine of ten sessions; %d of %d keep it", Kept.Text(x.MinRecall), c.Held,
			c.Of)
		if len(c.Short) > 0 {
			add("loses", "%s", some(c.Short, func(s Short) string {
				if s.OverLimit > 0 {
					return fmt.Sprintf("%s: %s do not fit", name(s.Session), Counted(s.OverLimit, "request"))
				}
				return fmt.Sprintf("%s keeps %s", name(s.Session), Kept.Text(s.Kept))
			}))
		}
	}
	if x.Variant != "" && x.Of > 1 {
		add("enough", "is at least %s of both in nine of ten sessions; each tried with the advice of the others alone, "+
			"%d of %d keep it", Kept.Text(x.MinRecall), x.Held, x.Of)
	}
	const minMore = 0.01 // less is not worth a choice
	if most, v := r.Total(r.KeepsMost()), r.Total(taken); most != nil && v != nil && most.Kept > v.Kept+minMore {
		if cost, _ := most.Cost(x.PriceList); x.Needed || cost.Relative <= -minGain { // else doing nothing keeps more
			add("or", "%s, which keeps most: %s and %s, and costs %s", called(most.Variant),
				Kept.Text(most.Recall.ShareLines), Kept.Text(most.Own.Share), against(cost.Relative))
		}
	}
	if len(r.Windows) > 0 {
		add("windows", "%s", r.windows())
	}
	if len(x.Unfit) > 0 {
		add("left out", "no strategy fits %s", some(x.Unfit, name))
	}
	return headline, lines
}

// saves says what is saved in money.
func saves(session float64, m *Month) string {
	text := fmt.Sprintf("%.2f USD a session", session)
	if session < 1 { // two significant digits tell more than two decimals
		text = fmt.Sprintf("%.2g USD a session", session)
	}
	if m == nil || m.USD < 0.01 {
		return text
	}
	return text + fmt.Sprintf("; %.2f USD in 30 days, at the rate of %s to %s (%s, %.2f USD)", m.USD,
		m.From.Format(time.DateOnly), m.To.Format(time.DateOnly), Counted(m.Sessions, "session"), m.Saved)
}

// plan says what the sessions used of a user's plan, and what they would have used: in proportion to the cost.
func (r *Report) plan(at int, list string, add func(about, format string, args ...any)) {
	is, would, sessions := map[time.Duration]float64{}, map[time.Duration]float64{}, 0
	full := map[time.Duration]bool{} // from the beginning: what came on top is not told
	for i := range r.Sessions {
		s := &r.Sessions[i]
		if cost, _ := s.Variants[at].Cost(list); len(s.Plan) > 0 && cost.Nothing > 0 {
			sessions++
			for _, p := range s.Plan {
				full[p.Length] = full[p.Length] || p.Used >= 1 && p.Session == 0
				is[p.Length] += p.Session
				would[p.Length] += p.Session * cost.USD / cost.Nothing
			}
		}
	}
	var parts []string
	for _, length := range slices.Sorted(maps.Keys(is)) {
		name := provider.WindowName(length)
		switch {
		case full[length] && is[length] == 0:
			parts = append(parts, "more than the "+name+", which were used up before")
		case full[length]:
			parts = append(parts, fmt.Sprintf("over %.0f %% of the %s, which were used up before one began", 100*is[length], name))
		default:
			parts = append(parts, fmt.Sprintf("%.0f %% of the %s (with it %.1f %%)", 100*is[length], name, 100*would[length]))
		}
	}
	if len(parts) > 0 {
		add("plan", "%s used %s", Counted(sessions, "session"), strings.Join(parts, "; "))
	}
}

// Total returns the totals of a variant; nil for none.
func (r *Report) Total(variant string) *Result {
	for i := range r.Totals.Variants {
		if v := &r.Totals.Variants[i]; v.Variant == variant && variant != "" {
			return v
		}
	}
	return nil
}

// against says a relative cost in words.
func against(relative float64) string {
	text := Change.Text(relative)
	switch text[0] {
	case '-':
		return text[1:] + " less"
	case '+':
		return text[1:] + " more"
	}
	return "no less"
}

// some lists at most three of a list.
func some[T any](list []T, name func(T) string) string {
	const maxNamed = 3
	var parts []string
	for _, one := range list[:min(len(list), maxNamed)] {
		parts = append(parts, name(one))
	}
	if more := len(list) - maxNamed; more > 0 {
		return strings.Join(parts, ", ") + fmt.Sprintf(" and %d more", more)
	}
	return strings.Join(parts, ", ")
}

// Counted is a number of things.
func Counted(n int, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return table.Int(n) + " " + thing
}
