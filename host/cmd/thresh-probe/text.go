package main

import (
	"fmt"

	"github.com/thresh-dev/thresh/host/internal/lab/compare"
	"github.com/thresh-dev/thresh/host/internal/lab/probe"
	"github.com/thresh-dev/thresh/host/internal/table"
)

func columns() []table.Column {
	return []table.Column{
		{Name: "variant"},
		{Name: "score", Right: true},
		{Name: "interval", Head: "95 %", Right: true},
		{Name: "continuation", Head: "CONTI-\nNUATION", Right: true, Rank: 2},
		{Name: "artifacts", Head: "ARTI-\nFACTS", Right: true, Rank: 2},
		{Name: "decisions", Head: "DECI-\nSIONS", Right: true, Rank: 2},
		{Name: "details", Right: true, Rank: 2},
		{Name: "wrong", Right: true, Rank: 3},
		{Name: "unknown", Right: true, Rank: 4},
		{Name: "after", Right: true, Rank: 3},
		{Name: "worst", Right: true, Rank: 3},
		{Name: "left", Right: true, Rank: 1},
		{Name: "searches", Right: true, Rank: 1},
		{Name: "found", Right: true, Rank: 1},
		{Name: "cost", Right: true, Rank: 1},
	}
}

// print prints what the grades add up to, and plainly what is missing.
func (p *program) print(st *probe.State) error {
	r := st.Report()
	if p.json {
		return p.printJSON(r)
	}
	if r.Questions > 0 {
		if err := p.printScores(r); err != nil {
			return err
		}
		if len(r.Failed)+len(r.Problems)+len(r.Missing) > 0 {
			fmt.Fprintln(p.out)
		}
	}
	for _, f := range r.Failed {
		fmt.Fprintln(p.out, "failed: "+f)
	}
	for _, problem := range r.Problems {
		fmt.Fprintln(p.out, "cannot be used: "+problem)
	}
	for _, t := range r.Missing {
		fmt.Fprintln(p.out, "missing: "+t.Output)
	}
	switch {
	case st.Moments() == 0 && len(r.Failed) == 0:
		fmt.Fprintln(p.out, "no moments: no variant removed anything before a request that the recording answers")
	case len(r.Missing) > 0:
		fmt.Fprintf(p.out, "%s to be worked through now, about %d after them\n", plural(len(r.Missing), "sheet"), st.Later)
	case r.Questions == 0:
		fmt.Fprintln(p.out, "no question can be scored")
	}
	return nil
}

// average is a mean that is no score; "-" for nil.
func average(s *probe.Score, format string) string {
	if s == nil || s.Questions == 0 {
		return "-"
	}
	return fmt.Sprintf(format, s.Mean)
}

func (p *program) printScores(r *probe.Report) error {
	t := table.New(columns()...)
	for _, v := range r.Variants {
		t.Row(v.Variant, v.Score.String(), v.Score.Between(), v.Kinds["continuation"].String(), v.Kinds["artifacts"].String(),
			v.Kinds["decisions"].String(), v.Kinds["details"].String(), table.Percentage(100*v.Wrong),
			table.Percentage(100*v.Unknown), v.After.String(), v.Worst.Points(), table.Short(v.Left), average(v.Searches, "%.1f"),
			average(v.Found, "%.0f"), compare.Change.Text(v.Relative))
	}
	if err := p.printTable(t); err != nil {
		return err
	}
	fmt.Fprintf(p.out, "\n%s at %s of %s", plural(r.Questions, "question"), plural(r.Moments, "moment"),
		plural(r.Sessions, "session"))
	if r.Dropped > 0 {
		fmt.Fprintf(p.out, "; %d dropped, as the whole history did not answer them in full", r.Dropped)
	}
	if r.Open > 0 {
		fmt.Fprintf(p.out, "; %d left out, as an answer or a grade is missing", r.Open)
	}
	fmt.Fprintf(p.out, "\ngraders agreed on %d of %d answers; intervals are 95 %% of a bootstrap over %s\n", r.Agreed,
		r.Graded, r.Clusters)
	for _, v := range r.Variants {
		if v.Worst != nil && v.Variant != compare.NothingName {
			fmt.Fprintf(p.out, "worst of %s: %s at turn %d of %s, with %s tokens\n", v.Variant, v.Worst.Points(), v.Worst.Turn,
				v.Worst.Session, table.Short(v.Worst.Tokens))
		}
		if v.OverLimit > 0 {
			fmt.Fprintf(p.out, "%s: %s over the limit\n", v.Variant, plural(v.OverLimit, "request"))
		}
	}
	for _, d := range r.Differences {
		if d.Score.Questions > 0 {
			fmt.Fprintf(p.out, "%s against %s: %+.2f %s\n", d.Variant, d.Than, d.Score.Mean, d.Score.Between())
		}
	}
	return nil
}
