package main

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/thresh-dev/thresh/host/internal/lab/explain"
	"github.com/thresh-dev/thresh/host/internal/lab/transcript"
	"github.com/thresh-dev/thresh/host/outcome"
)

// explained is one session's explanation.
type explained struct {
	File   string            `json:"file"`
	Format transcript.Format `json:"format"`
	explain.Explanation
}

// fateMade is what --only calls the entries that a strategy made.
const fateMade = "made"

func explainCommand(a *app) *cobra.Command {
	var only []string
	var turn int
	cmd := &cobra.Command{
		Use:   "explain FILE",
		Short: "Say for each entry of a session what became of it, and why",
		Long: `Replays a recorded session as 'thresh replay' does, and says for each entry what became of it: that it stands, or before which
turn it was trimmed or removed, by which step (optimize, compress, a rung of the ladder) and rule, which entry superseded it, and
its tokens then and now. Entries that the strategy made stand where it put them, marked with +. What was not sent as it is, because
a provider would refuse it, is named with the reason. The table at the end adds up what each rule saved.

Entries are counted from 0, as in all of thresh. With --turn N the table says what the request of turn N held.

FILE is a session in any format that 'thresh convert' reads; '-' is standard input.`,
		Example: `  thresh explain session.jsonl
  thresh explain --only removed,trimmed --set model.contextLimit=30000 session.jsonl
  thresh explain -o json session.jsonl | jq '.rules'`,
		Args: oneFile,
		RunE: func(cmd *cobra.Command, args []string) error {
			for _, fate := range only {
				if !slices.Contains(fates(), fate) {
					return usage(cmd, fmt.Errorf("--only takes %s, not %q", strings.Join(fates(), ", "), fate))
				}
			}
			if turn < 0 || turn == 0 && cmd.Flags().Changed("turn") {
				return usage(cmd, fmt.Errorf("--turn counts from 1, got %d", turn))
			}
			x, err := a.explain(cmd, args[0], turn)
			if err != nil {
				return err
			}
			x.show(only)
			if a.output == "json" {
				return a.printJSON(x)
			}
			return a.printExplanation(x)
		},
	}
	cmd.Flags().StringSliceVar(&only, "only", nil, "show entries of these `FATES`: "+strings.Join(fates(), ", "))
	cmd.Flags().IntVar(&turn, "turn", 0, "stop at request `N`, counted from 1")
	_ = cmd.RegisterFlagCompletionFunc("only", cobra.FixedCompletions(fates(), cobra.ShellCompDirectiveNoFileComp))
	a.addOutput(cmd)
	return cmd
}

func fates() []string {
	return []string{string(explain.Kept), string(explain.Trimmed), string(explain.Removed), fateMade}
}

func (a *app) explain(cmd *cobra.Command, file string, turn int) (explained, error) {
	h, err := a.open(cmd)
	if err != nil {
		return explained{}, err
	}
	defer h.Close()
	taxonomy, err := toolTaxonomy(h.Config().Settings().Compression.Density)
	if err != nil {
		return explained{}, err
	}
	t, err := a.read(cmd.Context(), file)
	if err != nil {
		return explained{}, err
	}
	a.warnings(file, t.Notes)
	bar := newProgress(a.err)
	x, err := explain.Run(cmd.Context(), h, t, explain.Options{
		Turn: turn, Taxonomy: taxonomy, Progress: func(done, of int) { bar.show(displayName(file), done, of) },
	})
	bar.clear()
	if err != nil {
		return explained{}, fmt.Errorf("%s: %w", displayPath(file), err)
	}
	return explained{File: file, Format: t.Format, Explanation: x}, nil
}

// show leaves only the entries of some fates; none of them named means all.
func (x *explained) show(only []string) {
	if len(only) == 0 {
		return
	}
	hidden := func(fate explain.Status) bool { return !slices.Contains(only, string(fate)) }
	x.Entries = slices.DeleteFunc(x.Entries, func(e explain.Entry) bool { return hidden(e.Status) })
	if hidden(fateMade) {
		x.Made = nil
	}
}

