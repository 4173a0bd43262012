package htmlreport

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/host/internal/lab/compare"
)

// largest returns the indices of the most sessions with the most tokens, in ascending order. The sort is stable, so
// that equal sessions are chosen by their order.
func largest(sessions []compare.SessionReport, most int) []int {
	all := make([]int, len(sessions))
	for i := range all {
		all[i] = i
	}
	// The usual case.
	if len(all) <= most {
		return all
	}
	slices.SortStableFunc(all, func(a, b int) int {
		return cmp.Compare(sessions[b].Nothing.Unpruned, sessions[a].Nothing.Unpruned)
	})
	all = all[:most]
	// Back in the order in which the user gave them.
	slices.Sort(all)
	return all
}

// results returns doing nothing and the variants that can be drawn, each with the number of its series. A variant
// without turns (failed or not begun) has no line.
func results(r *compare.Results) []numbered {
	list := []numbered{{0, &r.Nothing}}
	for i := range r.Variants {
		// Series 0 counts too.
		if i+1 < maxVariants && len(r.Variants[i].Points) > 0 {
			list = append(list, numbered{i + 1, &r.Variants[i]})
		}
	}
	return list
}

// numbered is a result with the number of its series, which decides its colour.
type numbered struct {
	series int
	*compare.Result
}

// charts draws the charts of one session: the context that was sent, then the accumulated cost by each price list. n
// makes the ids of the charts unique on the page; most is the limit on points per line.
func charts(r *compare.Report, s *compare.SessionReport, n, most int) []drawing {
	// The same for all charts of the session.
	marks := make([]float64, len(s.Boundaries))
	for i, turn := range s.Boundaries {
		marks[i] = float64(turn)
	}
	context := chart{
		ID: fmt.Sprintf("c%d", n), Title: "Context sent, by turn", Unit: "tokens", Marks: marks, Most: most,
		Levels: levels(s.Variants), Label: thousands,
	}
	var desc []string
	for _, res := range results(&s.Results) {
		l := line{Style: res.series, Name: short(res.Variant)}
		for _, p := range res.Points {
			l.Points = append(l.Points, point{float64(p.Turn), float64(p.Sent)})
		}
		context.Lines = append(context.Lines, l)
		desc = append(desc, fmt.Sprintf("%s: peak %s, sent in all %s.", l.Name, number(res.Peak), number(res.Sent)))
	}
	context.Desc = strings.Join(desc, " ")
	out := []drawing{context.draw()}
	for i, list := range r.Prices {
		out = append(out, costChart(s, list.Name, fmt.Sprintf("c%d-%d", n, i), marks, most))
	}
	return out
}

// costChart draws the accumulated cost by one price list. The digits of the labels follow from the highest value.
func costChart(s *compare.SessionReport, list, id string, marks []float64, most int) drawing {
	c := chart{
		ID: id, Title: "Cost of prompts up to each turn, by " + short(list), Unit: "USD", Marks: marks, Most: most,
	}
	highest := 0.0
	var desc []string
	for _, res := range results(&s.Results) {
		at := slices.IndexFunc(res.Costs, func(c compare.Cost) bool { return c.List == list })
		if at < 0 {
			continue // this variant decided by another list
		}
		l := line{Style: res.series, Name: short(res.Variant)}
		for _, p := range res.Points {
			// A report from elsewhere may be incomplete.
			if at < len(p.USD) {
				l.Points = append(l.Points, point{float64(p.Turn), p.USD[at]})
				highest = max(highest, p.USD[at])
			}
		}
		c.Lines = append(c.Lines, l)
		desc = append(
			desc,
			fmt.Sprintf(
				"%s: %s USD, %s against doing nothing.", l.Name, dollars(res.Costs[at].USD, res.Costs[at].USD),
				relative(res.Costs[at].Relative),
			),
		)
	}
	c.Desc = strings.Join(desc, " ")
	c.Label = func(v float64) string { return dollars(v, highest) }
	return c.draw()
}

// levels returns the hard limit and the thresholds of the variants as horizontal lines, each value once. Limits come
// first: when many variants have different thresholds, only a few of those are drawn.
func levels(variants []compare.Result) []level {
	var out []level
	// Variants with equal limits share a line.
	add := func(name string, v float64, below bool) {
		if v > 0 && !slices.ContainsFunc(out, func(l level) bool { return l.Y == v }) {
			out = append(out, level{fmt.Sprintf("%s %s", name, number(int(v))), v, below})
		}
	}
	for i := range variants {
		if l := variants[i].Limits; l != nil {
			add("limit", float64(l.Hard), false)
		}
	}
	for i := range variants {
		if l := variants[i].Limits; l != nil && len(out) < 6 {
			add("threshold", l.Trigger, true)
		}
	}
	return out
}
