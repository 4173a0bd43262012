package main

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/thresh-dev/thresh/host/internal/lab/explain"
	"github.com/thresh-dev/thresh/host/internal/table"
	"github.com/thresh-dev/thresh/host/outcome"
)

// explainColumns are the columns of the table of entries. "line" is the line in the file, for formats with one record
// per line.
var explainColumns = []table.Column{
	{Name: "entry", Right: true},
	{Name: "line", Right: true, Rank: 3},
	{Name: "speaker", Rank: 2},
	{Name: "tokens", Right: true},
	{Name: "now", Right: true},
	{Name: "what", Head: "WHAT IT IS", Min: 14},
	{Name: "became", Head: "WHAT BECAME OF IT", Min: 36},
}

// printExplanation prints the entries in the order of the history, with entries that the strategy made in their places,
// and then the rules. Made.After is the position in the file of the entry before, -1 at the beginning.
func (a *app) printExplanation(x explained) error {
	of, how := displayName(x.File), string(x.Format)
	if x.Session != "" {
		of, how = x.Session, "stored"
	}
	// What the agent did to its own history is not the strategy's.
	rules, compacted := x.Rules, ""
	if i := slices.IndexFunc(rules, func(r explain.Rule) bool { return r.Step == explain.StepRecorder }); i >= 0 {
		compacted = fmt.Sprintf(", %s were compacted by the agent itself", table.Int(rules[i].Saved))
		rules = slices.Delete(slices.Clone(rules), i, i+1)
	}
	a.paragraph(fmt.Sprintf("%s (%s, %s): %d turns, %s of %s tokens are left%s", of, how, dash(x.Strategy), x.Turns,
		table.Int(x.Now), table.Int(x.Tokens), compacted), 2)
	fmt.Fprintln(a.out)
	entries := table.New(explainColumns...)
	// Sorted here: the report has them in the order of making. Stable: several behind one entry keep their order.
	made := slices.Clone(x.Made)
	slices.SortStableFunc(made, func(a, b explain.Made) int { return cmp.Compare(a.After, b.After) })
	addMade := func(before int) { // prints the made entries before the file's entry of this position
		for len(made) > 0 && made[0].After < before {
			entries.Row(madeRow(made[0])...)
			made = made[1:]
		}
	}
	for _, e := range x.Entries {
		addMade(e.Index)
		line := ""
		if e.Line > 0 {
			line = strconv.Itoa(e.Line)
		}
		entries.Row(
			strconv.Itoa(e.Index), line, string(e.Speaker), table.Int(e.Tokens), table.Int(e.Now), e.What,
			became(e.State),
		)
	}
	addMade(math.MaxInt)
	if err := a.printTable(entries); err != nil {
		return err
	}
	if err := a.printRules(rules); err != nil {
		return err
	}
	if err := a.printShares("TOOL", false, x.Tools, x.Tokens); err != nil {
		return err
	}
	return a.printShares("FILE", true, x.Files, x.Tokens)
}

// maxShares is the most tools and files that are printed; the JSON form has all of them.
const maxShares = 5

// printShares prints the largest of a list, with their shares of total. paths shortens names in the middle, since both
// ends of a path carry information.
func (a *app) printShares(title string, paths bool, list []explain.Share, total int) error {
	if len(list) == 0 {
		return nil
	}
	shares := table.New(
		table.Column{Name: "name", Head: title, Min: 16, Middle: paths}, table.Column{Name: "calls", Right: true},
		table.Column{Name: "tokens", Right: true}, table.Column{Name: "share", Right: true},
	)
	for _, s := range list[:min(len(list), maxShares)] {
		shares.Row(s.Name, table.Int(s.Calls), table.Int(s.Tokens), table.Percent(s.Tokens, total))
	}
	if more := len(list) - maxShares; more > 0 {
		shares.Row(fmt.Sprintf("(%d more)", more))
	}
	fmt.Fprintln(a.out)
	return a.printSmallTable(shares)
}

// madeRow returns the row of an entry that the strategy made. It is numbered +1, +2, …, which cannot be confused with
// positions in the file.
func madeRow(m explain.Made) []string {
	how := fmt.Sprintf("made at turn %d (%s)", m.Turn, m.Step)
	if m.Status != explain.Kept {
		how += "; " + became(m.State)
	}
	return []string{
		fmt.Sprintf("+%d", m.Index+1), "", string(m.Speaker), table.Int(m.Tokens), table.Int(m.Now), m.What, how,
	}
}

// printRules prints what each rule did and saved, in tokens. A rule that made entries may have saved a negative number.
func (a *app) printRules(rules []explain.Rule) error {
	if len(rules) == 0 {
		return nil
	}
	sums := table.New(
		table.Column{Name: "step"}, table.Column{Name: "rule", Min: 16},
		table.Column{Name: "removed", Right: true}, table.Column{Name: "trimmed", Right: true},
		table.Column{Name: "made", Right: true}, table.Column{Name: "saved", Head: "TOKENS SAVED", Right: true},
	)
	for _, r := range rules {
		sums.Row(
			r.Step, cmp.Or(r.Rule, "-"), table.Int(r.Removed), table.Int(r.Trimmed), table.Int(r.Made),
			table.Int(r.Saved),
		)
	}
	fmt.Fprintln(a.out)
	return a.printSmallTable(sums)
}

// maxEvents is the most events and problems of one entry that the table shows, the latest ones. The JSON form has all
// of them.
const maxEvents = 3

// became describes what happened to an entry, the latest event first, because a narrow table cuts off the end.
func became(s explain.State) string {
	var parts []string
	if s.KeptBy != "" {
		parts = append(parts, "kept by "+s.KeptBy)
	}
	for i, e := range slices.Backward(s.Events) {
		if len(s.Events)-1-i == maxEvents {
			// i is the number of the earlier ones.
			parts = append(parts, fmt.Sprintf("%d earlier changes", i+1))
			break
		}
		if e.Step == explain.StepRecorder {
			parts = append(parts, fmt.Sprintf("compacted by the agent itself at turn %d", e.Turn))
			continue
		}
		parts = append(parts, fmt.Sprintf("%s at turn %d (%s)", e.Kind, e.Turn, why(e)))
	}
	for _, p := range s.Problems[:min(len(s.Problems), maxEvents)] {
		parts = append(parts, problem(p))
	}
	// Only entries that stand have no event.
	if len(parts) == 0 {
		return string(s.Status)
	}
	return strings.Join(parts, "; ")
}

// why names the rule behind an event, with the step unless it was ordinary pruning, and the entry that superseded this
// one. Events without a rule are named by their step alone.
func why(e explain.Event) string {
	var parts []string
	switch {
	case e.Rule == "":
		parts = append(parts, e.Step)
	case e.Step == "optimize":
		parts = append(parts, e.Rule)
	default:
		parts = append(parts, e.Step+": "+e.Rule)
	}
	switch {
	// By is an entry of the file, ByMade one that the strategy made; at most one is set.
	case e.By != nil:
		parts = append(parts, fmt.Sprintf("by %d", *e.By))
	case e.ByMade != nil:
		parts = append(parts, fmt.Sprintf("by +%d", *e.ByMade+1))
	}
	return strings.Join(parts, ", ")
}

func problem(p explain.Problem) string {
	how := "withheld"
	if p.Kind == outcome.UnansweredCall {
		how = "answered by the host"
	}
	return fmt.Sprintf("%s from turn %d (%s)", how, p.Turn, p.Kind)
}
