package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/thresh-dev/thresh/host/internal/engine"
	"github.com/thresh-dev/thresh/host/internal/lab/replay"
	"github.com/thresh-dev/thresh/host/internal/lab/transcript"
)

// replayed is one file's report.
type replayed struct {
	File   string            `json:"file"`
	Format transcript.Format `json:"format,omitempty"`
	replay.Report
	Error string `json:"error,omitempty"`
}

func replayCommand(a *app) *cobra.Command {
	var turnTable bool
	cmd := &cobra.Command{
		Use:   "replay FILE…",
		Short: "Run recorded sessions through a strategy, turn by turn, and show what it saves",
		Long: `Runs recorded sessions through the real window and the real plugin: each time the recorded agent called its model, the history
is optimised and, over the threshold, compressed, as it would have been for that agent. Where the recorder had compacted its
own history, the replay begins anew with what the recorder went on with.

FILE is a session in any format that 'thresh convert' reads; '-' is standard input. A file that cannot be replayed is
reported, and the others are replayed all the same.`,
		Example: `  thresh replay examples/sessions/*.json*
  thresh replay --turns --strategy top-down-truncation --set model.contextLimit=30000 session.jsonl
  thresh replay -o json session.jsonl | jq '.sessions[].totals'`,
		Args: func(cmd *cobra.Command, given []string) error {
			if len(given) == 0 {
				return usage(cmd, errors.New("needs at least one FILE ('-' is standard input)"))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, files []string) error {
			h, err := a.open(cmd)
			if err != nil {
				return err
			}
			defer h.Close()
			results, failed := a.replayAll(cmd.Context(), h, files)
			if a.output == "json" {
				err = a.printJSON(struct {
					Sessions []replayed `json:"sessions"`
				}{results})
			} else {
				err = a.printReplays(results, turnTable)
			}
			return errors.Join(err, failed)
		},
	}
	cmd.Flags().BoolVar(&turnTable, "turns", false, "show a table of turns for each session")
	a.addOutput(cmd)
	return cmd
}

// replayAll replays file after file. What failed is reported in its place and makes the whole fail at the end.
func (a *app) replayAll(ctx context.Context, h *engine.Host, files []string) ([]replayed, error) {
	results := make([]replayed, 0, len(files))
	bar := newProgress(a.err)
	failures := 0
	for _, file := range files {
		r := replayed{File: file}
		t, err := a.read(ctx, file)
		if err == nil {
			a.warnings(file, t.Notes)
			r.Format = t.Format
			r.Report, err = replay.Run(ctx, h, t, replay.Options{Progress: func(done, of int) { bar.show(displayName(file), done, of) }})
			if err != nil {
				err = fmt.Errorf("%s: %w", file, err)
			}
		}
		bar.clear()
		if err != nil {
			failures++
			r.Error = err.Error()
			if ctx.Err() == nil {
				fmt.Fprintln(a.err, "thresh: "+r.Error)
			}
		}
		results = append(results, r)
		if ctx.Err() != nil && err != nil {
			fmt.Fprintf(a.err, "thresh: interrupted after %d of %d sessions\n", len(results)-1, len(files))
			return results, errReported
		}
	}
	if failures > 0 {
		return results, errReported
	}
	return results, nil
}

func (a *app) printReplays(results []replayed, turnTable bool) error {
	if turnTable {
		for _, r := range results {
			if !hasRow(r) {
				continue
			}
			if err := a.printTurns(r); err != nil {
				return err
			}
		}
	}
	if !slices.ContainsFunc(results, hasRow) {
		return nil
	}
	w := tabwriter.NewWriter(a.out, 0, 0, 2, ' ', tabwriter.AlignRight)
	var sum replay.Totals
	entries := 0
	for _, r := range results {
		if hasRow(r) {
			sum.Add(r.Totals)
			entries += r.Entries
		}
	}
	header := "SESSION\tSTRATEGY\tENTRIES\tTURNS\tSENT\tUNPRUNED\tSAVED\tPEAK\tUNPRUNED PEAK\tOPTIMIZED\tCOMPRESSED\tLADDER\tOVER LIMIT\tHOST\tPLUGIN\t"
	if sum.LLM != nil {
		header += "MODEL CALLS\tMODEL TOKENS\tCOST USD\tMODEL\t"
	}
	fmt.Fprintln(w, header)
	row := func(name, strategy string, entries int, t replay.Totals) {
		fmt.Fprintf(w, "%s\t%s\t%d\t%d\t%d\t%d\t%s\t%d\t%d\t%d\t%d\t%d\t%d\t%s\t%s\t", name, strategy, entries, t.Turns, t.Sent, t.Unpruned,
			percent(t.Unpruned-t.Sent, t.Unpruned), t.Peak, t.PeakUnpruned, t.Optimized, t.Compressed, t.Laddered, t.Overflows, short(t.HostTime), short(t.PluginTime))
		switch llm := t.LLM; {
		case llm != nil:
			fmt.Fprintf(w, "%d\t%d\t%s\t%s\t", llm.Calls, llm.InputTokens+llm.OutputTokens, dollars(llm.CostUSD), short(llm.Time))
		case sum.LLM != nil:
			fmt.Fprint(w, "0\t0\t-\t-\t")
		}
		fmt.Fprintln(w)
	}
	for _, r := range results {
		if hasRow(r) {
			row(rowName(r), r.Strategy, r.Entries, r.Totals)
		}
	}
	if len(results) > 1 {
		row("all", results[0].Strategy, entries, sum)
	}
	return w.Flush()
}

// hasRow reports whether there is anything to show of a session.
func hasRow(r replayed) bool { return r.Error == "" || len(r.Turns) > 0 }

// rowName says where a session was not replayed to its end.
func rowName(r replayed) string {
	if r.Error != "" {
		return displayName(r.File) + " (incomplete)"
	}
	return displayName(r.File)
}

func (a *app) printTurns(r replayed) error {
	fmt.Fprintf(a.out, "%s (%s, %s)\n", rowName(r), r.Format, r.Strategy)
	w := tabwriter.NewWriter(a.out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "TURN\tENTRY\tUNPRUNED\tBEFORE\tOPTIMIZED\tCOMPRESSED\tREMOVED\tREPLACED\tHOST\tPLUGIN\t  NOTE\t")
	for _, t := range r.Turns {
		fmt.Fprintf(w, "%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%s\t%s\t  %s\t\n", t.Turn, t.Entry, t.Unpruned, t.Before, t.AfterOptimize, t.AfterCompress,
			t.Optimize.Removed, t.Optimize.Replaced, short(t.HostTime), short(t.PluginTime), turnNote(t))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	fmt.Fprintln(a.out)
	return nil
}

func turnNote(t replay.Turn) string {
	note := ""
	add := func(s string) {
		if note != "" {
			note += ", "
		}
		note += s
	}
	if t.Boundary {
		add("the recorder had compacted")
	}
	if t.Optimize.Held {
		add(fmt.Sprintf("pruning held back: %s", t.Optimize.Decision.Reason))
	}
	switch {
	case t.Compress.NoOp != "":
		add("compress: " + string(t.Compress.NoOp))
	case t.Compress.Kind != "":
		add(fmt.Sprintf("compressed %d entries to %d", t.Compress.EntriesBefore, t.Compress.EntriesAfter))
	}
	if llm := t.Compress.LLM; llm != nil {
		add(fmt.Sprintf("%d model calls, %d tokens, %s USD, %s", llm.Calls, llm.InputTokens+llm.OutputTokens, dollars(llm.CostUSD), short(llm.Time)))
	}
	if c := t.Compress.Cooldown; c != nil {
		add("not compressed: it failed before")
	}
	if t.Compress.Ineffective {
		add("with little effect")
	}
	if n := len(t.Ladder); n > 0 {
		add("over the limit, down the ladder to " + string(t.Ladder[n-1].Rung))
	}
	if t.Overflow != "" {
		add("over the limit")
	}
	return note
}

// dollars is a cost; a profile without prices has none.
func dollars(usd float64) string {
	if usd == 0 {
		return "-"
	}
	return fmt.Sprintf("%.4f", usd)
}

// short is a duration with three digits.
func short(d time.Duration) string {
	switch {
	case d >= time.Second:
		return d.Round(10 * time.Millisecond).String()
	case d >= time.Millisecond:
		return d.Round(10 * time.Microsecond).String()
	default:
		return d.Round(time.Microsecond).String()
	}
}
