package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/thresh-dev/thresh/host/cmd/thresh/internal/table"
	"github.com/thresh-dev/thresh/host/internal/lab/replay"
)

// replayColumns are the columns of the table of sessions, tokens unless named otherwise. The model's columns are last:
// strategies without a model leave them empty, and a column without content is not shown.
var replayColumns = []table.Column{
	{Name: "session", Min: 16, Middle: true},
	{Name: "strategy", Rank: 4},
	{Name: "entries", Right: true, Rank: 5},
	{Name: "turns", Right: true, Rank: 1},
	{Name: "sent", Right: true},
	{Name: "unpruned", Right: true},
	{Name: "saved", Right: true},
	{Name: "peak", Right: true, Rank: 1},
	{Name: "unpruned-peak", Head: "UNPRUNED\nPEAK", Right: true, Rank: 3},
	{Name: "optimized", Right: true, Rank: 3},
	{Name: "compressed", Right: true, Rank: 2},
	{Name: "ladder", Right: true, Rank: 6},
	{Name: "over-limit", Head: "OVER\nLIMIT", Right: true, Rank: 1},
	{Name: "host", Right: true, Rank: 7},
	{Name: "plugin", Right: true, Rank: 6},
	{Name: "model-calls", Head: "MODEL\nCALLS", Right: true, Rank: 4},
	{Name: "model-tokens", Head: "MODEL\nTOKENS", Right: true, Rank: 4},
	{Name: "model-cost", Head: "MODEL\nUSD", Right: true, Rank: 2},
	{Name: "model-time", Head: "MODEL\nTIME", Right: true, Rank: 5},
}

// printReplays prints a row for each session and, for several, one with the sums ("all"). With turns, it prints the
// turns of each session first. Files that could not be read have no row; their errors are on standard error.
func (a *app) printReplays(results []replayed, turns bool) error {
	// On a copy: the JSON form of the same results must keep the failed ones.
	results = slices.DeleteFunc(slices.Clone(results), func(r replayed) bool { return !hasRow(r) })
	if len(results) == 0 {
		return nil
	}
	sessions := table.New(replayColumns...)
	var sum replay.Totals
	entries := 0
	for _, r := range results {
		if turns {
			if err := a.printTurns(r); err != nil {
				return err
			}
		}
		sum.Add(r.Totals)
		entries += r.Entries
		sessions.Row(replayRow(rowName(r), r.Strategy, r.Entries, r.Totals)...)
	}
	if len(results) > 1 {
		sessions.Row(replayRow("all", results[0].Strategy, entries, sum)...)
	}
	return a.printTable(sessions)
}

func replayRow(name, strategy string, entries int, t replay.Totals) []string {
	row := []string{
		name, strategy, table.Int(entries), table.Int(t.Turns), table.Short(t.Sent), table.Short(t.Unpruned),
		table.Percent(t.Unpruned-t.Sent, t.Unpruned), table.Short(t.Peak), table.Short(t.PeakUnpruned),
		table.Int(t.Optimized), table.Int(t.Compressed), table.Int(t.Laddered), table.Int(t.Overflows),
		table.Duration(t.HostTime), table.Duration(t.PluginTime),
	}
	if llm := t.LLM; llm != nil {
		row = append(row, table.Int(llm.Calls), table.Short(llm.InputTokens+llm.OutputTokens), dollars(llm.CostUSD),
			table.Duration(llm.Time))
	}
	return row
}

// hasRow is true for a session that failed in the middle, for its part.
func hasRow(r replayed) bool { return r.Error == "" || len(r.Turns) > 0 }

func rowName(r replayed) string {
	if r.Error != "" {
		return displayName(r.File) + " (incomplete)"
	}
	return displayName(r.File)
}

// printTurns prints one row per turn, that is per request of the recorded agent. "unpruned" is the request that the
// agent would have sent without a strategy, "before" the history before this turn's steps, "optimized" after pruning,
// and "sent" after everything else.
func (a *app) printTurns(r replayed) error {
	fmt.Fprintf(a.out, "%s (%s, %s)\n", rowName(r), r.Format, r.Strategy)
	turns := table.New(
		table.Column{Name: "turn", Right: true}, table.Column{Name: "entry", Right: true, Rank: 1},
		table.Column{Name: "unpruned", Right: true}, table.Column{Name: "before", Right: true, Rank: 1},
		table.Column{Name: "optimized", Right: true, Rank: 1}, table.Column{Name: "sent", Right: true},
		table.Column{Name: "removed", Right: true, Rank: 2}, table.Column{Name: "replaced", Right: true, Rank: 2},
		table.Column{Name: "host", Right: true, Rank: 4}, table.Column{Name: "plugin", Right: true, Rank: 3},
		table.Column{Name: "note", Min: 24},
	)
	for _, t := range r.Turns {
		turns.Row(strconv.Itoa(t.Turn), strconv.Itoa(t.Entry), table.Int(t.Unpruned), table.Int(t.Before),
			table.Int(t.AfterOptimize), table.Int(t.AfterCompress), strconv.Itoa(t.Optimize.Removed),
			strconv.Itoa(t.Optimize.Replaced), table.Duration(t.HostTime), table.Duration(t.PluginTime), turnNote(t))
	}
	if err := a.printSmallTable(turns); err != nil {
		return err
	}
	fmt.Fprintln(a.out)
	return nil
}

// turnNote describes what was special about a turn, the most important first, because a narrow table cuts off the end;
// "" for most turns.
func turnNote(t replay.Turn) string {
	var notes []string
	add := func(format string, args ...any) { notes = append(notes, fmt.Sprintf(format, args...)) }
	if t.Overflow != "" {
		add("over the limit")
	}
	if t.Boundary {
		add("after a compaction by the recorder")
	}
	if n := len(t.Ladder); n > 0 {
		add("over the hard limit, ladder down to %s", t.Ladder[n-1].Rung)
	}
	switch {
	case t.Compress.NoOp != "":
		add("compress: %s", t.Compress.NoOp)
	case t.Compress.Kind != "":
		add("compressed %d entries to %d", t.Compress.EntriesBefore, t.Compress.EntriesAfter)
	}
	// It removed less than 5 % of the tokens and was applied all the same: the request did not fit without it, or a
	// model had been paid for it.
	if t.Compress.Ineffective {
		add("with little effect")
	}
	if t.Compress.Cooldown != nil {
		add("not compressed: cooldown after a failure")
	}
	if t.Optimize.Held {
		add("pruning held back: %s", t.Optimize.Decision.Reason)
	}
	if llm := t.Compress.LLM; llm != nil {
		add("%d model calls, %s tokens, %s USD, %s", llm.Calls, table.Short(llm.InputTokens+llm.OutputTokens),
			dollars(llm.CostUSD), table.Duration(llm.Time))
	}
	return strings.Join(notes, ", ")
}

// dollars formats a cost in USD, "-" for none, as with a profile without prices or a local model. Four decimals: a
// summary by a small model costs fractions of a cent.
func dollars(usd float64) string {
	if usd == 0 {
		return "-"
	}
	return fmt.Sprintf("%.4f", usd)
}
