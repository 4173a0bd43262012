package main

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/thresh-dev/thresh/host/internal/lab/replay"
	"github.com/thresh-dev/thresh/host/internal/table"
	"github.com/thresh-dev/thresh/host/outcome"
)

// printTurns prints one row per turn, that is per request of the recorded agent. "unpruned" is the request that the
// agent would have sent without a strategy, "before" the history before this turn's steps, "optimized" after pruning,
// and "sent" after everything else.
func (a *app) printTurns(variant string, steps []replay.Turn) error {
	if len(steps) == 0 {
		return nil
	}
	fmt.Fprintln(a.out, variant)
	turns := table.New(
		table.Column{Name: "turn", Right: true}, table.Column{Name: "entry", Right: true, Rank: 1},
		table.Column{Name: "unpruned", Right: true}, table.Column{Name: "before", Right: true, Rank: 1},
		table.Column{Name: "optimized", Right: true, Rank: 1}, table.Column{Name: "sent", Right: true},
		table.Column{Name: "removed", Right: true, Rank: 2}, table.Column{Name: "replaced", Right: true, Rank: 2},
		table.Column{Name: "host", Right: true, Rank: 4}, table.Column{Name: "plugin", Right: true, Rank: 3},
		table.Column{Name: "note", Min: 24},
	)
	for _, t := range steps {
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
	if t.Optimize.Kind == outcome.KindHeld {
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