func (a *app) printExplanation(x explained) error {
	fmt.Fprintf(a.out, "%s (%s, %s): %d turns, %d of %d tokens are left\n\n", displayName(x.File), x.Format, x.Strategy, x.Turns, x.Now, x.Tokens)
	w := tabwriter.NewWriter(a.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "ENTRY\tLINE\tSPEAKER\tTOKENS\tNOW\tWHAT IT IS\tWHAT BECAME OF IT")
	made := slices.Clone(x.Made)
	slices.SortStableFunc(made, func(a, b explain.Made) int { return cmp.Compare(a.After, b.After) })
	next := 0 // of made
	printMade := func(before int) {
		for ; next < len(made) && made[next].After < before; next++ {
			m := made[next]
			how := fmt.Sprintf("made at turn %d (%s)", m.Turn, m.Step)
			if m.Status != explain.Kept {
				how += "; " + became(m.State)
			}
			fmt.Fprintf(w, "+%d\t\t%s\t%d\t%d\t%s\t%s\n", m.Index+1, m.Speaker, m.Tokens, m.Now, shown(m.What), how)
		}
	}
	for _, e := range x.Entries {
		printMade(e.Index)
		line := ""
		if e.Line > 0 {
			line = strconv.Itoa(e.Line)
		}
		fmt.Fprintf(w, "%d\t%s\t%s\t%d\t%d\t%s\t%s\n", e.Index, line, e.Speaker, e.Tokens, e.Now, shown(e.What), became(e.State))
	}
	printMade(math.MaxInt)
	printRules(w, x.Rules)
	return w.Flush()
}

func printRules(w io.Writer, rules []explain.Rule) {
	if len(rules) == 0 {
		return
	}
	fmt.Fprintln(w, "\nSTEP\tRULE\tREMOVED\tTRIMMED\tMADE\tTOKENS SAVED")
	for _, r := range rules {
		fmt.Fprintf(w, "%s\t%s\t%d\t%d\t%d\t%d\n", r.Step, cmp.Or(r.Rule, "-"), r.Removed, r.Trimmed, r.Made, r.Saved)
	}
}

// mostShown is how many characters of a description a table shows; JSON has all.
const mostShown = 64

func shown(what string) string {
	if utf8.RuneCountInString(what) <= mostShown {
		return what
	}
	return string([]rune(what)[:mostShown-1]) + "…"
}

// mostEvents is how many events of one entry the table shows, the last ones; JSON has all.
const mostEvents = 3

// became says in words what became of an entry.
func became(s explain.State) string {
	var parts []string
	events := s.Events
	if more := len(events) - mostEvents; more > 0 {
		parts, events = append(parts, fmt.Sprintf("%d earlier changes", more)), events[more:]
	}
	for _, e := range events {
		why := e.Step
		if e.Rule != "" {
			why += ": " + e.Rule
		}
		switch {
		case e.By != nil:
			why += fmt.Sprintf(", by %d", *e.By)
		case e.ByMade != nil:
			why += fmt.Sprintf(", by +%d", *e.ByMade+1)
		}
		parts = append(parts, fmt.Sprintf("%s at turn %d (%s)", e.Kind, e.Turn, why))
	}
	if len(parts) == 0 {
		parts = append(parts, string(s.Status))
	}
	for _, p := range s.Problems[:min(len(s.Problems), mostEvents)] {
		parts = append(parts, problem(p))
	}
	return strings.Join(parts, "; ")
}

// problem says in words why an entry was not sent as it is.
func problem(p explain.Problem) string {
	how := "withheld"
	if p.Kind == outcome.UnansweredCall {
		how = "sent with an answer that says so"
	}
	return fmt.Sprintf("%s from turn %d on (%s)", how, p.Turn, p.Kind)
}
