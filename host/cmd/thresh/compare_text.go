package main

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/thresh-dev/thresh/host/internal/lab/compare"
)

// printCompared prints the totals, before them the sessions if they are asked for, and then what to read with care.
func (a *app) printCompared(r *compare.Report, sessions bool) error {
	if sessions {
		for i := range r.Sessions {
			s := &r.Sessions[i]
			fmt.Fprintf(a.out, "%s (%d entries, %d tokens%s)\n", s.Name, s.Entries, s.Tokens, compactions(len(s.Boundaries)))
			if err := a.printResults(r, &s.Results, 1); err != nil {
				return err
			}
			fmt.Fprintln(a.out)
		}
		fmt.Fprintln(a.out, "all sessions")
	}
	if err := a.printResults(r, &r.Totals, len(r.Sessions)); err != nil {
		return err
	}
	var notes []string
	for i := range r.Totals.Variants {
		if v := &r.Totals.Variants[i]; v.Error != "" {
			notes = append(notes, r.Variants[i].Name+": "+v.Error)
		}
	}
	notes = append(notes, r.Warnings()...)
	if len(notes) > 0 {
		fmt.Fprintln(a.out)
	}
	for _, n := range notes {
		fmt.Fprintln(a.out, n)
	}
	return nil
}

func compactions(n int) string {
	switch n {
	case 0:
		return ""
	case 1:
		return ", compacted once by the recorder"
	}
	return fmt.Sprintf(", compacted %d times by the recorder", n)
}

func (a *app) printResults(r *compare.Report, res *compare.Results, sessions int) error {
	w := tabwriter.NewWriter(a.out, 0, 0, 2, ' ', tabwriter.AlignRight)
	above := strings.Repeat("\t", 7) + "OVER\t\t\t"
	head := "VARIANT\tSENT\tSAVED\tPEAK\tREWRITES\tOPTIMIZED\tCOMPRESSED\tLIMIT\tRECALL\tREREADS\t"
	for _, l := range r.Prices {
		first, second := twoLines("$ " + l.Name)
		above += first + "\t"
		head += second + "\t"
	}
	fmt.Fprintln(w, above+"\t\t")
	fmt.Fprintln(w, head+"HOST\tPLUGIN\t")
	printResult(w, r, compare.NothingName, &res.Nothing, sessions, true)
	for i := range res.Variants {
		printResult(w, r, r.Variants[i].Name, &res.Variants[i], sessions, false)
	}
	return w.Flush()
}

func printResult(w *tabwriter.Writer, r *compare.Report, name string, res *compare.Result, sessions int, nothing bool) {
	if res.Turns == 0 && !res.Done {
		fmt.Fprintf(w, "%s\tnot run\t%s\n", name, strings.Repeat("-\t", 10+len(r.Prices)))
		return
	}
	if !res.Done && sessions > 1 {
		name += fmt.Sprintf(" (%d of %d)", res.Sessions, sessions)
	} else if !res.Done {
		name += " (incomplete)"
	}
	fmt.Fprintf(w, "%s\t%d\t%s\t%d\t%d\t%d\t%d\t%d\t%s\t%d\t", name, res.Sent, percent(res.Unpruned-res.Sent, res.Unpruned), res.Peak,
		res.Rewrites, res.Optimized, res.Compressed, res.OverLimit, share(res.Recall.Share), res.Rereads.Calls)
	for _, l := range r.Prices {
		c, ok := res.Cost(l.Name)
		switch {
		case !ok:
			fmt.Fprint(w, "-\t")
		case nothing:
			fmt.Fprintf(w, "%s\t", usd(c.USD, c.USD))
		default:
			fmt.Fprintf(w, "%s %s\t", usd(c.USD, c.Nothing), against(c.Relative))
		}
	}
	if nothing {
		fmt.Fprint(w, "-\t-\t\n")
		return
	}
	fmt.Fprintf(w, "%s\t%s\t\n", brief(res.HostTime), brief(res.PluginTime))
}

// twoLines breaks the head of a column near its middle, after a hyphen or a space.
func twoLines(text string) (first, second string) {
	best := 0
	for i, c := range text {
		if (c == '-' || c == ' ') && max(i+1, len(text)-i-1) < max(best, len(text)-best) {
			best = i + 1
		}
	}
	return strings.TrimSuffix(text[:best], " "), text[best:]
}

// share is a share as a percentage that is 100 only if nothing is missing.
func share(v float64) string {
	return fmt.Sprintf("%.1f %%", math.Floor(v*1000)/10)
}

// usd has as many digits behind the point as the cost of doing nothing needs to have two.
func usd(v, nothing float64) string {
	digits := 2
	if nothing > 0 && nothing < 1 {
		digits = min(max(1-int(math.Floor(math.Log10(nothing))), 2), 6)
	}
	return strconv.FormatFloat(v, 'f', digits, 64)
}

// against is a cost against that of doing nothing.
func against(relative float64) string {
	switch percent := relative * 100; {
	case math.Abs(percent) < 0.05:
		return "0.0 %"
	case math.Abs(percent) < 9.95:
		return fmt.Sprintf("%+.1f %%", percent)
	default:
		return fmt.Sprintf("%+.0f %%", percent)
	}
}

// brief is a duration with two or three digits.
func brief(d time.Duration) string {
	switch {
	case d >= 100*time.Second:
		return d.Round(time.Second).String()
	case d >= time.Second:
		return d.Round(100 * time.Millisecond).String()
	case d >= 10*time.Millisecond:
		return d.Round(time.Millisecond).String()
	}
	return d.Round(100 * time.Microsecond).String()
}
